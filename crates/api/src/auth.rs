//! Callers of operations, and the extractors that check them.

pub(crate) mod access;
pub(crate) mod agent;
mod callers;
pub(crate) mod credentials;
mod ctx;
mod session_cookie;
mod sign_in_client;
pub(crate) mod view_as;

pub(crate) use callers::{AnyToken, Callers, Console, PageVisitor, Public, ReadToken, SignIn, WriteToken};
pub(crate) use ctx::{Authorized, Ctx, check_page_origin, console_only, late_authentication, late_proof};
pub(crate) use session_cookie::with_session_cookie;
pub(crate) use sign_in_client::ExtractSignInClient;
