//! The client over real sockets, real files and real processes.

mod clone;
mod command_line;
mod get;
mod hostile;
mod hub;
mod instance;
mod killed;
mod program;
mod pull;
mod push;
mod repository;
mod scratch;
