//! The description of the API (OpenAPI 3.1), assembled from the operations.

mod conditional;
#[cfg(test)]
mod enum_names;
mod errors;
#[cfg(test)]
mod lists;
mod rows;
mod shapes;
mod variants;

pub(crate) use shapes::RowOrRows;

use std::collections::BTreeMap;

use kernel::caller::Scope;
use utoipa::{
    PartialSchema as _, ToSchema as _,
    openapi::{
        Components, ContentBuilder, Info, License, OpenApi, Ref, RefOr, Response, ResponseBuilder, Schema,
        ServerBuilder, Tag,
        path::{Operation, PathItem},
        security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme},
        tag::TagBuilder,
    },
};

use self::errors::Errors;
use crate::http::{
    conditional::IF_MATCH,
    error::{DataErrorEnvelope, DataErrorMembers, ErrorBody, ErrorEnvelope},
};

/// Groups of operations, with their descriptions.
const TAGS: [(&str, &str); 22] = [
    ("workspaces", "Workspaces: create one, list yours, switch between them."),
    ("apps", "Apps: source, manifest, versions, sharing."),
    ("automations", "Automations start an app: by webhook, schedule, event, form or by hand."),
    ("webhooks", "Webhooks: settings and secrets of a webhook, and the address that senders call."),
    ("runs", "Runs, their logs, approvals and explanations; dead letters."),
    ("events", "A live stream of the events of a workspace."),
    ("agent-tools", "The feed of events that agents poll."),
    ("connections", "Connections: services with stored credentials, and the catalogue of connectors."),
    ("imports", "Imports: workflows of n8n, Make and Node-RED as apps."),
    ("secrets", "Secrets of apps: keys and credentials that belong to no connection."),
    ("gates", "Gates: the hosts that apps of a workspace may reach."),
    ("observability", "Logs of apps, and what people are told of alerts."),
    ("backend-console", "Backend projects: tables, keys and policies, for people who manage them."),
    ("backend-data", "Rows and schema of a backend project, for servers and browsers with a project key."),
    ("session", "Sign-in and sessions of the console."),
    ("passkeys", "Passkeys: register, sign in, step up."),
    ("people", "Members of a workspace, their roles, join domains, the audit log."),
    ("invites", "Invites into a workspace."),
    ("tokens", "Personal access tokens."),
    ("oauth", "Agent clients: the consent of a person, tokens, and the grants of a workspace."),
    ("device-login", "Sign-in of command lines and other programs without a browser."),
    ("health", "Liveness and readiness."),
];

/// Returns the part of the description that does not depend on operations.
pub(crate) fn base() -> OpenApi {
    let mut info = Info::new("Qala", env!("CARGO_PKG_VERSION"));
    info.description = Some(
        "A control plane: apps and automations, webhooks, runs, backend data. Every error has the body \
         `ErrorEnvelope`. `x-qala-callers` lists who may call an operation (C: a person signed in to the console, \
         T:read and T:write: a token with that scope, T:any: any token, K: a project key, P: anybody) and \
         `x-qala-right` is the right it needs. With the header `Qala-View-As` (builder, member or viewer), a read by a \
         person in the console returns what somebody with that role sees; it never shows more."
            .to_owned(),
    );
    info.license = Some(License::new("Apache-2.0"));
    let mut openapi = OpenApi::new(info, utoipa::openapi::Paths::new());
    openapi.servers = Some(vec![ServerBuilder::new().url("/").build()]);
    openapi
}

/// Adds security and errors to each operation, as they follow from its callers.
pub(crate) fn finish(mut openapi: OpenApi) -> OpenApi {
    for (path, item) in &mut openapi.paths.paths {
        for (method, operation) in operations(item) {
            add_security_and_errors(path, method, operation);
            conditional::describe(method, operation);
            rows::describe(path, operation);
        }
    }
    let components = openapi.components.get_or_insert_with(Components::new);
    let (paths, schemas) = (&mut openapi.paths.paths, &components.schemas);
    for (_, operation) in paths.values_mut().flat_map(operations) {
        describe_responses(operation, schemas);
    }
    openapi.tags = Some(TAGS.iter().map(|(name, description)| tag(name, description)).collect());
    for (name, schema) in [
        (ErrorEnvelope::name(), ErrorEnvelope::schema()),
        (ErrorBody::name(), ErrorBody::schema()),
        (DataErrorEnvelope::name(), DataErrorEnvelope::schema()),
        (DataErrorMembers::name(), DataErrorMembers::schema()),
        (kernel::id::RequestId::name(), kernel::id::RequestId::schema()),
    ] {
        components.schemas.insert(name.into_owned(), schema);
    }
    errors::describe(components);
    variants::name_variants(&mut components.schemas);
    let cookie = SecurityScheme::ApiKey(ApiKey::Cookie(ApiKeyValue::new("__Host-qala_session")));
    let bearer = |format: &str| {
        SecurityScheme::Http(HttpBuilder::new().scheme(HttpAuthScheme::Bearer).bearer_format(format).build())
    };
    components.add_security_scheme("session", cookie);
    components.add_security_scheme("token", bearer("qat_…"));
    components.add_security_scheme("projectKey", bearer("qk_pub_… or qk_sec_…"));
    openapi
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = (&'static str, &mut Operation)> {
    [
        ("GET", item.get.as_mut()),
        ("PUT", item.put.as_mut()),
        ("POST", item.post.as_mut()),
        ("PATCH", item.patch.as_mut()),
        ("DELETE", item.delete.as_mut()),
    ]
    .into_iter()
    .filter_map(|(method, operation)| Some((method, operation?)))
}

fn add_security_and_errors(path: &str, method: &str, operation: &mut Operation) {
    let callers: Vec<String> = operation
        .extensions
        .as_ref()
        .and_then(|extensions| extensions.get("x-qala-callers"))
        .and_then(|callers| serde_json::from_value(callers.clone()).ok())
        .unwrap_or_default();
    let by = |code: &str| callers.iter().any(|caller| caller == code);
    let token = callers.iter().any(|caller| caller.starts_with("T:"));

    let mut security = Vec::new();
    if by("C") {
        security.push(SecurityRequirement::new("session", Vec::<String>::new()));
    }
    if token {
        let scopes = [Scope::Read, Scope::Write].iter().map(|scope| format!("{scope:?}").to_lowercase());
        let scopes: Vec<String> = scopes.filter(|scope| by(&format!("T:{scope}"))).collect();
        security.push(SecurityRequirement::new("token", scopes));
    }
    if by("K") {
        security.push(SecurityRequirement::new("projectKey", Vec::<String>::new()));
    }
    operation.security = Some(security);

    let errors = Errors {
        takes_input: method != "GET" || path.contains('{') || operation.parameters.is_some(),
        requires_credential: !by("P") && !callers.is_empty(),
        names_object: path.contains('{'),
        changes: method != "GET",
        has_body: operation.request_body.is_some(),
        has_precondition: conditional::takes(operation, IF_MATCH),
        is_limited: path.starts_with("/v1"),
        is_data: by("K"),
    };
    for (status, response) in errors.responses() {
        operation.responses.responses.entry(status.to_owned()).or_insert(response);
    }
}

/// Returns a response with the named error envelope.
pub(crate) fn error_response(description: &str, envelope: &str) -> Response {
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name(envelope))).build();
    ResponseBuilder::new().description(description).content("application/json", content).build()
}

