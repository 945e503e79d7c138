//! Entity tags at every operation that describes them: each read has one, and each write refuses another.

use anyhow::{Context as _, Result, ensure};
use http::{HeaderName, Method, header};
use serde_json::{Value, json};
use tests::{Client, Reply, Server};

use super::{Callers, Fixture, Operation, UNKNOWN_ID_SUFFIX};

/// Operations that ignore preconditions, each with the reason.
const IGNORING: [(&str, &str); 3] = [
    ("/v1/auth/oidc/{provider}/callback", "a browser sends it for an issuer, and it writes nothing"),
    ("/oauth/device_authorization", "its errors are OAuth's (RFC 8628), and each request is a new one"),
    ("/v1/hooks/{id}", "the sender is another system, and the call is new whatever it says about states"),
];

/// Parts of the paths of the fixture that name nothing.
const UNKNOWN: [&str; 3] = [UNKNOWN_ID_SUFFIX, "/indexes/ix1", "/device/BCDF-GHJK"];

/// The operations of the description that take a header, by method and path.
fn operations_with(document: &Value, header: &str) -> Vec<(Method, String)> {
    let mut found = Vec::new();
    for (path, item) in document["paths"].as_object().into_iter().flatten() {
        for (method, operation) in item.as_object().into_iter().flatten() {
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            let mut names = parameters.filter(|it| it["in"] == "header").map(|it| &it["name"]);
            if names.any(|name| name == header) {
                found.extend(method.to_uppercase().parse().ok().map(|method| (method, path.clone())));
            }
        }
    }
    found
}

struct ConditionalFixture {
    document: Value,
    fixture: Fixture,
    key: Client,
}

impl ConditionalFixture {
    async fn create(server: &Server) -> Result<Self> {
        let document = server.client().get("/openapi.json").await?.ok()?;
        let fixture = Fixture::create(server).await?;
        let keys = fixture.path_parameters.path("/v1/backend/projects/{projectId}/keys")?;
        let scopes = json!(["rows:read", "rows:write", "schema:write"]);
        let key = json!({"kind": "secret", "name": "Rows", "scopes": scopes});
        let key = fixture.owner.post(&keys, &key).await?.string_at("/secret")?;
        let key = server.client().with_bearer(&key);
        Ok(Self { document, fixture, key })
    }

    fn operations(&self, header: &str) -> Result<Vec<&Operation>> {
        let wanted = operations_with(&self.document, header);
        ensure!(wanted.len() > 8, "only {} operations take {header}", wanted.len());
        wanted
            .iter()
            .map(|(method, path)| {
                let operations = &self.fixture.operations;
                let found = operations.iter().find(|it| it.method == *method && it.path == *path);
                found.with_context(|| format!("{method} {path}"))
            })
            .collect()
    }

    async fn send(&self, operation: &Operation, name: HeaderName, value: &str) -> Result<Reply> {
        let path = self.fixture.path_parameters.path(&operation.path)?;
        let caller = if operation.callers.project_key { &self.key } else { &self.fixture.owner };
        let request = caller.request(operation.method.clone(), &path).header(name, value)?;
        match &operation.body {
            Some(body) => request.json(body)?.send().await,
            None => request.send().await,
        }
    }
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn a_write_of_another_state_is_refused(server: Server) -> Result<()> {
        let fixture = ConditionalFixture::create(&server).await?;
        for operation in fixture.operations("If-Match")? {
            let refused = fixture.send(operation, header::IF_MATCH, "\"0\"").await?;
            refused.check_error(412, Some("changed_meanwhile")).with_context(|| operation.to_string())?;
            let malformed = fixture.send(operation, header::IF_MATCH, "0").await?;
            malformed.check_error(400, Some("invalid_request")).with_context(|| operation.to_string())?;
        }
        Ok(())
    }

    /// Checks that each operation checks a precondition or refuses it: its sender relies on it.
    async fn no_write_ignores_a_precondition(server: Server) -> Result<()> {
        let fixture = ConditionalFixture::create(&server).await?;
        let (visitor, token) = (server.client(), fixture.fixture.token(&["read", "write"]).await?);
        let mut failures = Vec::new();
        for operation in &fixture.fixture.operations {
            let is_ignoring = IGNORING.iter().any(|(path, _)| operation.path == *path);
            if operation.method == Method::GET || is_ignoring {
                continue;
            }
            let path = fixture.fixture.path_parameters.path(&operation.path)?;
            let Callers { public, token_any, project_key, .. } = operation.callers;
            let caller = match (public, token_any, project_key) {
                (true, ..) => &visitor,
                (_, true, _) => &token,
                (.., true) => &fixture.key,
                _ => &fixture.fixture.owner,
            };
            for (name, value) in [(header::IF_MATCH, "\"nonsense\""), (header::IF_NONE_MATCH, "*")] {
                let request = caller.request(operation.method.clone(), &path).header(name.clone(), value)?;
                let request = request.header(header::ORIGIN, caller.origin())?;
                let reply = match &operation.body {
                    Some(body) => request.json(body)?.send().await?,
                    None => request.send().await?,
                };
                // Of what does not exist, no state can be compared.
                let is_unknown = UNKNOWN.iter().any(|unknown| path.contains(unknown));
                let is_refused = matches!(reply.status.as_u16(), 400 | 412)
                    && reply.to_string().contains(if reply.status == 412 { "changed_meanwhile" } else { "precondition" });
                if !(is_refused || is_unknown && reply.status == 404) {
                    failures.push(format!("{operation} with {name}: {reply}"));
                }
            }
        }
        ensure!(failures.is_empty(), "{}", failures.join("\n"));
        Ok(())
    }

    async fn a_read_of_a_known_state_is_not_sent_again(server: Server) -> Result<()> {
        let fixture = ConditionalFixture::create(&server).await?;
        for operation in fixture.operations("If-None-Match")? {
            let read = fixture.send(operation, header::IF_NONE_MATCH, "\"0\"").await?;
            ensure!(read.status == 200, "{operation}: {read}");
            let tag = read.header("etag").with_context(|| format!("{operation} has no tag"))?;
            let again = fixture.send(operation, header::IF_NONE_MATCH, tag).await?;
            ensure!(again.status == 304 && again.body.is_empty(), "{operation}: {again}");
        }
        Ok(())
    }
}
