//! The mpack: what goes in comes out, and whatever else comes in is refused by name.

mod collect;
mod damage;
mod example;
mod forge;
mod lies;
mod limits;
mod round_trip;
mod sample;
mod writer;
