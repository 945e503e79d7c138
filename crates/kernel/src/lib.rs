//! The types every domain of Qala shares. No I/O happens here.
//!
//! * [`id`]: a distinct id type for each entity, prefixed on the wire (`ws_01j…`)
//! * [`clock`] and [`random`]: time and randomness as ports, so that expiry and ids can be tested
//! * [`caller`] and [`authority`]: the sender of a request, and the proofs of what they may do
//! * [`context`]: the caller, time, randomness and id of one request
//! * [`actor`], [`audit`] and [`unit_of_work`]: who made a change, the audit entry that it leaves, and the transaction that carries both
//! * [`deletion`]: the time between a deletion and the purge of the data
//! * [`events`] and [`changes`]: facts of a workspace, for feeds and streams
//! * [`mail`] and [`locale`]: e-mails, and their languages
//! * [`email_address`]: the form in which e-mail addresses are compared
//! * [`page`] and [`slug`]: opaque cursors of lists; names in URLs
//! * [`names`](mod@names): enumerations whose values have names
//! * [`objects`]: enumerations that are JSON objects on the wire
//! * [`request_headers`]: those that code cannot set
//! * [`share`]: those between whom what all use is shared out
//! * [`token`] and [`vault`]: secrets of which only digests are kept; secrets sealed at rest
//! * [`wide_integers`]: integers in JSON that a number of JavaScript cannot hold
//! * `testing`: fixtures for tests of use cases, with the feature of that name

pub mod actor;
pub mod audit;
pub mod authority;
pub mod byte_string;
pub mod caller;
pub mod changes;
pub mod clock;
pub mod context;
pub mod deletion;
pub mod email_address;
pub mod events;
pub mod id;
pub mod locale;
pub mod mail;
pub mod names;
pub mod objects;
pub mod page;
pub mod random;
pub mod redirect;
pub mod request_headers;
pub mod rfc3339;
pub mod share;
pub mod slug;
mod store_error;
#[cfg(any(test, debug_assertions))]
pub mod testing;
pub mod text;
pub mod token;
pub mod unit_of_work;
pub mod vault;
pub mod wide_integers;

pub use actor::Actor;
pub use audit::{AuditEntry, AuditTarget};
pub use caller::Caller;
pub use clock::{Clock, SystemClock, Timestamp};
pub use context::Context;
pub use id::Id;
pub use locale::{Locale, Translated};
pub use random::{Randomness, SeededRandomness, SystemRandomness};
pub use redirect::RedirectMode;
pub use share::ShareId;
pub use store_error::StoreError;
pub use unit_of_work::{Transactions, UnitOfWork};
