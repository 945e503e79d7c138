//! An agent client on its way from a request to its tokens.

use kernel::{
    Context, Timestamp,
    authority::{MembershipFact, Role},
    testing::member,
};
use secrecy::{ExposeSecret as _, SecretString};
use url::Url;

use super::{FakeStore, peppers, workspace};
use crate::{
    User,
    oauth::{
        AgentAccess, Authorization, Client, ClientKind, ClientSnapshot,
        authorizations::{AuthorizationRequest, ConsentDecision, create_authorization, decide_authorization},
        grants::{CodeExchange, TokenPair, exchange_code},
        pkce::CodeChallenge,
    },
};

/// The verifier of [`authorization_request`] (RFC 7636, appendix B).
pub(crate) const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
pub(crate) const CLIENT_ID: &str = "qac_1";
pub(crate) const ISSUER: &str = "https://qala.example";
pub(crate) const AUDIENCE: &str = "https://qala.example/mcp";
pub(crate) const REDIRECT_URI: &str = "https://client.example/cb";

pub(crate) fn client() -> Client {
    Client {
        snapshot: ClientSnapshot {
            id: CLIENT_ID.to_owned(),
            kind: ClientKind::Registered,
            name: "Agent".to_owned(),
            host: None,
        },
        redirect_uris: vec![REDIRECT_URI.parse().unwrap()],
        homepage_host: Some("client.example".to_owned()),
    }
}

pub(crate) fn authorization_request(requested: AgentAccess) -> AuthorizationRequest {
    AuthorizationRequest {
        redirect_uri: REDIRECT_URI.parse().unwrap(),
        state: Some("xyz".to_owned()),
        challenge: CodeChallenge::parse("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM").unwrap(),
        audience: AUDIENCE.to_owned(),
        requested,
    }
}

/// A membership of [`workspace`] that has access until `access_ends_at`.
pub(crate) fn membership(user: &User, access_ends_at: Option<Timestamp>) -> MembershipFact {
    MembershipFact { workspace: workspace(), user: user.id, role: Role::Builder, access_ends_at }
}

/// The parameter `name` of the address that a browser is sent to.
pub(crate) fn query_parameter(address: &SecretString, name: &str) -> Option<String> {
    let address = Url::parse(address.expose_secret()).unwrap();
    address.query_pairs().find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
}

/// An authorization that asks for write access and that nobody has seen.
pub(crate) async fn pending_authorization(store: &mut FakeStore, ctx: &Context) -> Authorization {
    create_authorization(store, ctx, &client(), authorization_request(AgentAccess::Write)).await.unwrap()
}

/// The code of an authorization that the caller of `ctx` allows.
pub(crate) async fn issued_code(store: &mut FakeStore, ctx: &Context) -> String {
    let authorization = pending_authorization(store, ctx).await;
    let user = ctx.caller.user().unwrap();
    let decision = ConsentDecision::Allow { member: member(ctx, workspace(), Role::Builder), access: None };
    let response =
        decide_authorization(store, ctx, &peppers(), ISSUER, (authorization.id, user), decision).await;
    query_parameter(&response.unwrap().redirect_to, "code").unwrap()
}

/// The exchange of a code by the client that asked for it.
pub(crate) fn code_exchange(code: &str) -> CodeExchange<'_> {
    CodeExchange {
        code,
        client_id: CLIENT_ID,
        verifier: VERIFIER,
        redirect_uri: Some(REDIRECT_URI),
        audience: Some(AUDIENCE),
    }
}

/// The first tokens of a grant of the caller of `ctx`, in a store that then holds no audit entries.
pub(crate) async fn granted_tokens(store: &mut FakeStore, ctx: &Context) -> TokenPair {
    let code = issued_code(store, ctx).await;
    let tokens = exchange_code(store, ctx, &peppers(), code_exchange(&code)).await.unwrap().unwrap();
    store.work.audit.clear();
    tokens
}
