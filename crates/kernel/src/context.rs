//! What every use case is told about the request it serves.

use std::{fmt, net::IpAddr, sync::Arc};

use crate::{
    AuditEntry, Caller, Id, Randomness, Timestamp,
    id::{Kind, RequestId},
};

/// The caller, the time, the randomness and the request id.
#[derive(Clone)]
pub struct Context {
    /// Who asks.
    pub caller: Caller,
    /// When the request came in; one request lives in one moment.
    pub now: Timestamp,
    /// The request, as `x-request-id` gives it.
    pub request: RequestId,
    /// Where the request came from.
    pub address: Option<IpAddr>,
    random: Arc<dyn Randomness>,
}

impl Context {
    /// A context for one request.
    #[must_use]
    pub fn new(
        caller: Caller,
        now: Timestamp,
        request: RequestId,
        address: Option<IpAddr>,
        random: Arc<dyn Randomness>,
    ) -> Self {
        Self { caller, now, request, address, random }
    }

    /// Where random bytes come from.
    #[must_use]
    pub fn random(&self) -> &dyn Randomness {
        &*self.random
    }

    /// A fresh id.
    #[must_use]
    pub fn id<K: Kind>(&self) -> Id<K> {
        Id::generate(&*self.random, self.now)
    }

    /// An audit row for `action` by this caller.
    #[must_use]
    pub fn audit(&self, action: &'static str) -> AuditEntry {
        AuditEntry {
            id: self.id(),
            at: self.now,
            workspace: None,
            actor: self.caller.to_string(),
            action: action.into(),
            target: None,
            request: self.request,
            address: self.address,
            detail: None,
        }
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("caller", &self.caller)
            .field("now", &self.now)
            .field("request", &self.request)
            .finish_non_exhaustive()
    }
}
