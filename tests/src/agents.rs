//! An OAuth client of the agent server: registration, authorization, tokens and calls of tools, step by step or in one
//! call.

use anyhow::{Context as _, Result, bail};
use http::{Method, header};
use serde_json::{Value, json};
use url::{Url, form_urlencoded};

use crate::{Client, Reply};

/// The code verifier of RFC 7636, appendix B.
pub const CODE_VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
/// The challenge of [`CODE_VERIFIER`].
pub const CODE_CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
/// Redirect URI of the clients that tests register.
pub const REDIRECT_URI: &str = "https://agent.example/callback";

/// A client with an id that the server accepts.
#[derive(Debug, Clone)]
pub struct Agent {
    pub id: String,
    anonymous: Client,
}

/// The tokens of an agent with a grant.
#[derive(Debug, Clone)]
pub struct TokenPair {
    pub access: String,
    pub refresh: String,
}

impl TokenPair {
    /// Reads the tokens from a successful response.
    pub fn from_reply(reply: &Reply) -> Result<Self> {
        Ok(Self { access: reply.string_at("/access_token")?, refresh: reply.string_at("/refresh_token")? })
    }
}

/// Encodes parameters for a query or a form.
#[must_use]
pub fn encode_form(parameters: &[(&str, &str)]) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(parameters).finish()
}

/// Returns a parameter of a URL's query.
pub fn query_parameter(address: &str, name: &str) -> Result<Option<String>> {
    let url: Url = address.parse().with_context(|| address.to_owned())?;
    Ok(url.query_pairs().find(|(other, _)| other == name).map(|(_, value)| value.into_owned()))
}

impl Client {
    /// Registers a client that is redirected to [`REDIRECT_URI`].
    pub async fn register_agent(&self, name: &str) -> Result<Agent> {
        let body = json!({"client_name": name, "redirect_uris": [REDIRECT_URI]});
        self.registered_agent(&self.signed_out().post("/oauth/register", &body).await?)
    }

    /// Reads the client from the response to a registration.
    pub fn registered_agent(&self, reply: &Reply) -> Result<Agent> {
        Ok(Agent { id: reply.string_at("/client_id")?, anonymous: self.signed_out() })
    }

    /// Returns a client whose id is the URL of a client metadata document.
    #[must_use]
    pub fn agent_with_client_id(&self, id: &str) -> Agent {
        Agent { id: id.to_owned(), anonymous: self.signed_out() }
    }

    /// Opens `/oauth/authorize` as a browser does.
    pub async fn authorize(&self, parameters: &[(&str, &str)]) -> Result<Reply> {
        self.get(&format!("/oauth/authorize?{}", encode_form(parameters))).await
    }

    /// Decides about an authorization in the console.
    pub async fn decide_authorization(&self, authorization: &str, body: &Value) -> Result<Reply> {
        self.post(&format!("/v1/oauth/authorizations/{authorization}/decision"), body).await
    }
}

impl Agent {
    /// Returns the parameters of an authorization request. `changes` replaces parameters, and omits those with an empty
    /// value.
    #[must_use]
    pub fn authorization_parameters<'a>(&'a self, changes: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
        let mut parameters = vec![
            ("response_type", "code"),
            ("client_id", self.id.as_str()),
            ("redirect_uri", REDIRECT_URI),
            ("code_challenge", CODE_CHALLENGE),
            ("code_challenge_method", "S256"),
            ("state", "a state"),
            ("scope", "read write"),
        ];
        for (name, value) in changes {
            parameters.retain(|(other, _)| other != name);
            if !value.is_empty() {
                parameters.push((name, value));
            }
        }
        parameters
    }

    /// Starts an authorization request and returns its id, which the person decides about.
    pub async fn start_authorization(&self, changes: &[(&str, &str)]) -> Result<String> {
        let reply = self.anonymous.authorize(&self.authorization_parameters(changes)).await?;
        let location = reply.header("location").with_context(|| reply.to_string())?.to_owned();
        let (page, id) = location.rsplit_once('/').with_context(|| location.clone())?;
        if reply.status != 303 || page != format!("{}/oauth/consent", self.anonymous.base_url()) {
            bail!("redirected to {location} instead of the consent page: {reply}");
        }
        Ok(id.to_owned())
    }

    /// Starts an authorization request, which `person` allows, and returns the code.
    pub async fn obtain_code(&self, person: &Client, workspace: &str, access: &str) -> Result<String> {
        let id = self.start_authorization(&[]).await?;
        let body = json!({"decision": "allow", "workspaceId": workspace, "access": access});
        let next = person.decide_authorization(&id, &body).await?.string_at("/redirectTo")?;
        query_parameter(&next, "code")?.with_context(|| format!("no code in {next}"))
    }

    /// Sends a form to the token endpoint.
    pub async fn post_token(&self, parameters: &[(&str, &str)]) -> Result<Reply> {
        self.post_form("/oauth/token", parameters).await
    }

    pub async fn post_form(&self, path: &str, parameters: &[(&str, &str)]) -> Result<Reply> {
        let request = self.anonymous.request(Method::POST, path);
        request.body("application/x-www-form-urlencoded", encode_form(parameters))?.send().await
    }

    /// Exchanges a code with the parameters that the specification asks for.
    pub async fn exchange(&self, code: &str) -> Result<Reply> {
        self.post_token(&[
            ("grant_type", "authorization_code"),
            ("client_id", &self.id),
            ("code", code),
            ("redirect_uri", REDIRECT_URI),
            ("code_verifier", CODE_VERIFIER),
        ])
        .await
    }

    /// Uses a refresh token with the parameters that the specification asks for.
    pub async fn refresh(&self, token: &str) -> Result<Reply> {
        self.post_token(&[("grant_type", "refresh_token"), ("client_id", &self.id), ("refresh_token", token)])
            .await
    }

    /// Authorizes the client and exchanges the code for tokens.
    pub async fn sign_in(&self, person: &Client, workspace: &str, access: &str) -> Result<TokenPair> {
        let code = self.obtain_code(person, workspace, access).await?;
        TokenPair::from_reply(&self.exchange(&code).await?)
    }
}

impl Client {
    /// Calls the agent server without a handshake, as clients of protocol versions before 2026-07-28 may.
    pub async fn mcp(&self, method: &str, params: &Value) -> Result<Reply> {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        self.request(Method::POST, "/mcp")
            .json(&body)?
            .header(header::ACCEPT, "application/json, text/event-stream")?
            .send()
            .await
    }

    pub async fn call_tool(&self, name: &str, arguments: &Value) -> Result<Reply> {
        self.mcp("tools/call", &json!({"name": name, "arguments": arguments})).await
    }
}
