//! Every route of the API description, called by callers that must be rejected.
//!
//! The routes come from the server's own `/openapi.json`, so no new route is missed: a path parameter that
//! [`PathParameters`] does not know, or an operation that does not say who may call it, fails the test.

use std::{collections::BTreeMap, fmt};

use anyhow::{Context as _, Result, bail};
use http::Method;
use serde_json::{Value, json};
use tests::{Client, Reply, Server, Workspace, schema_example};

mod bodies;
mod bounds;
mod conditional;
mod examples;
mod role_matrix;
mod view_as;

const METHODS: [Method; 5] = [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];

/// Suffix of a well-formed id of nothing: 26 characters of zeros, except for the version of the UUID.
const UNKNOWN_ID_SUFFIX: &str = "00000000000e00800000000000";

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn a_visitor_is_asked_to_sign_in(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let visitor = server.client();
        fixture
            .check_each_operation(
                |operation| !operation.callers.public,
                async |operation, path| {
                    operation.send(&visitor, &path).await?.check_error(401, Some("unauthorized"))
                },
            )
            .await
    }

    async fn a_token_stays_out_of_the_console(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let token = fixture.token(&["read", "write"]).await?;
        fixture
            .check_each_operation(
                |operation| operation.callers.is_console_only(),
                async |operation, path| {
                    operation.send(&token, &path).await?.check_error(403, Some("console_only"))
                },
            )
            .await
    }

    async fn a_read_token_does_not_write(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let token = fixture.token(&["read"]).await?;
        fixture
            .check_each_operation(
                |operation| operation.callers.token_write,
                async |operation, path| {
                    operation.send(&token, &path).await?.check_error(403, Some("insufficient_scope"))
                },
            )
            .await
    }

    async fn members_of_another_workspace_see_nothing(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let outsider = server.sign_in("outsider@example.test").await?;
        outsider.create_workspace("Elsewhere").await?;
        fixture
            .check_each_operation(Operation::is_console_resource, async |operation, path| {
                operation.send(&outsider, &path).await?.check_error(404, None)
            })
            .await
    }

    async fn a_token_of_another_workspace_sees_nothing(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let outsider = server.sign_in("outsider@example.test").await?;
        let elsewhere = outsider.create_workspace("Elsewhere").await?;
        let token = outsider.with_bearer(&outsider.create_token(&elsewhere.id, &["read", "write"]).await?);
        let is_selected = |operation: &Operation| {
            operation.is_console_resource()
                && (operation.callers.token_read || operation.callers.token_write)
        };
        fixture
            .check_each_operation(is_selected, async |operation, path| {
                operation.send(&token, &path).await?.check_error(404, None)
            })
            .await
    }

    async fn an_unknown_id_is_not_found(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let is_selected = |operation: &Operation| {
            let is_created = CREATED_BY_NAME.contains(&operation.path.as_str()) && operation.method == Method::PUT;
            operation.is_console_resource() && !is_created
        };
        fixture
            .check_each_operation(is_selected, async |operation, _| {
                let path = fixture.path_parameters.path_to_unknown(&operation.path)?;
                operation.send(&fixture.owner, &path).await?.check_error(404, None)
            })
            .await
    }
}

/// Objects that PUT creates: their names are the caller's.
const CREATED_BY_NAME: [&str; 1] = ["/v1/apps/{id}/secrets/{name}"];

/// A person with a workspace and one resource of each kind, and the routes to call on them.
struct Fixture {
    operations: Vec<Operation>,
    owner: Client,
    workspace: Workspace,
    path_parameters: PathParameters,
}

impl Fixture {
    async fn create(server: &Server) -> Result<Self> {
        Self::create_for(server, "owner").await
    }

    /// Creates a fixture whose owner has this name.
    async fn create_for(server: &Server, name: &str) -> Result<Self> {
        let operations = parse_operations(&server.client().get("/openapi.json").await?.ok()?)?;
        let owner = server.sign_in(&format!("{name}@example.test")).await?;
        let workspace = owner.create_workspace("Home").await?;
        let path_parameters = PathParameters::create(&owner, &workspace).await?;
        Ok(Self { operations, owner, workspace, path_parameters })
    }

