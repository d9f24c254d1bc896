//! What whoever watches a command is told.

use std::time::Duration;

/// One wait between two attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Waiting {
    /// The number of the attempt that was refused, counted from 1.
    pub attempt: u32,
    /// How long the wait still is. It began with the head of the refusal: the time its body took is over.
    pub wait: Duration,
    /// How long the call has taken so far.
    pub elapsed: Duration,
    /// How long the call may take.
    pub budget: Duration,
}

/// Which way bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// To the hub.
    Upload,
    /// From the hub.
    Download,
}

/// How far a transfer has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Transfer {
    /// Which way.
    pub direction: Direction,
    /// Bytes transferred.
    pub done: u64,
    /// Bytes in all.
    pub total: u64,
}

/// Is told what happens while a command runs. The library prints nothing: who wants to show it implements this.
pub trait Observer: Send + Sync {
    /// A wait begins.
    fn waiting(&self, waiting: &Waiting) {
        let _ = waiting;
    }

    /// The wait is over: the next attempt begins, or the command has been interrupted.
    fn resumed(&self) {}

    /// Bytes have been transferred; with `done` equal to `total`, all of them.
    fn transferred(&self, transfer: &Transfer) {
        let _ = transfer;
    }
}

/// Looks away.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unobserved;

impl Observer for Unobserved {}
