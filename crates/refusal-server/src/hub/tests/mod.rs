//! The hub on real sockets, with its jobs held and released by the tests.

mod access;
mod connections;
mod downloads;
mod failures;
mod properties;
mod pushes;
mod refusals;
mod round_trip;
mod shutdown;
mod uploads;

/// The names of the two kinds of jobs in the admin API.
const INDEX: &str = "mpack.index";
const PREBUILD: &str = "fetch.mpack.prebuild";