    async fn token(&self, scopes: &[&str]) -> Result<Client> {
        Ok(self.owner.with_bearer(&self.owner.create_token(&self.workspace.id, scopes).await?))
    }

    /// Calls all operations in turn, and reports all that differ from the expected result.
    async fn check_each_operation(
        &self,
        is_selected: impl Fn(&Operation) -> bool,
        check: impl AsyncFn(&Operation, String) -> Result<()>,
    ) -> Result<()> {
        let mut checked = 0;
        let mut failures = Vec::new();
        for operation in self.operations.iter().filter(|operation| is_selected(operation)) {
            let outcome = match self.path_parameters.path(&operation.path) {
                Ok(path) => check(operation, path).await,
                Err(unknown) => Err(unknown),
            };
            if let Err(failure) = outcome {
                failures.push(format!("{operation}: {failure:#}"));
            }
            checked += 1;
        }
        if checked == 0 {
            bail!("no operation is selected");
        }
        if !failures.is_empty() {
            bail!("{} of {checked} operations:\n{}", failures.len(), failures.join("\n"));
        }
        Ok(())
    }
}

/// A method of a path.
#[derive(Debug)]
struct Operation {
    method: Method,
    path: String,
    callers: Callers,
    /// The required right; `-` for none.
    right: String,
    /// A valid body, if the description has one.
    body: Option<Value>,
}

/// The callers of an operation, from `x-qala-callers`.
#[derive(Debug, Default, PartialEq, Eq)]
struct Callers {
    public: bool,
    console: bool,
    token_read: bool,
    token_write: bool,
    token_any: bool,
    project_key: bool,
}

impl Callers {
    fn parse(names: &Value) -> Result<Self> {
        let mut callers = Self::default();
        for name in names.as_array().context("x-qala-callers is not an array")? {
            *match name.as_str().unwrap_or_default() {
                "P" => &mut callers.public,
                "C" => &mut callers.console,
                "T:read" => &mut callers.token_read,
                "T:write" => &mut callers.token_write,
                "T:any" => &mut callers.token_any,
                "K" => &mut callers.project_key,
                _ => bail!("x-qala-callers names the unknown caller {name}"),
            } = true;
        }
        if callers == Self::default() {
            bail!("x-qala-callers is empty");
        }
        Ok(callers)
    }

    fn names(&self) -> Vec<&'static str> {
        let all = [
            (self.public, "P"),
            (self.console, "C"),
            (self.token_read, "T:read"),
            (self.token_write, "T:write"),
            (self.token_any, "T:any"),
            (self.project_key, "K"),
        ];
        all.into_iter().filter(|(taken, _)| *taken).map(|(_, name)| name).collect()
    }

    fn is_console_only(&self) -> bool {
        *self == Self { console: true, ..Self::default() }
    }
}

impl Operation {
    fn parse(document: &Value, path: &str, method: Method, described: &Value) -> Result<Self> {
        let callers = Callers::parse(&described["x-qala-callers"])?;
        let right = described["x-qala-right"].as_str().context("no x-qala-right")?.to_owned();
        let media = &described["requestBody"]["content"]["application/json"];
        let body = media.is_object().then(|| {
            examples::media_type_examples(media)
                .first()
                .map_or_else(|| schema_example(document, &media["schema"]), |it| (*it).clone())
        });
        Ok(Self { method, path: path.to_owned(), callers, right, body })
    }

    /// True if the path leads to a resource of a person or a workspace that the console reaches.
    fn is_console_resource(&self) -> bool {
        self.callers.console && !self.callers.public && self.path.contains('{')
    }

    async fn send(&self, client: &Client, path: &str) -> Result<Reply> {
        let request = client.request(self.method.clone(), path);
        match &self.body {
            Some(body) => request.json(body)?.send().await,
            None => request.send().await,
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} (right {})", self.method, self.path, self.right)
    }
}

