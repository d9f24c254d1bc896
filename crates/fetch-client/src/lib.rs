//! wip
mod budget; mod clock; mod errors; mod repository; mod transport;
pub use budget::*; pub use errors::*; pub use repository::Repository;
