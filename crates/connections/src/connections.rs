//! The use cases on connections, and what they need of a store.

mod ports;

pub use ports::{ConnectionReader, ConnectionTx};