fn parse_operations(document: &Value) -> Result<Vec<Operation>> {
    let mut operations = Vec::new();
    for (path, item) in document["paths"].as_object().context("the description has no paths")? {
        for method in METHODS {
            if let Some(described) = item.get(method.as_str().to_lowercase()) {
                let operation = Operation::parse(document, path, method.clone(), described);
                operations.push(operation.with_context(|| format!("{method} {path}"))?);
            }
        }
    }
    Ok(operations)
}

/// Returns an id that does not exist.
fn unknown_id(prefix: &str) -> String {
    format!("{prefix}_{UNKNOWN_ID_SUFFIX}")
}

/// True if the server has no such operation. No described path needs its resource then.
fn is_unknown_route(reply: &Reply) -> Result<bool> {
    Ok(reply.status == 404 && reply.json::<Value>()?["error"]["code"] == "route_not_found")
}

/// Returns the id of a created resource; an id that does not exist if the server does not have the operation.
fn created_id_or_unknown(reply: &Reply, pointer: &str, prefix: &str) -> Result<String> {
    if is_unknown_route(reply)? { Ok(unknown_id(prefix)) } else { reply.string_at(pointer) }
}

/// Creates the dead letter of a call that was refused while its webhook was off.
async fn create_dead_letter(owner: &Client, ws: &str, automation: &str) -> Result<String> {
    let settings = format!("/v1/automations/{automation}/webhook");
    let webhook = owner.rotate_webhook_secret(automation).await?;
    owner.patch(&settings, &json!({"enabled": false})).await?.ok()?;
    webhook.send(&json!({})).await?.assert_error(403, "hook_disabled");
    owner.patch(&settings, &json!({"enabled": true})).await?.ok()?;
    owner.get(&format!("/v1/workspaces/{ws}/dead-letters")).await?.string_at("/items/0/id")
}

