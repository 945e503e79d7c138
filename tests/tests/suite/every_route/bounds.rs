//! Bounds of requests: a value at a described bound is accepted, and one beyond it is rejected. Bounds are sizes,
//! numbers, patterns, formats and choices, in bodies, queries and paths.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, ensure};
use http::Method;
use serde_json::{Value, json};
use tests::{Client, Reply};

use self::edges::{Bound, collect_bounds, with_value_at};
use super::{Fixture, Operation, bodies::TestClients};

mod edges;

/// Members with rules besides their bounds, which generated values do not satisfy. A value at the bound is rejected by
/// the other rule, whose message is given here; a value beyond the bound is rejected as everywhere.
const OTHER_RULES: [(&str, &str); 42] = [
    ("/draft/invoke /request/method", "in capital letters"),
    ("/draft/invoke /request/path", "must begin with /"),
    ("/apps /templateId", "is given by the template"),
    ("/v1/apps/{id}/access /people", "names a person twice"),
    ("/trigger/", "`trigger."),
    ("/agent-tool /inputSchema/required", "must be a list of different names"),
    ("/gates /host", "`host` is"),
    ("/secrets/{name} /hosts", "`hosts[0]` is"),
    ("/connectors/-/", "must be a path of at most"),
    ("/baseUrl", "`baseUrl` is not a URL"),
    ("/pathPrefix", "`pathPrefix` must begin with /"),
    ("/testPath", "`testPath` must begin with /"),
    ("/auth/", "`auth.tokenUrl` is not a URL"),
    ("/auth/", "`secret`"),
    ("/form/redirect", "`form.redirect` must be"),
    ("/form/allowedSites", "`form.allowedSites` must"),
    ("/settings /allowedOrigins", "must list origins"),
    ("/settings /publicReadTables", "names a table that does not exist"),
    ("/settings /identity/", "`identity"),
    ("/access /people/", "names someone who is not a member"),
    ("/manifest/permissions/", "is not a project of this workspace"),
    ("/indexes /columns", "has no column"),
    ("/policy /rules/-/where/", "conditions nest"),
    ("/policy /rules/", "has no column"),
    ("/policy/test /filter", "expected an operator"),
    ("/rest/_batch /operations/-/id", "an insert takes the id in its row"),
    ("/rest/_batch /operations/-/query", "expected an operator"),
    ("/invites /emails/", "must be an e-mail address"),
    ("/policy /sentences", "the sentence is not a rule"),
    ("/rest/_batch /operations", "requires a body"),
    ("/imports /source", "`source` is not JSON"),
    ("/imports/analyze /source", "`source` is not JSON"),
    ("/enable /skip", "`skip` names an item"),
    ("/v1/workspaces /timezone", "must be an IANA time zone"),
    ("/v1/workspaces/{ws} /timezone", "must be an IANA time zone"),
    ("/v1/workspaces/{ws} /confirmName", "must be the exact name of the workspace"),
    ("/v1/backend/projects/{projectId} /confirmName", "must be the exact name of the project"),
    ("/transfer-ownership /confirmName", "must be the exact name of the workspace"),
    ("/v1/auth/dev-login /email", "must be an e-mail address"),
    ("/v1/auth/email/start /email", "must be an e-mail address"),
    ("/v1/auth/email/verify /email", "must be an e-mail address"),
    ("/join-domain /domain", "must be a domain name"),
];

/// Operations that check something else before the values of the body: whether a resource exists, or a code in the
/// body. The tests of their subjects check their bounds.
const VALIDATED_AFTER_LOOKUP: [&str; 9] = [
    "/v1/auth/email/link",
    "/v1/auth/email/verify",
    "/v1/auth/passkeys/register/finish",
    "/v1/auth/passkeys/sign-in/finish",
    "/v1/auth/passkeys/step-up/finish",
    "/v1/cli/device/{userCode}/approve",
    "/v1/oauth/authorizations/{id}/decision",
    "/v1/workspaces/{ws}/connections/{id}",
    "/v1/workspaces/{ws}/connectors/{connectorId}/authorize",
];

