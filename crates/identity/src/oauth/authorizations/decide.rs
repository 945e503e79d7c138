//! The person decides.

use kernel::{
    Context,
    authority::Member,
    id::{AuthorizationId, UserId},
    token::{self, Peppers, TokenKind},
};
use secrecy::{ExposeSecret as _, SecretString};

use super::{Allowed, CODE_LIFETIME, Stage, open_authorization};
use crate::oauth::{AgentAccess, ConsentError, OAuthTx};

/// What the person says.
#[derive(Debug, Clone)]
pub enum Decision {
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
pub enum Outcome {
    /// The client has a code.
    Allowed,
    /// The client was told no.
    Denied,
}

/// What was decided, and where the browser goes with it.
#[derive(Debug)]
pub struct Decided {
    /// How it came out.
    pub outcome: Outcome,
    /// The client's address with the answer; it holds the code.
    pub redirect_to: SecretString,
}

/// Decides, once. `issuer` is who the answer says it is from (RFC 9207).
///
/// Where the answer goes comes from what was kept when the client asked, and from nowhere else.
///
/// # Errors
/// As [`open_authorization`]; [`ConsentError::MoreThanAsked`] when more is allowed than was asked for.
pub async fn decide_authorization<T: OAuthTx + ?Sized>(
    tx: &mut T,
    ctx: &Context,
    peppers: &Peppers,
    issuer: &str,
    (id, user): (AuthorizationId, UserId),
    decision: Decision,
) -> Result<Decided, ConsentError> {
    let authorization = open_authorization(tx, ctx, user, id).await?;
    let mut answer: Vec<(&str, &str)> = Vec::with_capacity(3);
    let code;
    let entry = ctx.audit("authorization.decide").target(id);
    let outcome = match decision {
        Decision::Deny => {
            tx.set_stage(id, &Stage::Denied { by: user }, None).await?;
            tx.audit(
                entry.detail(serde_json::json!({ "outcome": "denied", "client": authorization.client.id })),
            );
            answer.push(("error", "access_denied"));
            Outcome::Denied
        }
        Decision::Allow { member, access } => {
            let access = access.unwrap_or(authorization.requested);
            // A proof about somebody else would let them act through this person's client.
            if access > authorization.requested || member.user() != user {
                return Err(ConsentError::MoreThanAsked);
            }
            code = token::mint(TokenKind::AgentCode, ctx.random());
            let digest = peppers.digest(code.expose_secret());
            let allowed = Allowed { by: user, workspace: member.workspace(), access };
            let stage = Stage::Allowed { allowed, until: ctx.now + CODE_LIFETIME };
            tx.set_stage(id, &stage, Some(&digest)).await?;
            let detail = serde_json::json!({
                "outcome": "allowed", "client": authorization.client.id, "access": access,
            });
            tx.audit(entry.workspace(allowed.workspace).detail(detail));
            answer.push(("code", code.expose_secret()));
            Outcome::Allowed
        }
    };
    if let Some(state) = &authorization.state {
        answer.push(("state", state));
    }
    answer.push(("iss", issuer));
    let redirect_to = authorization.redirect.with(&answer).into();
    Ok(Decided { outcome, redirect_to })
}
