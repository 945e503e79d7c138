//! The context of a request, which every use case takes.

use std::{fmt, net::IpAddr, sync::Arc};

use crate::{
    Actor, AuditEntry, Caller, Id, Randomness, Timestamp,
    id::{Kind, RequestId},
};

/// The caller, time, randomness and id of one request.
#[derive(Clone)]
pub struct Context {
    /// The sender of the request.
    pub caller: Caller,
    /// Time of the request; the same for everything that the request does.
    pub now: Timestamp,
    /// The id of the request, as in the header `x-request-id`.
    pub request_id: RequestId,
    /// IP address of the client; `None` when no client is involved or its address is unknown.
    pub client_ip: Option<IpAddr>,
    random: Arc<dyn Randomness>,
}

impl Context {
    /// Creates the context of one request.
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

    /// Returns the source of random bytes.
    #[must_use]
    pub fn random(&self) -> &dyn Randomness {
        &*self.random
    }

    /// Generates an id.
    #[must_use]
    pub fn new_id<K: Kind>(&self) -> Id<K> {
        Id::generate(&*self.random, self.now)
    }

    /// Creates an audit entry for `action`, a `noun.verb`, by this caller.
    #[must_use]
    pub fn audit_entry(&self, action: &'static str) -> AuditEntry {
        AuditEntry {
            id: self.new_id(),
            at: self.now,
            workspace: None,
            actor: Actor::from(&self.caller),
            action: action.into(),
            target: None,
            request: self.request_id,
            address: self.client_ip,
            detail: None,
            app: None,
            owner: None,
            former_viewers: Vec::new(),
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
