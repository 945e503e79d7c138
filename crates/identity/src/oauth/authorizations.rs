//! From a client's question to its code.

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

/// How long a person has to decide.
pub const LIFETIME: TimeDelta = TimeDelta::minutes(10);
/// How long a code is good (draft-ietf-oauth-v2-1 §4.1.2: at most ten minutes).
pub const CODE_LIFETIME: TimeDelta = TimeDelta::seconds(60);

/// A client's question whether it may come in, with everything the answer rests on as it was when it asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authorization {
    /// Its id.
    pub id: AuthorizationId,
    /// Who asks.
    pub client: ClientSnapshot,
    /// The host of the page the client names as its own; proves nothing.
    pub homepage_host: Option<String>,
    /// Where the answer goes.
    pub redirect_uri: RedirectUri,
    /// What the client wants back with the answer.
    pub state: Option<String>,
    /// What the client must prove to know when it exchanges the code.
    pub challenge: CodeChallenge,
    /// What tokens will be for.
    pub audience: String,
    /// What the client asks to do.
    pub requested: AgentAccess,
    /// When it asked.
    pub created_at: Timestamp,
    /// Until when it may be decided.
    pub expires_at: Timestamp,
    /// How far it is.
    pub stage: AuthorizationStage,
}

/// How far an [`Authorization`] is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuthorizationStage {
    /// Nobody has seen it.
    Pending,
    /// It is this person's to decide, the first who saw it.
    Claimed {
        /// The person.
        by: UserId,
    },
    /// The person said no.
    Denied {
        /// The person.
        by: UserId,
    },
    /// The person said yes, and the client has a code.
    Allowed {
        /// What was allowed.
        consent: Consent,
        /// Until when the code is good.
        code_expires_at: Timestamp,
    },
    /// The code was exchanged; it is kept so that a second time is noticed.
    Redeemed {
        /// What was allowed.
        consent: Consent,
        /// What came of it.
        grant: GrantId,
    },
}

/// What a person allowed a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Consent {
    /// The person, for whom the client will act.
    pub by: UserId,
    /// Where.
    pub workspace: WorkspaceId,
    /// What.
    pub access: AgentAccess,
}

impl AuthorizationStage {
    /// The person whose it is.
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

    /// Whether it was decided.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        !matches!(self, Self::Pending | Self::Claimed { .. })
    }
}
