//! The words every domain of Qala shares. No I/O happens here.
//!
//! * [`id`]: a distinct id type per entity, prefixed on the wire (`ws_01j…`)
//! * [`clock`] and [`random`]: time and randomness as ports, so that expiry and ids can be tested
//! * [`caller`] and [`authority`]: who asks, and the proofs that they may
//! * [`problem`]: what went wrong, in the form every answer shares
//! * [`audit`] and [`unit_of_work`]: the row each mutation leaves, and the transaction that carries it
//! * [`events`]: what happens, for those who follow a workspace
//! * [`mail`] and [`locale`]: letters to people, and the languages they are written in
//! * [`email_address`]: the form in which e-mail addresses are compared
//! * [`page`] and [`slug`]: opaque cursors for lists; names in addresses
//! * `testing`: fixtures for tests of use cases, with the feature of that name
//! * [`token`], [`vault`]: secrets handed out once and digests kept; secrets sealed at rest

pub mod audit;
pub mod authority;
pub mod caller;
pub mod clock;
pub mod context;
pub mod email_address;
pub mod events;
pub mod id;
pub mod locale;
pub mod mail;
pub mod objects;
pub mod page;
pub mod problem;
pub mod random;
pub mod rfc3339;
pub mod slug;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod token;
pub mod unit_of_work;
pub mod vault;

pub use audit::{AuditEntry, AuditTarget};
pub use caller::Caller;
pub use clock::{Clock, SystemClock, Timestamp};
pub use context::Context;
pub use id::Id;
pub use locale::Locale;
pub use problem::{Problem, ProblemKind};
pub use random::{Randomness, SeededRandomness, SystemRandomness};
pub use unit_of_work::{StoreError, Transactions, UnitOfWork};
