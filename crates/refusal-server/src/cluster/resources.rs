//! Amounts of capacity, added and taken away together.

use std::ops::{AddAssign, SubAssign};

use serde::Serialize;
use utoipa::ToSchema;

/// Amounts of what a node has and instances take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, ToSchema)]
pub(crate) struct Resources {
    /// Processors.
    pub(crate) cpus: u64,
    /// Memory, in MiB.
    pub(crate) memory: u64,
    /// Disk space, in GiB.
    pub(crate) disk: u64,
    /// Disks that are served at once.
    pub(crate) disks: u64,
}

impl Resources {
    /// What is left of these when `used` is taken away; nothing where more is used than there is.
    pub(crate) fn left_by(self, used: Self) -> Self {
        Self {
            cpus: self.cpus.saturating_sub(used.cpus),
            memory: self.memory.saturating_sub(used.memory),
            disk: self.disk.saturating_sub(used.disk),
            disks: self.disks.saturating_sub(used.disks),
        }
    }

    /// Whether there is enough of each for `wanted`.
    pub(crate) fn hold(self, wanted: Self) -> bool {
        wanted.cpus <= self.cpus
            && wanted.memory <= self.memory
            && wanted.disk <= self.disk
            && wanted.disks <= self.disks
    }
}

impl AddAssign for Resources {
    fn add_assign(&mut self, more: Self) {
        self.cpus += more.cpus;
        self.memory += more.memory;
        self.disk += more.disk;
        self.disks += more.disks;
    }
}

/// Only ever takes away what was added before.
impl SubAssign for Resources {
    fn sub_assign(&mut self, less: Self) {
        self.cpus -= less.cpus;
        self.memory -= less.memory;
        self.disk -= less.disk;
        self.disks -= less.disks;
    }
}