/// Gives each response without a description the first line of its body's description. OpenAPI 3.1 requires a
/// description.
fn describe_responses(operation: &mut Operation, schemas: &BTreeMap<String, RefOr<Schema>>) {
    for response in operation.responses.responses.values_mut() {
        let RefOr::T(response) = response else { continue };
        if response.description.is_empty() {
            let body = response.content.values().find_map(|content| match content {
                RefOr::T(content) => content.schema.as_ref(),
                RefOr::Ref(_) => None,
            });
            let described = body.and_then(|body| first_line(body, schemas));
            response.description = described.unwrap_or_else(|| "The request succeeded.".to_owned());
        }
    }
}

/// Returns the first line of the description of the component that `schema` refers to.
fn first_line(schema: &RefOr<Schema>, schemas: &BTreeMap<String, RefOr<Schema>>) -> Option<String> {
    let RefOr::Ref(reference) = schema else { return None };
    let name = reference.ref_location.strip_prefix("#/components/schemas/")?;
    let described = serde_json::to_value(schemas.get(name)?).ok()?;
    described["description"].as_str()?.lines().next().map(str::to_owned)
}

fn tag(name: &str, description: &str) -> Tag {
    TagBuilder::new().name(name).description(Some(description)).build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document;

    /// Verbs of operation ids. Add new ones, but no synonyms of these.
    const VERBS: [&str; 55] = [
        "accept",
        "add",
        "analyze",
        "approve",
        "ask",
        "batch",
        "cancel",
        "change",
        "check",
        "compare",
        "configure",
        "count",
        "create",
        "decide",
        "delete",
        "deny",
        "discard",
        "disconnect",
        "drop",
        "enable",
        "end",
        "explain",
        "export",
        "finish",
        "follow",
        "forward",
        "import",
        "insert",
        "invoke",
        "join",
        "list",
        "mark",
        "plan",
        "poll",
        "put",
        "read",
        "receive",
        "remove",
        "rename",
        "replay",
        "resend",
        "restore",
        "revoke",
        "roll",
        "rotate",
        "search",
        "set",
        "settle",
        "sign",
        "start",
        "switch",
        "test",
        "transfer",
        "update",
        "verify",
    ];

    #[test]
    fn operation_ids_are_a_verb_and_a_noun() {
        for item in document().paths.paths.values_mut() {
            for (_, operation) in operations(item) {
                let id = operation.operation_id.clone().unwrap_or_default();
                let (verb, noun) = id.split_once('_').unwrap_or_default();
                assert!(VERBS.contains(&verb) && !noun.is_empty(), "{id} is not a verb and a noun");
                assert!(id.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{id}");
            }
        }
    }

    #[test]
    fn every_operation_has_callers_a_right_a_summary_and_a_unique_id() {
        let mut openapi = document();
        let mut seen = std::collections::BTreeSet::new();
        for (path, item) in &mut openapi.paths.paths {
            for (method, operation) in operations(item) {
                let extensions = operation.extensions.clone().unwrap_or_default();
                assert!(
                    extensions.contains_key("x-qala-callers"),
                    "{method} {path} was registered without access"
                );
                assert!(extensions.contains_key("x-qala-right"), "{method} {path}");
                assert!(operation.summary.is_some(), "{method} {path} has no summary");
                let id = operation.operation_id.clone().unwrap_or_default();
                assert!(seen.insert(id.clone()), "the operation id {id} is used twice");
            }
        }
        assert!(seen.len() > 40, "only {} operations", seen.len());
    }
}
