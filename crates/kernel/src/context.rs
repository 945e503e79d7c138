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
    pub request_id: RequestId,
    /// Where the request came from.
    pub client_ip: Option<IpAddr>,
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
        Self { caller, now, request_id: request, client_ip: address, random }
    }

    /// Where random bytes come from.
    #[must_use]
    pub fn random(&self) -> &dyn Randomness {
        &*self.random
    }

    /// A fresh id.
    #[must_use]
    pub fn new_id<K: Kind>(&self) -> Id<K> {
        Id::generate(&*self.random, self.now)
    }

    /// An audit row for `action` by this caller.
    #[must_use]
    pub fn audit_entry(&self, action: &'static str) -> AuditEntry {
        AuditEntry {
            id: self.new_id(),
            at: self.now,
            workspace: None,
            actor: self.caller.to_string(),
            action: action.into(),
            target: None,
            request: self.request_id,
            address: self.client_ip,
            detail: None,
        }
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("caller", &self.caller)
            .field("now", &self.now)
            .field("request", &self.request_id)
            .finish_non_exhaustive()
    }
}