fn error_message(reply: &Reply) -> String {
    reply.json::<Value>().map_or_else(|_| reply.to_string(), |body| body["error"]["message"].to_string())
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn the_server_enforces_the_described_bounds(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let document: Value = server.client().get("/openapi.json").await?.json()?;
        let callers = TestClients::create(&fixture).await?;
        let (mut failures, mut checked) = (Vec::new(), 0);
        let mut exceptions = BTreeSet::new();
        let mut operations: Vec<_> = fixture.operations.iter().collect();
        // Settings come last, because settings at their bounds make a project almost unusable.
        operations.sort_by_key(|operation| operation.path.ends_with("/settings"));
        for operation in operations {
            let path = fixture.path_parameters.path(&operation.path)?;
            let operation = &with_existing_ids(&fixture, operation)?;
            for (bound, within, beyond) in bound_requests(&document, operation, &path)? {
                let caller = callers.for_operation(operation);
                checked += 1;
                if let Err(failure) = check_bound(caller, operation, &bound, (within.as_ref(), beyond.as_ref()), &mut exceptions).await {
                    failures.push(format!("{operation} {}: {}: {failure:#}", bound.pointer, bound.keyword));
                }
            }
        }
        let elsewhere = VALIDATED_AFTER_LOOKUP.map(|path| (path, ""));
        let unneeded = OTHER_RULES.into_iter().chain(elsewhere).filter(|known| !exceptions.contains(known));
        failures.extend(unneeded.map(|known| format!("{known:?}: unneeded exception")));
        ensure!(checked > 450, "only {checked} bounds were checked");
        ensure!(failures.is_empty(), "{} of {checked} bounds:\n{}", failures.len(), failures.join("\n"));
        Ok(())
    }
}

/// Returns the operation with a body that names existing resources, if the minimal valid body does not.
fn with_existing_ids(fixture: &Fixture, operation: &Operation) -> Result<Operation> {
    let mut body = operation.body.clone();
    let mut set = |name: &str, value: Value| {
        if let Some(Value::Object(members)) = &mut body {
            members.insert(name.to_owned(), value);
        }
    };
    match operation.path.as_str() {
        "/v1/workspaces/{ws}/automations" => {
            set("appId", fixture.workspace.sample_app.clone().into());
            set("trigger", json!({"type": "manual"}));
        }
        "/v1/automations/{id}/webhook" if operation.method == Method::PUT => {
            set("mode", "form".into());
            set("confirm", true.into());
        }
        // The import of the fixture needs no connection.
        "/v1/imports/{id}/enable" => body = Some(json!({})),
        // Each handler has an argument of its own.
        "/v1/apps/{id}/draft/invoke" => body = Some(json!({"handler": "fetch"})),
        // It accepts rules or sentences, but not both.
        "/v1/backend/projects/{projectId}/tables/{table}/policy" => body = Some(json!({})),
        _ => {}
    }
    Ok(Operation {
        method: operation.method.clone(),
        path: operation.path.clone(),
        callers: super::Callers::parse(&json!(operation.callers.names()))?,
        right: operation.right.clone(),
        body,
    })
}

/// Checks that the value at the bound is accepted and the one beyond it rejected.
async fn check_bound(
    caller: &Client,
    operation: &Operation,
    bound: &Bound,
    (within, beyond): (Option<&PreparedRequest>, Option<&PreparedRequest>),
    exceptions: &mut BTreeSet<(&'static str, &'static str)>,
) -> Result<()> {
    let mut is_accepted = false;
    if let Some(within) = within {
        let reply = send(caller, operation, within).await?;
        is_accepted = reply.status.is_success();
        if reply.status == 400 {
            let at = format!("{} {}", operation.path, bound.pointer);
            let message = error_message(&reply);
            let other =
                OTHER_RULES.iter().find(|(member, rule)| at.contains(member) && message.contains(rule));
            exceptions
                .insert(*other.with_context(|| format!("the value at the bound is rejected: {message}"))?);
        }
    }
    let Some(beyond) = beyond else { return Ok(()) };
    let reply = send(caller, operation, beyond).await?;
    // A range of rows that cannot exist is not satisfiable, and an invalid id is not found.
    let refused = match reply.status.as_u16() {
        400 => true,
        416 => operation.path.contains("{table}"),
        404 => operation.path.contains(&format!("{{{}}}", bound.pointer)),
        _ => false,
    };
    let elsewhere = VALIDATED_AFTER_LOOKUP.iter().find(|path| **path == operation.path);
    if let Some(path) = elsewhere.filter(|_| !refused && !is_accepted) {
        exceptions.insert((path, ""));
        return Ok(());
    }
    ensure!(refused, "the response to the value beyond it is {}: {}", reply.status, error_message(&reply));
    Ok(())
}

