//! How little memory it takes: a file that is larger than what either program may hold.

use anyhow::{bail, ensure};
use e2e::{Scene, TOKEN, Tree, write_random_file};

use crate::page::{Page, bytes};

/// The length of the file, and what neither program may reach.
const FILE: u64 = 64 << 20;

/// Runs this part, and prints the last lines of the demonstration.
pub(crate) fn run(page: &Page, scene: &Scene) -> anyhow::Result<()> {
    page.heading("A file of 64 MiB, in less memory than that");
    let folder = scene.new_folder("large")?;
    write_random_file(&folder.join("large.bin"), FILE, 0o644, &mut scene.random())?;
    // A hub of its own: the peak is that of this file alone.
    let hub = scene.hub(&["--retry-after-index", "1", "--retry-after-prebuild", "1"])?;
    let url = hub.url("demo/large");
    let client = scene.client(&folder);
    client.commit_all()?;
    let pushed = client.succeed(&["push", &url, "--public", "--token", TOKEN])?;
    page.event("pushed");
    let target = scene.new_path("large-clone");
    let cloned = scene.client(&folder).succeed(&["clone".as_ref(), url.as_ref(), target.as_os_str()])?;
    let differences = Tree::differences(&folder, &target)?;
    ensure!(differences.is_empty(), "the clone differs: {}", differences.join("; "));
    page.event("cloned, and compared byte for byte");

    let peaks = [
        ("client, push", pushed.peak_memory),
        ("client, clone", cloned.peak_memory),
        ("hub, all of it", hub.process().peak_memory()),
    ];
    page.say("Peak memory:");
    for (who, peak) in peaks {
        let shown = peak.map_or_else(|| "this system does not tell".to_owned(), bytes);
        page.row(who, &shown);
    }
    match peaks.iter().find(|(_, peak)| peak.is_some_and(|peak| peak >= FILE)) {
        Some((who, _)) => bail!("{who} took as much memory as the file is long"),
        None => Ok(()),
    }
}
