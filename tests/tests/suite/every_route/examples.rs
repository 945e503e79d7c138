//! Examples of request bodies: each is accepted if the resources that it names exist.
//!
//! All bodies of the description are covered: one without an example fails the test, and so does one whose example is
//! rejected. Ids, codes and addresses in an example are replaced by existing ones.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use http::header;
use serde_json::{Value, json};
use tests::{Client, Database, DnsServer, Passkey, Reply, Server, encode_form, on_server, write_oauth_app};

use super::{METHODS, Operation};
use example_fixture::ExampleFixture;

mod example_fixture;

/// Origin with a host name, which passkeys need.
const CONSOLE_ORIGIN: &str = "http://localhost";

/// An example of the body of an operation.
struct Example {
    operation_id: String,
    operation: Operation,
    content_type: String,
    body: Value,
}

impl Example {
    fn is_passkey_operation(&self) -> bool {
        self.operation.path.starts_with("/v1/auth/passkeys/")
    }
}

/// Returns the examples of a media type, which has either `example` or `examples`.
pub(super) fn media_type_examples(media: &Value) -> Vec<&Value> {
    let named = media["examples"].as_object().into_iter().flatten().map(|(_, example)| &example["value"]);
    media.get("example").into_iter().chain(named).collect()
}

fn read_examples(document: &Value) -> Result<Vec<Example>> {
    let mut examples = Vec::new();
    for (path, item) in document["paths"].as_object().context("the description has no paths")? {
        for method in METHODS {
            let described = &item[method.as_str().to_lowercase()];
            let contents = described["requestBody"]["content"].as_object();
            for (kind, media) in contents.into_iter().flatten() {
                let id = described["operationId"].as_str().context("no operationId")?;
                let bodies = media_type_examples(media);
                ensure!(!bodies.is_empty(), "{id} has no example of a body of the type {kind}");
                for body in bodies {
                    examples.push(Example {
                        operation_id: id.to_owned(),
                        operation: Operation::parse(document, path, method.clone(), described)?,
                        content_type: kind.clone(),
                        body: body.clone(),
                    });
                }
            }
        }
    }
    Ok(examples)
}

/// A request that is built from an example.
struct Call {
    caller: Client,
    path: String,
    body: Value,
}

impl Call {
    /// Replaces the value at a JSON pointer by that of an existing resource.
    fn replace(&mut self, at: &str, value: impl Into<Value>) -> Result<()> {
        let place = self.body.pointer_mut(at).with_context(|| format!("the example has nothing at {at}"))?;
        *place = value.into();
        Ok(())
    }

    async fn send(&self, example: &Example) -> Result<Reply> {
        let mut request = self.caller.request(example.operation.method.clone(), &self.path);
        // Sign-in requests need the `Origin` of the console, which the client adds only with a session.
        if self.path.starts_with("/v1/auth/") && self.caller.cookie().is_none() {
            request = request.header(header::ORIGIN, self.caller.origin())?;
        }
        let body = match (example.content_type.as_str(), &self.body) {
            ("application/x-www-form-urlencoded", Value::Object(members)) => {
                let members =
                    members.iter().map(|(name, value)| (name.as_str(), value.as_str().unwrap_or("")));
                encode_form(&members.collect::<Vec<_>>()).into_bytes()
            }
            (kind, body) if kind.ends_with("json") && !kind.ends_with("ndjson") => serde_json::to_vec(body)?,
            (_, body) => body.as_str().context("the example is not a text")?.as_bytes().to_vec(),
        };
        request.body(&example.content_type, body)?.send().await
    }
}

/// Sends all examples in turn, and reports those that were rejected.
async fn send_all(examples: &[Example], call: impl AsyncFn(&Example) -> Result<Call>) -> Result<()> {
    let mut refused = Vec::new();
    for example in examples {
        let sent = async {
            let reply = call(example).await?.send(example).await?;
            // The client checks status and body against the description.
            ensure!(reply.status.is_success(), "{reply}");
            anyhow::Ok(())
        };
        if let Err(refusal) = sent.await {
            refused.push(format!("{} {}: {refusal:#}", example.operation_id, example.body));
        }
    }
    ensure!(
        refused.is_empty(),
        "{} of {} examples are not accepted:\n{}",
        refused.len(),
        examples.len(),
        refused.join("\n")
    );
    Ok(())
}

async fn fetch_description(server: &Server) -> Result<Value> {
    server.client().get("/openapi.json").await?.ok()
}

mod every_example_is_accepted {
    use super::*;

