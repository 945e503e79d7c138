//! Bodies from the description: valid bodies are accepted, and an array in place of an object is rejected.

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tests::{Client, Reply};

use super::{Fixture, Operation};

/// Resolves references of a schema.
fn resolve_ref<'d>(document: &'d Value, schema: &'d Value) -> &'d Value {
    let target = schema["$ref"].as_str().and_then(|reference| document.pointer(reference.strip_prefix('#')?));
    target.map_or(schema, |target| resolve_ref(document, target))
}

/// Collects JSON pointers to the objects in `value` whose members are described, where an array must be rejected.
fn find_objects(document: &Value, schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    let schema = resolve_ref(document, schema);
    for choices in ["oneOf", "anyOf", "allOf"] {
        let choices = schema[choices].as_array().into_iter().flatten().collect::<Vec<_>>();
        // If an array is one of the alternatives, it is allowed.
        if choices.iter().all(|choice| resolve_ref(document, choice)["type"] != "array") {
            choices.iter().for_each(|choice| find_objects(document, choice, value, at, found));
        }
    }
    match value {
        Value::Object(members) if schema["properties"].is_object() => {
            if !found.iter().any(|known| known == at) {
                found.push(at.to_owned());
            }
            for (name, member) in members {
                find_objects(document, &schema["properties"][name], member, &format!("{at}/{name}"), found);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                find_objects(document, &schema["items"], item, &format!("{at}/{index}"), found);
            }
        }
        _ => {}
    }
}

/// Returns the body with the object at `pointer` as an array of its members.
fn object_as_array(body: &Value, pointer: &str) -> Option<Value> {
    let mut body = body.clone();
    let object = body.pointer_mut(pointer)?;
    *object = object.as_object()?.values().cloned().collect();
    Some(body)
}

fn error_message(reply: &Reply) -> String {
    reply.json::<Value>().map_or_else(|_| reply.to_string(), |body| body["error"]["message"].to_string())
}

/// Clients for the operations of a fixture.
pub(super) struct TestClients {
    visitor: Client,
    owner: Client,
    server: Client,
}

impl TestClients {
    pub(super) async fn create(fixture: &Fixture) -> Result<Self> {
        let path = fixture.path_parameters.path("/v1/backend/projects/{projectId}")? + "/keys";
        let key = serde_json::json!({
            "kind": "secret", "name": "For bodies", "scopes": ["rows:read", "rows:write", "schema:write"],
        });
        let key = fixture.owner.post(&path, &key).await?.string_at("/secret")?;
        Ok(Self {
            visitor: fixture.owner.signed_out(),
            owner: fixture.owner.clone(),
            server: fixture.owner.with_bearer(&key),
        })
    }

    /// Returns a client for an operation; for sign-in one without a session, because signing in would end it.
    pub(super) fn for_operation(&self, operation: &Operation) -> &Client {
        match &operation.callers {
            callers if callers.public => &self.visitor,
            callers if callers.project_key => &self.server,
            _ => &self.owner,
        }
    }
}

/// True for operations of passkeys, which need a host name that the test's server does not have.
fn is_unavailable(operation: &Operation, reply: &Reply) -> bool {
    operation.path.contains("/passkeys/") && reply.status == 503
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn valid_bodies_are_accepted(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let callers = TestClients::create(&fixture).await?;
        fixture
            .check_each_operation(
                |operation| operation.body.is_some(),
                async |operation, path| {
                    let reply = operation.send(callers.for_operation(operation), &path).await?;
                    if is_unavailable(operation, &reply) {
                        return Ok(());
                    }
                    let message = error_message(&reply);
                    let status = reply.status.as_u16();
                    ensure!(status < 500 && status != 415, "{status} {message}");
                    ensure!(status != 401 || operation.callers.public, "{status} {message}");
                    let parse_errors = [
                        "does not fit",
                        "does not match the schema",
                        "is not valid JSON",
                        "unknown field",
                        "must be a JSON object",
                    ];
                    ensure!(!parse_errors.iter().any(|text| message.contains(text)), "{status} {message}");
                    Ok(())
                },
            )
            .await
    }

    async fn arrays_are_not_accepted_as_objects(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let callers = TestClients::create(&fixture).await?;
        let document: Value = server.client().get("/openapi.json").await?.json()?;
        fixture
            .check_each_operation(
                |operation| operation.body.is_some(),
                async |operation, path| {
                    let method = operation.method.as_str().to_lowercase();
                    let described = &document["paths"][&operation.path][&method]["requestBody"]["content"];
                    let body = operation.body.as_ref().context("no body")?;
                    let mut pointers = Vec::new();
                    find_objects(&document, &described["application/json"]["schema"], body, "", &mut pointers);
                    for pointer in &pointers {
                        let Some(changed) = object_as_array(body, pointer) else { continue };
                        let request = callers.for_operation(operation).request(operation.method.clone(), &path);
                        let reply = request.json(&changed)?.send().await?;
                        if is_unavailable(operation, &reply) {
                            return Ok(());
                        }
                        // Some routes look the id up before they read the body.
                        let refused = matches!(reply.status.as_u16(), 400 | 401 | 403 | 404 | 409);
                        ensure!(refused, "the response to an array at {pointer:?} is {}: {changed}", reply.status);
                        ensure!(reply.status != 409 || operation.path.contains("accept"), "{changed} was accepted");
                    }
                    Ok(())
                },
            )
            .await
    }
}

#[test]
fn objects_with_described_members_are_found() {
    let document = serde_json::json!({"components": {"schemas": {
        "Outer": {"type": "object", "properties": {"inner": {"$ref": "#/components/schemas/Inner"},
            "list": {"type": "array", "items": {"$ref": "#/components/schemas/Inner"}}, "any": {}, "free": {"type": "object"}}},
        "Inner": {"oneOf": [{"type": "null"}, {"type": "object", "properties": {"n": {"type": "integer"}}}]},
    }}});
    let schema = serde_json::json!({"$ref": "#/components/schemas/Outer"});
    let body =
        serde_json::json!({"inner": {"n": 1}, "list": [{"n": 2}], "any": {"a": {}}, "free": {"b": {}}});
    let mut found = Vec::new();
    find_objects(&document, &schema, &body, "", &mut found);
    assert_eq!(found, ["", "/inner", "/list/0"]);
    assert_eq!(object_as_array(&body, "/inner").unwrap()["inner"], serde_json::json!([1]));
}
