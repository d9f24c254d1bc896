//! The demonstration: one command, no arguments needed. It pushes a folder to a hub, clones it at once, meets both
//! refusals, shows the waits as they happen, and checks that nothing was lost. Then a cluster lacks capacity, once for
//! a while and once for ever, and a throttle has two clients come back one after the other.
//!
//! One module a part; each prints what it does, checks it, and fails where anything differs.

mod arguments;
mod by_hand;
mod come_back_later;
mod interrupt;
mod memory;
mod no_capacity;
mod page;
mod source;
mod throttled;
mod verify;
mod waits;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use clap::Parser;
use e2e::Scene;

use arguments::Arguments;
use interrupt::Interrupt;
use page::Page;

fn main() -> ExitCode {
    if let Some(code) = e2e::become_program() {
        return code;
    }
    match demonstrate(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\ndemo: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn demonstrate(arguments: &Arguments) -> anyhow::Result<()> {
    let folder = arguments.folder()?;
    let itself = std::env::current_exe().context("could not find this program's own file")?;
    let scene = Scene::new(itself)?;
    let interrupt = Interrupt::watch(scene.ender())?;
    let done = all_parts(&scene, &folder, arguments.keep);
    interrupt.let_it_end();
    done
}

fn all_parts(scene: &Scene, folder: &Path, keep: bool) -> anyhow::Result<()> {
    let page = Arc::new(Page::new());
    let (hub, repository) = come_back_later::run(&page, scene, folder)?;
    no_capacity::run(&page, scene)?;
    throttled::run(&page, scene)?;
    memory::run(&page, scene)?;
    if keep {
        by_hand::stay(&page, &hub, &repository)?;
    }
    Ok(())
}
