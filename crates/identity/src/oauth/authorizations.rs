//! Authorizations: a client's request, a person's decision and the client's code.

mod claim;
mod create;
mod decide;

use chrono::TimeDelta;
use kernel::{
    Timestamp,
    id::{AuthorizationId, GrantId, UserId, WorkspaceId},
};

use super::{access::AgentAccess, clients::ClientSnapshot, pkce::CodeChallenge, redirect::RedirectUri};

pub use claim::claim_authorization;
pub use create::{AuthorizationRequest, create_authorization};
pub use decide::{AuthorizationResponse, ConsentDecision, ConsentOutcome, decide_authorization};

/// Time within which a person must decide.
pub const LIFETIME: TimeDelta = TimeDelta::minutes(10);
/// Lifetime of a code; at most ten minutes (draft-ietf-oauth-v2-1, section 4.1.2).
pub const CODE_LIFETIME: TimeDelta = TimeDelta::seconds(60);

/// A client's request for access, with all that the decision depends on as it was at the time of the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authorization {
    /// Id of the authorization.
    pub id: AuthorizationId,
    /// Client that made the request.
    pub client: ClientSnapshot,
    /// Host of the client's home page; not verified.
    pub homepage_host: Option<String>,
    /// URI to which the browser is redirected with the response.
    pub redirect_uri: RedirectUri,
    /// Parameter `state`, which the response repeats.
    pub state: Option<String>,
    /// PKCE challenge that the exchange of the code must meet.
    pub challenge: CodeChallenge,
    /// Resource that the tokens will be valid for.
    pub audience: String,
    /// Requested access.
    pub requested: AgentAccess,
    /// Time of the request.
    pub created_at: Timestamp,
    /// Time after which it can no longer be decided.
    pub expires_at: Timestamp,
    /// Current stage.
    pub stage: AuthorizationStage,
}

/// Stage of an [`Authorization`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuthorizationStage {
    /// Nobody has opened it.
    Pending,
    /// The first person who opened it may decide it.
    Claimed {
        /// The person.
        by: UserId,
    },
    /// The person denied it.
    Denied {
        /// The person.
        by: UserId,
    },
    /// The person allowed it, and the client has a code.
    Allowed {
        /// Consent of the person.
        consent: Consent,
        /// Time at which the code expires.
        code_expires_at: Timestamp,
    },
    /// The code was exchanged; it is kept to detect a second exchange.
    Redeemed {
        /// Consent of the person.
        consent: Consent,
        /// Grant that the exchange created.
        grant: GrantId,
    },
}

/// Access that a person allowed a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Consent {
    /// Person for whom the client acts.
    pub by: UserId,
    /// Workspace that the client may access.
    pub workspace: WorkspaceId,
    /// Access that was allowed.
    pub access: AgentAccess,
}

impl AuthorizationStage {
    /// Returns the person who may decide, or has decided, the authorization; none while it is pending.
    #[must_use]
    pub fn claimed_by(&self) -> Option<UserId> {
        match self {
            Self::Pending => None,
            Self::Claimed { by } | Self::Denied { by } => Some(*by),
            Self::Allowed { consent: allowed, .. } | Self::Redeemed { consent: allowed, .. } => {
                Some(allowed.by)
            }
        }
    }

    /// True if a person has allowed or denied it.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        !matches!(self, Self::Pending | Self::Claimed { .. })
    }
}