    async fn on(database: Database) -> Result<()> {
        let dns = DnsServer::start("test.").await?;
        let address = dns.address().to_string();
        let folder = tempfile::tempdir()?;
        let connectors = write_oauth_app(folder.path(), "")?;
        let options = Server::with(database).args([
            "--no-rate-limits",
            "--dns-server",
            &address,
            "--connectors-config",
            &connectors,
        ]);
        on_server(options, async |server| {
            let mut examples = read_examples(&fetch_description(&server).await?)?;
            // An issuer's response needs the issuer: `oidc` sends it.
            examples.retain(|example| {
                !example.is_passkey_operation() && example.operation_id != "forward_oidc_response"
            });
            ensure!(examples.len() > 60, "only {} examples", examples.len());
            // Each example has its own workspace, so that they do not affect each other.
            let fixtures = ExampleFixture::fixtures(&server, &dns);
            send_all(&examples, async |example| fixtures.create_next().await?.prepare_call(example).await)
                .await
        })
        .await
    }

    #[tokio::test]
    async fn sqlite() -> Result<()> {
        on(Database::Sqlite).await
    }

    #[tokio::test]
    async fn postgres() -> Result<()> {
        on(Database::Postgres).await
    }
}

tests::on_both! {
    args: ["--no-rate-limits", "--public-url", CONSOLE_ORIGIN];

    /// The credentials in the examples are replaced by those of an authenticator, because they must match the
    /// challenge.
    async fn every_example_of_passkeys_is_accepted(server: Server) -> Result<()> {
        let mut examples = read_examples(&fetch_description(&server).await?)?;
        examples.retain(Example::is_passkey_operation);
        ensure!(examples.len() == 3, "{} examples", examples.len());
        let owner = server.client().with_origin(CONSOLE_ORIGIN).sign_in("owner@example.test").await?;
        let mut passkey = Passkey::new(CONSOLE_ORIGIN, 7)?;
        // The first example registers the passkey that the others use.
        for example in &examples {
            let path = example.operation.path.clone();
            let (start, _) = path.rsplit_once('/').context("no ceremony")?;
            let (visitor, start) = (example.operation.callers.public, format!("{start}/start"));
            let begun = match visitor {
                true => owner.post_from_console(&start, &json!({})).await?,
                false => owner.post(&start, &json!({})).await?,
            };
            let options = &begun.ok()?["options"];
            let registers = example.operation_id == "finish_passkey_registration";
            let credential = if registers { passkey.create(options)? } else { passkey.get(options)? };
            let caller = if visitor { owner.signed_out() } else { owner.clone() };
            let mut call = Call { caller, path, body: example.body.clone() };
            call.replace("/ceremonyId", begun.string_at("/ceremonyId")?)?;
            call.replace("/credential", credential)?;
            call.send(example).await?.ok()?;
        }
        Ok(())
    }
}

/// Examples in schemas of requests, each with whether an example of a body has that value.
#[derive(Default)]
struct ExampleCoverage(BTreeMap<String, (Value, bool)>);

impl ExampleCoverage {
    /// Records the examples of a body's schema, which is at this pointer, recursively.
    fn record_examples(&mut self, document: &Value, schema: &str, body: Option<&Value>, depth: usize) {
        let Some(described) = document.pointer(schema).filter(|_| depth > 0) else { return };
        // Only schemas of ids have `examples`, and these are not sent.
        if let Some(example) = described.get("example") {
            let part = self.0.entry(schema.to_owned()).or_insert_with(|| (example.clone(), false));
            part.1 |= body == Some(example);
        }
        if let Some(target) = described["$ref"].as_str().and_then(|reference| reference.strip_prefix('#')) {
            self.record_examples(document, target, body, depth - 1);
        }
        for choices in ["oneOf", "anyOf", "allOf"] {
            for index in 0..described[choices].as_array().map_or(0, Vec::len) {
                self.record_examples(document, &format!("{schema}/{choices}/{index}"), body, depth - 1);
            }
        }
        for name in described["properties"].as_object().into_iter().flat_map(|all| all.keys()) {
            let member = body.and_then(|body| body.get(name));
            self.record_examples(document, &format!("{schema}/properties/{name}"), member, depth - 1);
        }
        let items = body.and_then(Value::as_array).into_iter().flatten();
        for item in items.map(Some).chain([None]) {
            self.record_examples(document, &format!("{schema}/items"), item, depth - 1);
        }
    }
}

#[test]
fn examples_of_members_occur_in_examples_of_bodies() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/openapi.json");
    let document: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let mut parts = ExampleCoverage::default();
    for example in read_examples(&document).unwrap() {
        let escaped = |token: &str| token.replace('~', "~0").replace('/', "~1");
        let method = example.operation.method.as_str().to_lowercase();
        let (path, kind) = (escaped(&example.operation.path), escaped(&example.content_type));
        let schema = format!("/paths/{path}/{method}/requestBody/content/{kind}/schema");
        parts.record_examples(&document, &schema, Some(&example.body), 12);
    }
    let unsent = parts.0.iter().filter(|(_, (_, seen))| !seen);
    let unsent: Vec<String> = unsent.map(|(at, (example, _))| format!("{at}: {example}")).collect();
    assert!(parts.0.len() > 30, "only {} examples of members were found", parts.0.len());
    assert!(unsent.is_empty(), "no example of a body has these values:\n{}", unsent.join("\n"));
}
