//! The person decides.

use kernel::{
    Context,
    authority::Member,
    id::{AuthorizationId, UserId},
    token::{self, Peppers, TokenKind},
};
use secrecy::{ExposeSecret as _, SecretString};

use super::{AuthorizationStage, CODE_LIFETIME, Consent, claim_authorization};
use crate::oauth::{AgentAccess, ConsentError, OAuthTx};

/// What the person says.
#[derive(Debug, Clone)]
pub enum ConsentDecision {
    /// No.
    Deny,
    /// Yes, in the workspace the proof is about.
    Allow {
        /// The person's membership of the workspace.
        member: Member,
        /// What the client may do; what it asked for when not said.
        access: Option<AgentAccess>,
    },
}

/// How it came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConsentOutcome {
    /// The client has a code.
    Allowed,
    /// The client was told no.
    Denied,
}

/// What was decided, and where the browser goes with it.
#[derive(Debug)]
pub struct AuthorizationResponse {
    /// How it came out.
    pub outcome: ConsentOutcome,
    /// The client's address with the answer; it holds the code.
    pub redirect_to: SecretString,
}

/// Decides, once. `issuer` is who the answer says it is from (RFC 9207).
///
/// Where the answer goes comes from what was kept when the client asked, and from nowhere else.
///
/// # Errors
/// As [`claim_authorization`](super::claim_authorization); [`ConsentError::ExceedsRequestedAccess`] when more is allowed than was asked for.
pub async fn decide_authorization(
    tx: &mut dyn OAuthTx,
    ctx: &Context,
    peppers: &Peppers,
    issuer: &str,
    (id, user): (AuthorizationId, UserId),
    decision: ConsentDecision,
) -> Result<AuthorizationResponse, ConsentError> {
    let authorization = claim_authorization(tx, ctx, user, id).await?;
    let mut response_params: Vec<(&str, &str)> = Vec::with_capacity(3);
    let code;
    let entry = ctx.audit_entry("authorization.decide").target(id);
    let outcome = match decision {
        ConsentDecision::Deny => {
            tx.set_authorization_stage(id, &AuthorizationStage::Denied { by: user }, None).await?;
            tx.audit(
                entry.detail(serde_json::json!({ "outcome": "denied", "client": authorization.client.id })),
            );
            response_params.push(("error", "access_denied"));
            ConsentOutcome::Denied
        }
        ConsentDecision::Allow { member, access } => {
            let access = access.unwrap_or(authorization.requested);
            // A proof about somebody else would let them act through this person's client.
            if access > authorization.requested || member.user() != user {
                return Err(ConsentError::ExceedsRequestedAccess);
            }
            code = token::mint(TokenKind::AgentCode, ctx.random());
            let digest = peppers.digest(code.expose_secret());
            let consent = Consent { by: user, workspace: member.workspace(), access };
            let stage = AuthorizationStage::Allowed { consent, code_expires_at: ctx.now + CODE_LIFETIME };
            tx.set_authorization_stage(id, &stage, Some(&digest)).await?;
            let detail = serde_json::json!({
                "outcome": "allowed", "client": authorization.client.id, "access": access,
            });
            tx.audit(entry.workspace(consent.workspace).detail(detail));
            response_params.push(("code", code.expose_secret()));
            ConsentOutcome::Allowed
        }
    };
    if let Some(state) = &authorization.state {
        response_params.push(("state", state));
    }
    response_params.push(("iss", issuer));
    let redirect_to = authorization.redirect_uri.with_query(&response_params).into();
    Ok(AuthorizationResponse { outcome, redirect_to })
}
