//! What handlers take from a request.

mod ctx;
mod params;
mod path;
mod payload;

pub(crate) use ctx::{Ctx, check_origin};
pub(crate) use params::Params;
pub(crate) use path::Path;
pub(crate) use payload::{Payload, collect};
