//! Many clients at once, while pushes go on.

use std::fs;
use std::path::Path;

use e2e::{Process, Scene, TOKEN};

use crate::scene;

const CLIENTS: usize = 64;
const FILES: usize = 8;
const GENERATIONS: usize = 5;

/// Makes every file of the folder say the same number.
fn write_generation(folder: &Path, generation: usize) {
    for file in 0..FILES {
        fs::write(folder.join(format!("{file}.txt")), format!("{generation}\n")).unwrap();
    }
}

fn push(scene: &Scene, folder: &Path, url: &str, generation: usize) {
    let client = scene.client(folder);
    write_generation(folder, generation);
    client.succeed(&["commit", "-m", &format!("generation {generation}")]).unwrap();
    client.succeed(&["push", url, "--public", "--token", TOKEN]).unwrap();
}

#[test]
fn sixty_four_clients_clone_while_pushes_go_on_and_each_clone_is_whole_and_of_one_generation() {
    let scene = scene();
    let hub = scene.hub(&["--retry-after-index=1", "--retry-after-prebuild=1"]).unwrap();
    let folder = scene.new_folder("folder").unwrap();
    let url = hub.url("owner/slug");
    scene.client(&folder).succeed(&["init"]).unwrap();
    push(&scene, &folder, &url, 1);

    let work = scene.client(scene.new_folder("work").unwrap());
    let mut clones: Vec<Process> = Vec::new();
    let at_once = CLIENTS / GENERATIONS;
    for generation in 1..=GENERATIONS {
        let wanted = if generation == GENERATIONS { CLIENTS } else { generation * at_once };
        while clones.len() < wanted {
            let target = format!("clone-{}", clones.len());
            clones.push(work.start(&["clone", &url, &target]).unwrap());
        }
        if generation < GENERATIONS {
            push(&scene, &folder, &url, generation + 1);
        }
    }

    for (number, clone) in clones.iter().enumerate() {
        let ended = clone.wait().unwrap();
        assert_eq!(ended.code(), Some(0), "clone {number}: {}", ended.stderr);
        let target = work.directory().join(format!("clone-{number}"));
        let read = |file| fs::read_to_string(target.join(format!("{file}.txt"))).unwrap();
        let generation: usize = read(0).trim().parse().unwrap();
        assert!((1..=GENERATIONS).contains(&generation));
        for file in 1..FILES {
            assert_eq!(read(file).trim().parse(), Ok(generation), "clone {number}, file {file}");
        }
    }
}