/// Values of path parameters: ids of the owner's resources, by the path template up to and including the parameter.
struct PathParameters(BTreeMap<&'static str, String>);

impl PathParameters {
    /// Creates one resource of each kind that needs no external service. Other parameters get an id that does not
    /// exist; their routes must still reject the caller before they look it up.
    async fn create(owner: &Client, workspace: &Workspace) -> Result<Self> {
        let ws = workspace.id.as_str();
        let in_workspace = |path: &str| format!("/v1/workspaces/{ws}/{path}");
        let me = owner.get("/v1/session").await?.string_at("/user/id")?;

        let token =
            owner.post(&in_workspace("tokens"), &json!({"name": "A token", "scopes": ["read"]})).await?;
        let invites = json!({"emails": ["guest@example.test"], "role": "member", "deliver": "link"});
        let invite = owner.post(&in_workspace("invites"), &invites).await?;
        let http = json!({
            "displayName": "An API", "baseUrl": "https://api.example.test", "auth": {"type": "none"}, "methods": ["GET"],
        });
        let connection = owner.post(&in_workspace("connectors/http"), &http).await?;

        let app = workspace.sample_app.clone();
        let version = owner.get(&format!("/v1/apps/{app}")).await?.string_at("/currentVersionId")?;
        let automation = workspace.automation.clone();
        let run = owner.post(&format!("/v1/automations/{automation}/run"), &json!({})).await?;
        let dead_letter = create_dead_letter(owner, ws, &automation).await?;
        let gate = workspace.creation_response["starter"]["gateIds"][0]
            .as_str()
            .context("no gate in the sample data")?;

        let projects = owner.get(&in_workspace("backend/projects")).await?;
        let project = created_id_or_unknown(&projects, "/items/0/id", "proj")?;
        let in_project = |path: &str| format!("/v1/backend/projects/{project}/{path}");
        let key = json!({"kind": "secret", "name": "A key", "scopes": ["rows:read"]});
        let key = created_id_or_unknown(&owner.post(&in_project("keys"), &key).await?, "/key/id", "pkey")?;
        if !is_unknown_route(&projects)? {
            let columns = json!([{"name": "title", "type": "text"}]);
            owner.post(&in_project("tables"), &json!({"name": "things", "columns": columns})).await?.ok()?;
            let row = json!({"id": "first", "title": "The first"});
            owner.post(&in_project("tables/things/rows"), &row).await?.ok()?;
        }

        let secret = "SIGNING_KEY";
        owner.put(&format!("/v1/apps/{app}/secrets/{secret}"), &json!({"value": "example-secret"})).await?;

        let draft = json!({"files": {"main.js": "export default { fetch: () => new Response() }"}});
        owner.put(&format!("/v1/apps/{app}/draft"), &draft).await?;
        let instruction = json!({"instruction": "Each run saves 5 minutes."});
        let change = owner.post(&format!("/v1/apps/{app}/changes"), &instruction).await?;

        let source =
            json!({"nodes": [{"name": "Start", "type": "n8n-nodes-base.manualTrigger"}], "connections": {}});
        let import = json!({"source": source.to_string(), "name": "A workflow"});
        let import = owner.post(&in_workspace("imports"), &import).await?;

        let table = || "things".to_owned();
        let row = || "first".to_owned();
        Ok(Self(BTreeMap::from([
            ("/v1/apps/{id}", app.clone()),
            ("/v1/apps/{id}/domains/{domainId}", unknown_id("dom")),
            ("/v1/apps/{id}/secrets/{name}", secret.to_owned()),
            ("/v1/apps/{id}/versions/{versionId}", version),
            ("/v1/automations/{id}", automation),
            ("/v1/backend/projects/{projectId}", project.clone()),
            ("/v1/backend/projects/{projectId}/keys/{keyId}", key),
            ("/v1/backend/projects/{projectId}/tables/{table}", table()),
            ("/v1/backend/projects/{projectId}/tables/{table}/columns/{column}", "title".to_owned()),
            ("/v1/backend/projects/{projectId}/tables/{table}/indexes/{index}", "ix1".to_owned()),
            ("/v1/backend/projects/{projectId}/tables/{table}/rows/{id}", row()),
            ("/v1/changes/{changeId}", created_id_or_unknown(&change, "/changeId", "chg")?),
            ("/v1/auth/oidc/{provider}", "nobody".to_owned()),
            ("/v1/cli/device/{userCode}", "BCDF-GHJK".to_owned()),
            ("/v1/dead-letters/{id}", dead_letter),
            ("/v1/gates/{id}", gate.to_owned()),
            ("/v1/hooks/{id}", unknown_id("hook")),
            ("/v1/imports/{id}", created_id_or_unknown(&import, "/id", "imp")?),
            ("/v1/invites/{token}", unknown_id("qiv")),
            ("/v1/me/passkeys/{id}", unknown_id("pk")),
            ("/v1/me/sessions/{id}", unknown_id("ses")),
            ("/v1/oauth/authorizations/{id}", unknown_id("oaz")),
            ("/v1/projects/{projectId}", project),
            ("/v1/projects/{projectId}/rest/{table}", table()),
            ("/v1/projects/{projectId}/rest/{table}/{id}", row()),
            ("/v1/projects/{projectId}/schema/tables/{table}", table()),
            ("/v1/projects/{projectId}/schema/tables/{table}/indexes/{index}", "ix1".to_owned()),
            ("/v1/runs/{id}", run.string_at("/runId")?),
            ("/v1/workspaces/{ws}", ws.to_owned()),
            ("/v1/workspaces/{ws}/ai/apps/{appId}", app.clone()),
            ("/v1/workspaces/{ws}/ai/connections/{id}", unknown_id("mconn")),
            ("/v1/workspaces/{ws}/alerts/rules/{id}", unknown_id("rule")),
            ("/v1/workspaces/{ws}/apps/{appId}", app),
            ("/v1/workspaces/{ws}/connections/{id}", created_id_or_unknown(&connection, "/id", "conn")?),
            ("/v1/workspaces/{ws}/connectors/{connectorId}", "github".to_owned()),
            ("/v1/workspaces/{ws}/invites/{inviteId}", created_id_or_unknown(&invite, "/items/0/id", "inv")?),
            ("/v1/workspaces/{ws}/members/{userId}", me.clone()),
            ("/v1/workspaces/{ws}/messenger/people/{userId}", me),
            ("/v1/workspaces/{ws}/oauth/grants/{grantId}", unknown_id("grant")),
            ("/v1/workspaces/{ws}/tokens/{tokenId}", token.string_at("/token/id")?),
        ])))
    }

    /// Returns the path with the ids of the owner's resources as parameters.
    fn path(&self, template: &str) -> Result<String> {
        self.fill_parameters(template, |_, id| id.to_owned())
    }

    /// Returns the path with the ids of the owner's resources as parameters, except the last, which does not exist.
    fn path_to_unknown(&self, template: &str) -> Result<String> {
        let last = template.rfind('}').map_or(0, |end| end + 1);
        self.fill_parameters(template, |end, id| match id.split_once('_') {
            _ if end != last => id.to_owned(),
            Some((prefix, _)) => format!("{prefix}_{UNKNOWN_ID_SUFFIX}"),
            None => "nothing".to_owned(),
        })
    }

    fn fill_parameters(&self, template: &str, value: impl Fn(usize, &str) -> String) -> Result<String> {
        let mut path = String::new();
        let mut at = 0;
        while let Some(open) = template[at..].find('{').map(|offset| at + offset) {
            let end =
                template[open..].find('}').map(|offset| open + offset + 1).context("unclosed parameter")?;
            let known = self.0.get(&template[..end]).with_context(|| {
                format!("unknown path parameter {}: add it to PathParameters::create", &template[..end])
            })?;
            path += &template[at..open];
            path += &value(end, known);
            at = end;
        }
        Ok(path + &template[at..])
    }
}

#[test]
fn paths_are_filled_by_the_template_up_to_the_parameter() {
    let path_parameters = PathParameters(BTreeMap::from([
        ("/v1/workspaces/{ws}", "ws_1".to_owned()),
        ("/v1/workspaces/{ws}/tokens/{tokenId}", "tok_1".to_owned()),
        ("/v1/tables/{table}", "things".to_owned()),
    ]));
    assert_eq!(
        path_parameters.path("/v1/workspaces/{ws}/tokens/{tokenId}").unwrap(),
        "/v1/workspaces/ws_1/tokens/tok_1"
    );
    assert_eq!(path_parameters.path("/v1/session").unwrap(), "/v1/session");
    let nothing = path_parameters.path_to_unknown("/v1/workspaces/{ws}/tokens/{tokenId}").unwrap();
    assert_eq!(nothing, format!("/v1/workspaces/ws_1/tokens/tok_{UNKNOWN_ID_SUFFIX}"));
    assert_eq!(
        path_parameters.path_to_unknown("/v1/tables/{table}/rows").unwrap(),
        "/v1/tables/nothing/rows"
    );
    let unknown = path_parameters.path("/v1/workspaces/{ws}/attics/{id}").unwrap_err().to_string();
    assert!(unknown.contains("/v1/workspaces/{ws}/attics/{id}"), "{unknown}");
}

#[test]
fn an_operation_names_its_callers() {
    let described = |operation: Value| parse_operations(&json!({"paths": {"/v1/a": {"post": operation}}}));
    let operations =
        described(json!({"x-qala-callers": ["C", "T:write"], "x-qala-right": "member"})).unwrap();
    assert!(
        operations[0].callers.console
            && operations[0].callers.token_write
            && !operations[0].callers.is_console_only()
    );
    for silent in [
        json!({"x-qala-right": "member"}),
        json!({"x-qala-callers": [], "x-qala-right": "member"}),
        json!({"x-qala-callers": ["C"]}),
        json!({"x-qala-callers": ["T"], "x-qala-right": "-"}),
    ] {
        let error = described(silent).unwrap_err();
        assert!(error.to_string().contains("POST /v1/a"), "{error:#}");
    }
}
