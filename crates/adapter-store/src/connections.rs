//! The ports of `connections`.

mod calls;
mod connection;
mod gates;
mod stored;

pub(crate) use stored::without_gate;