/// A bound, with a request at it and one beyond it, if there are such.
type BoundRequests = (Bound, Option<PreparedRequest>, Option<PreparedRequest>);

/// Returns a request at the bound and one beyond it for each bound of an operation.
fn bound_requests(document: &Value, operation: &Operation, path: &str) -> Result<Vec<BoundRequests>> {
    let method = operation.method.as_str().to_lowercase();
    let described = &document["paths"][&operation.path][&method];
    let mut all = Vec::new();
    for parameter in described["parameters"].as_array().into_iter().flatten() {
        let name = parameter["name"].as_str().context("no name")?;
        let mut found = Vec::new();
        collect_bounds(document, &parameter["schema"], "", &mut found);
        for mut bound in found {
            // The query of the data API has its own grammar.
            if bound.keyword.starts_with("no ") {
                continue;
            }
            name.clone_into(&mut bound.pointer);
            let sent = |value: &Option<Value>| {
                let value = value.as_ref()?;
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                let text: String = url::form_urlencoded::byte_serialize(text.as_bytes()).collect();
                let path = match parameter["in"].as_str() {
                    Some("query") => Some(format!("{path}?{}{name}={text}", required_query(operation))),
                    Some("path") => {
                        Some(replace_path_parameter(&operation.path, path, name, &text.replace('+', "%20")))
                    }
                    _ => None,
                };
                path.map(|path| PreparedRequest { path, body: operation.body.clone() })
            };
            let beyond = sent(&bound.beyond);
            // Existing ids are within the bounds, and other tests use them.
            let within = sent(&bound.within).filter(|_| parameter["in"] == "query");
            all.push((bound, within, beyond));
        }
    }
    let schema = &described["requestBody"]["content"]["application/json"]["schema"];
    let mut found = Vec::new();
    if let Some(body) = &operation.body {
        collect_bounds(document, schema, "", &mut found);
        for bound in found {
            let sent = |value: &Option<Value>| {
                let body = with_value_at(document, schema, body, &bound.pointer, value.as_ref()?);
                Some(PreparedRequest { path: path.to_owned(), body: Some(body) })
            };
            let (within, beyond) = (sent(&bound.within), sent(&bound.beyond));
            all.push((bound, within, beyond));
        }
    }
    Ok(all)
}

/// Returns the path with another value of one parameter.
fn replace_path_parameter(template: &str, path: &str, name: &str, value: &str) -> String {
    let parameter = format!("{{{name}}}");
    let parts = template.split('/').zip(path.split('/'));
    parts.map(|(part, filled)| if part == parameter { value } else { filled }).collect::<Vec<_>>().join("/")
}

/// Returns the query that an operation needs besides the tested parameter: changes of rows need a filter and an order.
fn required_query(operation: &Operation) -> &'static str {
    let rows = operation.path.ends_with("/rest/{table}");
    if rows && operation.method != Method::GET { "id=eq.nothing&order=id&" } else { "" }
}

#[derive(Debug)]
struct PreparedRequest {
    path: String,
    body: Option<Value>,
}

async fn send(caller: &Client, operation: &Operation, sent: &PreparedRequest) -> Result<Reply> {
    let request = caller
        .request(operation.method.clone(), &sent.path)
        .header(http::header::ORIGIN, caller.base_url())?;
    match &sent.body {
        Some(body) => request.json(body)?.send().await,
        None => request.send().await,
    }
}
