//! Fixtures for tests of use cases: ids, callers, proofs, and a unit of work that records what it is given.
//!
//! A domain's fake store holds a [`RecordingUnitOfWork`] and implements its ports over plain collections:
//!
//! ```
//! use kernel::{delegate_unit_of_work, testing::RecordingUnitOfWork};
//!
//! #[derive(Default)]
//! struct FakeTx {
//!     work: RecordingUnitOfWork,
//! }
//! delegate_unit_of_work!(FakeTx, work);
//! ```

mod snapshot;

use std::sync::Arc;

use async_trait::async_trait;
use uuid::Uuid;

use crate::{
    AuditEntry, Caller, Context, Id, SeededRandomness, StoreError, Timestamp, UnitOfWork,
    authority::{Member, MembershipFact, Role, authorize_member},
    caller::{Scopes, SessionCaller, TokenCaller},
    events::Event,
    id::{UserId, WorkspaceId},
    mail::OutboxEmail,
};

pub use snapshot::compare_snapshot;

/// A unit of work that records what it is given, for assertions.
#[derive(Debug, Default)]
pub struct RecordingUnitOfWork {
    /// Audit entries, oldest first.
    pub audit: Vec<AuditEntry>,
    /// E-mails, oldest first.
    pub emails: Vec<OutboxEmail>,
    /// Events, oldest first.
    pub events: Vec<Event>,
}

impl RecordingUnitOfWork {
    /// Returns the actions of the audit entries, oldest first.
    #[must_use]
    pub fn audited_actions(&self) -> Vec<&str> {
        self.audit.iter().map(|entry| &*entry.action).collect()
    }
}

#[async_trait]
impl UnitOfWork for RecordingUnitOfWork {
    /// # Panics
    /// If no event can report the entry: the store would refuse to commit it.
    #[expect(clippy::expect_used, reason = "a test of a use case that the store refuses must fail")]
    fn audit(&mut self, entry: AuditEntry) {
        entry.events().expect("an event can report the entry");
        self.audit.push(entry);
    }

    fn enqueue_email(&mut self, email: OutboxEmail) {
        self.emails.push(email);
    }

    fn publish(&mut self, event: Event) {
        self.events.push(event);
    }

    async fn commit(self: Box<Self>) -> Result<(), StoreError> {
        Ok(())
    }
}

/// Implements [`UnitOfWork`] for a fake store by its field of type [`RecordingUnitOfWork`]. The calling crate needs the
/// dependency `async-trait`.
#[macro_export]
macro_rules! delegate_unit_of_work {
    ($fake:ty, $field:ident) => {
        #[async_trait::async_trait]
        impl $crate::UnitOfWork for $fake {
            fn audit(&mut self, entry: $crate::AuditEntry) {
                self.$field.audit(entry);
            }

            fn enqueue_email(&mut self, email: $crate::mail::OutboxEmail) {
                self.$field.enqueue_email(email);
            }

            fn publish(&mut self, event: $crate::events::Event) {
                self.$field.publish(event);
            }

            async fn commit(self: Box<Self>) -> Result<(), $crate::StoreError> {
                Ok(())
            }
        }
    };
}

/// Returns the id with this number.
#[must_use]
pub fn id<K>(number: u128) -> Id<K> {
    Id::from_uuid(Uuid::from_u128(number))
}

/// Returns the time this many milliseconds after the start of 2026 (UTC).
#[must_use]
pub fn at(millis: i64) -> Timestamp {
    Timestamp::from_timestamp_millis(1_767_225_600_000 + millis).unwrap_or_default()
}

/// Returns the caller who is a person signed in to the console.
#[must_use]
pub fn session_of(user: UserId) -> Caller {
    Caller::Session(SessionCaller {
        session: id(1),
        user,
        workspace: None,
        is_dev_login: false,
        view_as: None,
    })
}

/// Returns the caller who is a personal access token of a person.
#[must_use]
pub fn token_of(user: UserId, workspace: WorkspaceId, scopes: Scopes) -> Caller {
    Caller::Token(TokenCaller { token: id(1), user, workspace, scopes, grant: None })
}

/// Returns the context of a request of `caller` at `now`, with the same randomness in every test.
#[must_use]
pub fn context(caller: Caller, now: Timestamp) -> Context {
    Context::new(caller, now, id(1), None, Arc::new(SeededRandomness::new(1)))
}

/// Returns the proof that the caller of `ctx` is a member with this role; narrow it with [`Member::require_admin`] and
/// similar methods.
///
/// # Panics
/// If the caller of `ctx` is not a person, or is a token of another workspace.
#[must_use]
#[expect(clippy::expect_used, reason = "a test that asks for an impossible proof must fail")]
pub fn member(ctx: &Context, workspace: WorkspaceId, role: Role) -> Member {
    let user = ctx.caller.user().expect("the caller is a person");
    let fact = MembershipFact { workspace, user, role, access_ends_at: None };
    authorize_member(&ctx.caller, workspace, Some(&fact), ctx.now).expect("the caller is a member")
}
