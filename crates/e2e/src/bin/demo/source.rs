//! The reader's folder, copied so that it is only read.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};

use e2e::{Kind, Tree};

/// The reader's folder, and a copy of it that is made a repository: the folder itself is only read.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) folder: PathBuf,
    pub(crate) copy: PathBuf,
    /// What lies in the folder.
    pub(crate) tree: Tree,
    /// What is not in the copy, and why.
    pub(crate) left_out: Vec<(PathBuf, String)>,
}

impl Source {
    /// Copies `folder`, a path in full, to `copy`, which is an empty folder.
    pub(crate) fn copy(folder: &Path, copy: PathBuf) -> anyhow::Result<Self> {
        let passed_over = RefCell::new(Vec::new());
        let tree = Tree::read(folder, |path| match passed_over_because(folder, path, &copy) {
            Some(why) => {
                passed_over.borrow_mut().push((path.to_owned(), why.to_owned()));
                true
            }
            None => false,
        })?;
        let mut source = Self { folder: folder.to_owned(), copy, tree, left_out: passed_over.into_inner() };
        for (path, kind) in &source.tree.0 {
            if let Err(why) = source.copy_one(path, kind) {
                source.left_out.push((path.clone(), why));
            }
        }
        Ok(source)
    }

    /// Copies one entry, or says why not.
    fn copy_one(&self, path: &Path, kind: &Kind) -> Result<(), String> {
        let (from, to) = (self.folder.join(path), self.copy.join(path));
        let unreadable = |error: std::io::Error| format!("it cannot be read ({error})");
        if let Some(folder) = to.parent() {
            fs::create_dir_all(folder).map_err(|error| format!("it cannot be copied ({error})"))?;
        }
        match kind {
            Kind::File { .. } => fs::copy(&from, &to).map(drop).map_err(unreadable),
            Kind::Symlink => {
                let target = fs::read_link(&from).map_err(unreadable)?;
                std::os::unix::fs::symlink(target, &to)
                    .map_err(|error| format!("it cannot be copied ({error})"))
            }
            Kind::Special => Err("it is neither a file nor a directory".to_owned()),
            Kind::Unreadable(why) => Err(format!("it cannot be read ({why})")),
        }
    }
}

/// Why a folder is not even copied, if it is not.
fn passed_over_because(root: &Path, path: &Path, copy: &Path) -> Option<&'static str> {
    let name = path.file_name()?;
    let folder = root.join(path);
    if name.eq_ignore_ascii_case(".git") || name.eq_ignore_ascii_case(".muse") {
        Some("it is what version control keeps for itself")
    } else if folder.join("CACHEDIR.TAG").exists() {
        Some("it is a cache, as its CACHEDIR.TAG says")
    } else if copy.starts_with(&folder) {
        Some("this demonstration works in it")
    } else {
        None
    }
}
