//! The bodies of the description, sent: what it calls valid is read, and an array is never read as an object.

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tests::{Client, Reply};

use super::{Operation, Stage};

/// Follows references.
fn resolved<'d>(document: &'d Value, schema: &'d Value) -> &'d Value {
    let target = schema["$ref"].as_str().and_then(|reference| document.pointer(reference.strip_prefix('#')?));
    target.map_or(schema, |target| resolved(document, target))
}

/// Where `value` holds objects that the description gives members to: there an array must not do.
fn objects(document: &Value, schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    let schema = resolved(document, schema);
    for choices in ["oneOf", "anyOf", "allOf"] {
        let choices = schema[choices].as_array().into_iter().flatten().collect::<Vec<_>>();
        // Where an array is one of the choices it is meant.
        if choices.iter().all(|choice| resolved(document, choice)["type"] != "array") {
            choices.iter().for_each(|choice| objects(document, choice, value, at, found));
        }
    }
    match value {
        Value::Object(members) if schema["properties"].is_object() => {
            if !found.iter().any(|known| known == at) {
                found.push(at.to_owned());
            }
            for (name, member) in members {
                objects(document, &schema["properties"][name], member, &format!("{at}/{name}"), found);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                objects(document, &schema["items"], item, &format!("{at}/{index}"), found);
            }
        }
        _ => {}
    }
}

/// The body with the members of the object at `pointer` as an array.
fn by_position(body: &Value, pointer: &str) -> Option<Value> {
    let mut body = body.clone();
    let object = body.pointer_mut(pointer)?;
    *object = object.as_object()?.values().cloned().collect();
    Some(body)
}

fn message(reply: &Reply) -> String {
    reply.json::<Value>().map_or_else(|_| reply.to_string(), |body| body["error"]["message"].to_string())
}

/// Those who call the operations of a stage.
pub(super) struct Callers {
    visitor: Client,
    owner: Client,
    server: Client,
}

impl Callers {
    pub(super) async fn of(stage: &Stage) -> Result<Self> {
        let path = stage.things.path("/v1/backend/projects/{projectId}")? + "/keys";
        let key = serde_json::json!({
            "kind": "secret", "name": "For bodies", "scopes": ["rows:read", "rows:write", "schema:write"],
        });
        let key = stage.owner.post(&path, &key).await?.string("/secret")?;
        Ok(Self {
            visitor: stage.owner.signed_out(),
            owner: stage.owner.clone(),
            server: stage.owner.with_bearer(&key),
        })
    }

    /// Signing in with a session would end it.
    pub(super) fn one(&self, operation: &Operation) -> &Client {
        match &operation.callers {
            callers if callers.public => &self.visitor,
            callers if callers.project_key => &self.server,
            _ => &self.owner,
        }
    }
}

/// Passkeys need a console at a host name, which a test's server does not have.
fn is_off(operation: &Operation, reply: &Reply) -> bool {
    operation.path.contains("/passkeys/") && reply.status == 503
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn bodies_that_are_called_valid_are_read(server: Server) -> Result<()> {
        let stage = Stage::set(&server).await?;
        let callers = Callers::of(&stage).await?;
        stage
            .each(
                |operation| operation.body.is_some(),
                async |operation, path| {
                    let reply = operation.ask(callers.one(operation), &path).await?;
                    if is_off(operation, &reply) {
                        return Ok(());
                    }
                    let said = message(&reply);
                    let status = reply.status.as_u16();
                    ensure!(status < 500 && status != 415, "{status} {said}");
                    ensure!(status != 401 || operation.callers.public, "{status} {said}");
                    let unread = ["does not fit", "is not JSON", "unknown field", "must be a JSON object"];
                    ensure!(!unread.iter().any(|words| said.contains(words)), "{status} {said}");
                    Ok(())
                },
            )
            .await
    }

    async fn no_array_is_read_as_an_object(server: Server) -> Result<()> {
        let stage = Stage::set(&server).await?;
        let callers = Callers::of(&stage).await?;
        let document: Value = server.client().get("/openapi.json").await?.json()?;
        stage
            .each(
                |operation| operation.body.is_some(),
                async |operation, path| {
                    let method = operation.method.as_str().to_lowercase();
                    let described = &document["paths"][&operation.path][&method]["requestBody"]["content"];
                    let body = operation.body.as_ref().context("a body")?;
                    let mut pointers = Vec::new();
                    objects(&document, &described["application/json"]["schema"], body, "", &mut pointers);
                    for pointer in &pointers {
                        let Some(changed) = by_position(body, pointer) else { continue };
                        let request = callers.one(operation).request(operation.method.clone(), &path);
                        let reply = request.json(&changed)?.send().await?;
                        if is_off(operation, &reply) {
                            return Ok(());
                        }
                        // Some routes know of nothing that the id names before they look at the body.
                        let refused = matches!(reply.status.as_u16(), 400 | 401 | 403 | 404 | 409);
                        ensure!(refused, "an array at {pointer:?} gave {}: {changed}", reply.status);
                        ensure!(reply.status != 409 || operation.path.contains("accept"), "{changed} was read");
                    }
                    Ok(())
                },
            )
            .await
    }
}

#[test]
fn objects_are_found_where_the_description_has_members() {
    let document = serde_json::json!({"components": {"schemas": {
        "Outer": {"type": "object", "properties": {"inner": {"$ref": "#/components/schemas/Inner"},
            "list": {"type": "array", "items": {"$ref": "#/components/schemas/Inner"}}, "any": {}, "free": {"type": "object"}}},
        "Inner": {"oneOf": [{"type": "null"}, {"type": "object", "properties": {"n": {"type": "integer"}}}]},
    }}});
    let schema = serde_json::json!({"$ref": "#/components/schemas/Outer"});
    let body =
        serde_json::json!({"inner": {"n": 1}, "list": [{"n": 2}], "any": {"a": {}}, "free": {"b": {}}});
    let mut found = Vec::new();
    objects(&document, &schema, &body, "", &mut found);
    assert_eq!(found, ["", "/inner", "/list/0"]);
    assert_eq!(by_position(&body, "/inner").unwrap()["inner"], serde_json::json!([1]));
}
