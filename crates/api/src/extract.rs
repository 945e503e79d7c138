//! What handlers take from a request.

mod arrival;
mod ctx;
mod form;
mod json;
mod params;
mod path;
mod payload;
mod spool;

pub(crate) use arrival::Arriving;
pub(crate) use ctx::{Ctx, check_own_page};
pub(crate) use form::Form;
pub(crate) use params::Params;
pub(crate) use path::Path;
pub(crate) use payload::{Payload, collect};
pub(crate) use spool::Spool;
