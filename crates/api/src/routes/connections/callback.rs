//! Returning from a service that a person allowed in a browser.

use application::{Problem, ProblemKind, authorization::Deferred, unit};
use axum::{
    extract::State,
    http::{HeaderMap, header},
    response::Response,
};
use connections::{
    Connection, RefusalCode,
    connections::{PendingAuthorization, authorized_connection, finish_authorization},
    outbound::{AuthorizationCode, TokenError},
    stored_token::StoredToken,
};
use kernel::{Caller, Context, authority::Admin};
use secrecy::SecretString;
use serde::Deserialize;
use utoipa::IntoParams;

use super::authorization_cookie;
use crate::{
    auth::{Authorized, Console},
    http::{
        error::{ApiResult, ErrorEnvelope},
        extract::Params,
        pages::{Language, redirect::see_other, refusal::refusal_page},
    },
    state::Api,
};

/// Longest code and longest `state`; longer ones are none of ours.
const MAX_PARAMETER: usize = 4_096;

/// Query parameters of a service's response. Services may add others.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct AuthorizationResponse {
    /// The `state` of the request.
    #[serde(default)]
    state: Option<String>,
    /// Authorization code.
    #[serde(default)]
    code: Option<String>,
    /// Error code, if access was not allowed.
    #[serde(default)]
    error: Option<String>,
    /// Identifier of the authorization server (RFC 9207).
    #[serde(default)]
    iss: Option<String>,
}

/// Returns the redirect URI, which the operator registers with services.
pub(super) fn redirect_uri(api: &Api) -> String {
    format!("{}/v1/connectors/callback", api.settings().public_url)
}

/// Finish to connect a service in a browser
///
/// For browsers: the service redirects here. The response is a redirect to the connection in the console, or a page that says
/// why there is none. Each authorization is valid once, for 10 minutes, and only in the session that started it.
#[utoipa::path(
    get, path = "/v1/connectors/callback", tag = "connections", params(AuthorizationResponse),
    responses(
        (status = 303, description = "Redirects to the connection in the console."),
        (status = 400, description = "A page: the authorization has ended, or was started in another browser. The error envelope if the query does not match the schema.", content((String = "text/html"), (ErrorEnvelope = "application/json"))),
        (status = 403, description = "A page: access was not allowed, or the person is no longer an admin.", content((String = "text/html"), (ErrorEnvelope = "application/json"))),
        (status = 404, description = "A page: the workspace or the connection is gone.", content((String = "text/html"), (ErrorEnvelope = "application/json"))),
        (status = 409, description = "A page: the workspace has too many connections, or the operator has removed the OAuth app.", content((String = "text/html"), (ErrorEnvelope = "application/json"))),
        (status = 503, description = "The service does not respond. Browsers get a page.", content((String = "text/html"), (ErrorEnvelope = "application/json"))),
    )
)]
pub(crate) async fn finish_connection_authorization(
    State(api): State<Api>,
    Authorized(ctx, admin): Authorized<Console, Deferred<Admin>>,
    headers: HeaderMap,
    Language(locale): Language,
    Params(response): Params<AuthorizationResponse>,
) -> ApiResult<Response> {
    let Caller::Session(session) = &ctx.caller else { return Err(Problem::unauthorized().into()) };
    let state = response.state.as_deref().filter(|state| state.len() <= MAX_PARAMETER).unwrap_or_default();
    let pending = authorization_cookie::open_cookie(&api, &headers, session.session, state, ctx.now);
    // A second request with the same `state` finds it used.
    let Some(pending) = pending.filter(|_| api.auth_states().consume(state)) else {
        return Ok(refusal_page(locale, authorization_over(), "/")?);
    };
    let finished = api.finish(&ctx, &admin, &pending, response).await;
    let mut page = match finished {
        Ok(connection) => {
            let (origin, workspace, id) = (&api.settings().console_origin, pending.workspace, connection.id);
            see_other(&format!("{origin}/w/{workspace}/connections/{id}"))
        }
        Err(problem) => refusal_page(locale, problem, &format!("/w/{}/connections", pending.workspace))?,
    };
    page.headers_mut().append(header::SET_COOKIE, authorization_cookie::removal_cookie(&api)?);
    Ok(page)
}

impl Api {
    async fn finish(
        &self,
        ctx: &Context,
        admin: &Deferred<Admin>,
        pending: &PendingAuthorization,
        response: AuthorizationResponse,
    ) -> Result<Connection, Problem> {
        let admin = admin.prove(self, ctx, &pending.workspace.to_string()).await?;
        let app = self.oauth_apps().get(&pending.connector);
        if app.is_some_and(|app| !app.accepts_issuer(response.iss.as_deref())) {
            let connector = &pending.connector;
            tracing::warn!(connector, "an authorization response does not name the issuer that was asked");
            return Err(authorization_over());
        }
        let code = match (response.code, response.error) {
            (Some(code), None) if code.len() <= MAX_PARAMETER => SecretString::from(code),
            (_, Some(_)) => return Err(not_allowed()),
            _ => return Err(authorization_over()),
        };
        let draft = authorized_connection(self.store(), ctx, &admin, pending).await?;
        let code =
            AuthorizationCode { code, verifier: pending.verifier.clone(), redirect_uri: redirect_uri(self) };
        let issued = self
            .authorization_servers()
            .exchange_code(draft.clone(), code)
            .await
            .map_err(exchange_problem)?;
        let token = StoredToken::new(issued, ctx.now);
        let vault = self.vault();
        let finished = self.transaction(unit!(|tx| {
            // The service decided how long the exchange took.
            let admin = self.lock_member(tx, ctx, pending.workspace).await?.require_admin()?;
            let connection =
                finish_authorization(tx, ctx, &admin, vault, pending, (draft.clone(), &token)).await?;
            Ok::<_, Problem>(connection)
        }));
        finished.await
    }
}

fn authorization_over() -> Problem {
    Problem::new(
        ProblemKind::Invalid,
        "authorization_over",
        "This authorization has ended, or was started in another browser.",
    )
    .hint("Start again in the console.")
}

fn not_allowed() -> Problem {
    Problem::forbidden("authorization_refused", "The service did not allow access.")
        .hint("Start again in the console, and allow access.")
}

fn exchange_problem(error: TokenError) -> Problem {
    match error {
        TokenError::GrantEnded => not_allowed(),
        TokenError::Refused(refusal) if refusal.code == RefusalCode::AuthRejected => not_allowed(),
        TokenError::Refused(refusal) => {
            tracing::warn!(reason = refusal.code.as_str(), %refusal, "a code was not exchanged");
            Problem::unavailable("provider_unavailable", "The service does not respond.")
                .hint("Start again in the console in a moment.")
        }
    }
}
