//! Deciding about an authorization request.

use application::{Problem, authorization::Deferred, unit};
use axum::{Json, extract::State};
use identity::oauth::{
    AgentAccess,
    authorizations::{
        AuthorizationResponse, ConsentDecision, ConsentOutcome, decide_authorization as decide,
    },
};
use kernel::{Caller, Context, authority::Member, id::AuthorizationId};
use secrecy::ExposeSecret as _;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    auth::{Authorized, Console},
    http::{
        error::ApiResult,
        extract::{Path, Payload},
        schemas,
    },
    state::Api,
};

/// The decision of the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Answer {
    /// Allow access.
    Allow,
    /// Deny access.
    Deny,
}

/// The decision. Default: deny.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Decide {
    decision: Option<Answer>,
    /// Workspace that the client may access, one of yours. Default: the one that is open in the session.
    #[schema(max_length = 128)]
    workspace_id: Option<String>,
    /// Access to allow, at most what was requested. Default: what was requested.
    #[schema(value_type = Option<schemas::identity::AgentAccess>)]
    access: Option<AgentAccess>,
}

/// Outcome of the decision.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum OutcomeView {
    /// The client gets an authorization code.
    Allowed,
    /// The client gets an error.
    Denied,
}

/// The outcome of the decision.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DecidedView {
    outcome: OutcomeView,
    /// URL that the browser opens next.
    redirect_to: String,
}

impl Decide {
    pub(super) fn new(
        decision: Option<Answer>,
        workspace_id: Option<String>,
        access: Option<AgentAccess>,
    ) -> Self {
        Self { decision, workspace_id, access }
    }
}

impl Api {
    /// Decides about an authorization request that its person has claimed.
    pub(super) async fn decide_authorization(
        &self,
        ctx: &Context,
        id: AuthorizationId,
        input: Decide,
        membership: &Deferred<Member>,
    ) -> Result<AuthorizationResponse, Problem> {
        let Caller::Session(session) = &ctx.caller else { return Err(Problem::unauthorized()) };
        let decision = match input.decision {
            Some(Answer::Allow) => {
                let open = session.workspace.map(|workspace| workspace.to_string());
                let workspace = input.workspace_id.or(open);
                let workspace = workspace
                    .ok_or_else(|| Problem::invalid_field("workspaceId", "is required to allow access"))?;
                ConsentDecision::Allow {
                    member: membership.prove(self, ctx, &workspace).await?,
                    access: input.access,
                }
            }
            Some(Answer::Deny) | None => ConsentDecision::Deny,
        };
        let (peppers, issuer) = (self.peppers(), &self.settings().public_url);
        let decided = self.transaction(unit!(|tx| {
            decide(tx, ctx, peppers, issuer, (id, session.user), decision.clone()).await
        }));
        Ok(decided.await?)
    }
}

/// Decide about an agent client's authorization request
///
/// A request can be decided once. An empty body denies it.
#[utoipa::path(
    post, path = "/v1/oauth/authorizations/{id}/decision", tag = "oauth",
    params(("id" = kernel::id::AuthorizationId, Path, description = "The authorization.")),
    request_body(
        content = Decide,
        example = json!({
            "decision": "allow",
            "workspaceId": "ws_01h455vb4pex5vsknk084sn02q",
            "access": "read"
        })
    ),
    responses((status = 200, body = DecidedView))
)]
pub(crate) async fn decide_authorization(
    State(api): State<Api>,
    Authorized(ctx, membership): Authorized<Console, Deferred<Member>>,
    Path(id): Path<String>,
    payload: Payload,
) -> ApiResult<Json<DecidedView>> {
    let user = ctx.caller.user().ok_or_else(Problem::unauthorized)?;
    // The ownership is checked before the body is parsed.
    let authorization = api.open_authorization(&ctx, user, &id).await?;
    let decided =
        api.decide_authorization(&ctx, authorization.id, payload.json_or_empty()?, &membership).await?;
    let outcome = match decided.outcome {
        ConsentOutcome::Allowed => OutcomeView::Allowed,
        ConsentOutcome::Denied => OutcomeView::Denied,
    };
    Ok(Json(DecidedView { outcome, redirect_to: decided.redirect_to.expose_secret().to_owned() }))
}
