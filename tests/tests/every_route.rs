//! Every route of the API description, tried by those who must not pass.
//!
//! The list of routes is the server's own `/openapi.json`, so a new route cannot escape: a path parameter that
//! [`Things`] does not know, or an operation that does not say who may call it, fails the test.

use std::{collections::BTreeMap, fmt};

use anyhow::{Context as _, Result, bail};
use http::Method;
use serde_json::{Value, json};
use tests::{Client, Reply, Server, Workspace, example};

#[path = "every_route/bodies.rs"]
mod bodies;
#[path = "every_route/bounds.rs"]
mod bounds;
#[path = "every_route/examples.rs"]
mod examples;
#[path = "every_route/role_matrix.rs"]
mod role_matrix;

const METHODS: [Method; 5] = [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];

/// Well-formed and of nothing: the zero of an id's 26 characters, but for the version of the UUID within.
const NOBODY: &str = "00000000000e00800000000000";

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn a_visitor_is_asked_to_sign_in(server: Server) -> Result<()> {
        let stage = Stage::set(&server).await?;
        let visitor = server.client();
        stage
            .each(
                |operation| !operation.callers.public,
                async |operation, path| {
                    operation.ask(&visitor, &path).await?.check_problem(401, Some("unauthorized"))
                },
            )
            .await
    }

    async fn a_token_stays_out_of_the_console(server: Server) -> Result<()> {
        let stage = Stage::set(&server).await?;
        let token = stage.token(&["read", "write"]).await?;
        stage
            .each(
                |operation| operation.callers.console_only(),
                async |operation, path| {
                    operation.ask(&token, &path).await?.check_problem(403, Some("console_only"))
                },
            )
            .await
    }

    async fn a_token_for_reading_does_not_write(server: Server) -> Result<()> {
        let stage = Stage::set(&server).await?;
        let token = stage.token(&["read"]).await?;
        stage
            .each(
                |operation| operation.callers.token_write,
                async |operation, path| {
                    operation.ask(&token, &path).await?.check_problem(403, Some("insufficient_scope"))
                },
            )
            .await
    }

    async fn another_workspace_sees_nothing(server: Server) -> Result<()> {
        let stage = Stage::set(&server).await?;
        let outsider = server.sign_in("outsider@example.test").await?;
        outsider.make_workspace("Elsewhere").await?;
        stage
            .each(Operation::is_about_a_persons_thing, async |operation, path| {
                operation.ask(&outsider, &path).await?.check_problem(404, None)
            })
            .await
    }

    async fn a_token_of_another_workspace_sees_nothing(server: Server) -> Result<()> {
        let stage = Stage::set(&server).await?;
        let outsider = server.sign_in("outsider@example.test").await?;
        let elsewhere = outsider.make_workspace("Elsewhere").await?;
        let token = outsider.with_bearer(&outsider.make_token(&elsewhere.id, &["read", "write"]).await?);
        let concerns = |operation: &Operation| {
            operation.is_about_a_persons_thing()
                && (operation.callers.token_read || operation.callers.token_write)
        };
        stage
            .each(concerns, async |operation, path| {
                operation.ask(&token, &path).await?.check_problem(404, None)
            })
            .await
    }

    async fn a_made_up_id_finds_nothing(server: Server) -> Result<()> {
        let stage = Stage::set(&server).await?;
        stage
            .each(Operation::is_about_a_persons_thing, async |operation, _| {
                let path = stage.things.path_to_nothing(&operation.path)?;
                operation.ask(&stage.owner, &path).await?.check_problem(404, None)
            })
            .await
    }
}

/// A person with a workspace and one of each thing, and the routes to try on them.
struct Stage {
    operations: Vec<Operation>,
    owner: Client,
    workspace: Workspace,
    things: Things,
}

impl Stage {
    async fn set(server: &Server) -> Result<Self> {
        Self::set_for(server, "owner").await
    }

    /// A stage whose owner goes by this name.
    async fn set_for(server: &Server, name: &str) -> Result<Self> {
        let operations = read_operations(&server.client().get("/openapi.json").await?.ok()?)?;
        let owner = server.sign_in(&format!("{name}@example.test")).await?;
        let workspace = owner.make_workspace("Home").await?;
        let things = Things::make(&owner, &workspace).await?;
        Ok(Self { operations, owner, workspace, things })
    }

    async fn token(&self, scopes: &[&str]) -> Result<Client> {
        Ok(self.owner.with_bearer(&self.owner.make_token(&self.workspace.id, scopes).await?))
    }

    /// Tries an operation after the other and tells of all that went otherwise.
    async fn each(
        &self,
        concerns: impl Fn(&Operation) -> bool,
        check: impl AsyncFn(&Operation, String) -> Result<()>,
    ) -> Result<()> {
        let mut tried = 0;
        let mut surprises = Vec::new();
        for operation in self.operations.iter().filter(|operation| concerns(operation)) {
            let outcome = match self.things.path(&operation.path) {
                Ok(path) => check(operation, path).await,
                Err(unknown) => Err(unknown),
            };
            if let Err(surprise) = outcome {
                surprises.push(format!("{operation}: {surprise:#}"));
            }
            tried += 1;
        }
        if tried == 0 {
            bail!("no operation concerns this test, which cannot be");
        }
        if !surprises.is_empty() {
            bail!("{} of {tried} operations:\n{}", surprises.len(), surprises.join("\n"));
        }
        Ok(())
    }
}

/// One method of one path.
#[derive(Debug)]
struct Operation {
    method: Method,
    path: String,
    callers: Callers,
    /// The right it asks for, `-` for none.
    right: String,
    /// A body that the description calls valid, when it describes one.
    body: Option<Value>,
}

/// Who may call an operation, from `x-qala-callers`.
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
    fn read(names: &Value) -> Result<Self> {
        let mut callers = Self::default();
        for name in names.as_array().context("x-qala-callers is not an array")? {
            *match name.as_str().unwrap_or_default() {
                "P" => &mut callers.public,
                "C" => &mut callers.console,
                "T:read" => &mut callers.token_read,
                "T:write" => &mut callers.token_write,
                "T:any" => &mut callers.token_any,
                "K" => &mut callers.project_key,
                _ => bail!("x-qala-callers names {name}, which is no caller"),
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

    fn console_only(&self) -> bool {
        *self == Self { console: true, ..Self::default() }
    }
}

impl Operation {
    fn read(document: &Value, path: &str, method: Method, described: &Value) -> Result<Self> {
        let callers = Callers::read(&described["x-qala-callers"])?;
        let right = described["x-qala-right"].as_str().context("no x-qala-right")?.to_owned();
        let media = &described["requestBody"]["content"]["application/json"];
        let body = media.is_object().then(|| {
            examples::given(media)
                .first()
                .map_or_else(|| example(document, &media["schema"]), |it| (*it).clone())
        });
        Ok(Self { method, path: path.to_owned(), callers, right, body })
    }

    /// Whether the path leads to something that belongs to a person or a workspace and is reached from the console.
    fn is_about_a_persons_thing(&self) -> bool {
        self.callers.console && !self.callers.public && self.path.contains('{')
    }

    async fn ask(&self, client: &Client, path: &str) -> Result<Reply> {
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

fn read_operations(document: &Value) -> Result<Vec<Operation>> {
    let mut operations = Vec::new();
    for (path, item) in document["paths"].as_object().context("the description has no paths")? {
        for method in METHODS {
            if let Some(described) = item.get(method.as_str().to_lowercase()) {
                let operation = Operation::read(document, path, method.clone(), described);
                operations.push(operation.with_context(|| format!("{method} {path}"))?);
            }
        }
    }
    Ok(operations)
}

/// An id that nothing has.
fn nothing(prefix: &str) -> String {
    format!("{prefix}_{NOBODY}")
}

/// Whether the server has no such operation: what leads to it is then described nowhere, and needs no thing.
fn is_unknown_route(reply: &Reply) -> Result<bool> {
    Ok(reply.status == 404 && reply.json::<Value>()?["error"]["code"] == "route_not_found")
}

/// The id of what was made; an id of nothing while the server does not have the operation.
fn made(reply: &Reply, pointer: &str, prefix: &str) -> Result<String> {
    if is_unknown_route(reply)? { Ok(nothing(prefix)) } else { reply.string(pointer) }
}

/// A call that was refused while its webhook was off.
async fn dead_letter(owner: &Client, ws: &str, road: &str) -> Result<String> {
    let settings = format!("/v1/automations/{road}/webhook");
    let hook = owner.take_hook(road).await?;
    owner.patch(&settings, &json!({"enabled": false})).await?.ok()?;
    hook.send(&json!({})).await?.assert_problem(403, "hook_disabled");
    owner.patch(&settings, &json!({"enabled": true})).await?.ok()?;
    owner.get(&format!("/v1/workspaces/{ws}/dead-letters")).await?.string("/items/0/id")
}

/// What each path parameter stands for: the path's template up to and with the parameter, and an id of the owner's.
struct Things(BTreeMap<&'static str, String>);

impl Things {
    /// One of each thing that the owner can make without the outside world; an id of nothing for the others, whose
    /// routes still refuse before they look.
    async fn make(owner: &Client, workspace: &Workspace) -> Result<Self> {
        let ws = workspace.id.as_str();
        let in_workspace = |path: &str| format!("/v1/workspaces/{ws}/{path}");
        let me = owner.get("/v1/session").await?.string("/user/id")?;

        let token =
            owner.post(&in_workspace("tokens"), &json!({"name": "A token", "scopes": ["read"]})).await?;
        let invites = json!({"emails": ["guest@example.test"], "role": "member", "deliver": "link"});
        let invite = owner.post(&in_workspace("invites"), &invites).await?;
        let http = json!({
            "displayName": "An API", "baseUrl": "https://api.example.test", "auth": {"type": "none"}, "methods": ["GET"],
        });
        let connection = owner.post(&in_workspace("connectors/http"), &http).await?;

        let app = workspace.sample_app.clone();
        let version = owner.get(&format!("/v1/apps/{app}")).await?.string("/currentVersionId")?;
        let road = workspace.road.clone();
        let run = owner.post(&format!("/v1/automations/{road}/run"), &json!({})).await?;
        let letter = dead_letter(owner, ws, &road).await?;
        let gate =
            workspace.created["starter"]["gateIds"][0].as_str().context("no gate in the starter world")?;

        let projects = owner.get(&in_workspace("backend/projects")).await?;
        let project = made(&projects, "/items/0/id", "proj")?;
        let in_project = |path: &str| format!("/v1/backend/projects/{project}/{path}");
        let key = json!({"kind": "secret", "name": "A key", "scopes": ["rows:read"]});
        let key = made(&owner.post(&in_project("keys"), &key).await?, "/key/id", "pkey")?;
        if !is_unknown_route(&projects)? {
            let columns = json!([{"name": "title", "type": "text"}]);
            owner.post(&in_project("tables"), &json!({"name": "things", "columns": columns})).await?.ok()?;
            let row = json!({"id": "first", "title": "The first"});
            owner.post(&in_project("tables/things/rows"), &row).await?.ok()?;
        }

        let table = || "things".to_owned();
        let row = || "first".to_owned();
        Ok(Self(BTreeMap::from([
            ("/v1/apps/{id}", app.clone()),
            ("/v1/apps/{id}/domains/{domainId}", nothing("dom")),
            ("/v1/apps/{id}/versions/{versionId}", version),
            ("/v1/automations/{id}", road),
            ("/v1/backend/projects/{projectId}", project.clone()),
            ("/v1/backend/projects/{projectId}/keys/{keyId}", key),
            ("/v1/backend/projects/{projectId}/tables/{table}", table()),
            ("/v1/backend/projects/{projectId}/tables/{table}/indexes/{index}", "ix1".to_owned()),
            ("/v1/backend/projects/{projectId}/tables/{table}/rows/{id}", row()),
            ("/v1/changes/{changeId}", nothing("chg")),
            ("/v1/auth/oidc/{provider}", "nobody".to_owned()),
            ("/v1/cli/device/{userCode}", "BCDF-GHJK".to_owned()),
            ("/v1/dead-letters/{id}", letter),
            ("/v1/gates/{id}", gate.to_owned()),
            ("/v1/hooks/{id}", nothing("hook")),
            ("/v1/imports/{id}", nothing("imp")),
            ("/v1/invites/{token}", nothing("qiv")),
            ("/v1/me/passkeys/{id}", nothing("pk")),
            ("/v1/me/sessions/{id}", nothing("ses")),
            ("/v1/oauth/authorizations/{id}", nothing("oaz")),
            ("/v1/projects/{projectId}", project),
            ("/v1/projects/{projectId}/rest/{table}", table()),
            ("/v1/projects/{projectId}/rest/{table}/{id}", row()),
            ("/v1/projects/{projectId}/schema/tables/{table}", table()),
            ("/v1/projects/{projectId}/schema/tables/{table}/indexes/{index}", "ix1".to_owned()),
            ("/v1/runs/{id}", run.string("/runId")?),
            ("/v1/workspaces/{ws}", ws.to_owned()),
            ("/v1/workspaces/{ws}/ai/apps/{appId}", app.clone()),
            ("/v1/workspaces/{ws}/ai/connections/{id}", nothing("mconn")),
            ("/v1/workspaces/{ws}/alerts/rules/{id}", nothing("rule")),
            ("/v1/workspaces/{ws}/apps/{appId}", app),
            ("/v1/workspaces/{ws}/connections/{id}", made(&connection, "/id", "conn")?),
            ("/v1/workspaces/{ws}/invites/{inviteId}", made(&invite, "/items/0/id", "inv")?),
            ("/v1/workspaces/{ws}/members/{userId}", me.clone()),
            ("/v1/workspaces/{ws}/messenger/people/{userId}", me),
            ("/v1/workspaces/{ws}/oauth/grants/{grantId}", nothing("grant")),
            ("/v1/workspaces/{ws}/tokens/{tokenId}", token.string("/token/id")?),
        ])))
    }

    /// The path with the owner's things in place of its parameters.
    fn path(&self, template: &str) -> Result<String> {
        self.fill(template, |_, known| known.to_owned())
    }

    /// The path with the owner's things in place of its parameters but the last, which is of nothing.
    fn path_to_nothing(&self, template: &str) -> Result<String> {
        let last = template.rfind('}').map_or(0, |end| end + 1);
        self.fill(template, |end, known| match known.split_once('_') {
            _ if end != last => known.to_owned(),
            Some((prefix, _)) => format!("{prefix}_{NOBODY}"),
            None => "nothing".to_owned(),
        })
    }

    fn fill(&self, template: &str, value: impl Fn(usize, &str) -> String) -> Result<String> {
        let mut path = String::new();
        let mut at = 0;
        while let Some(open) = template[at..].find('{').map(|offset| at + offset) {
            let end = template[open..]
                .find('}')
                .map(|offset| open + offset + 1)
                .context("an unclosed parameter")?;
            let known = self.0.get(&template[..end]).with_context(|| {
                format!("nothing is known to stand for {}: add it to Things::make", &template[..end])
            })?;
            path += &template[at..open];
            path += &value(end, known);
            at = end;
        }
        Ok(path + &template[at..])
    }
}

#[test]
fn paths_are_filled_by_their_place() {
    let things = Things(BTreeMap::from([
        ("/v1/workspaces/{ws}", "ws_1".to_owned()),
        ("/v1/workspaces/{ws}/tokens/{tokenId}", "tok_1".to_owned()),
        ("/v1/tables/{table}", "things".to_owned()),
    ]));
    assert_eq!(
        things.path("/v1/workspaces/{ws}/tokens/{tokenId}").unwrap(),
        "/v1/workspaces/ws_1/tokens/tok_1"
    );
    assert_eq!(things.path("/v1/session").unwrap(), "/v1/session");
    let nothing = things.path_to_nothing("/v1/workspaces/{ws}/tokens/{tokenId}").unwrap();
    assert_eq!(nothing, format!("/v1/workspaces/ws_1/tokens/tok_{NOBODY}"));
    assert_eq!(things.path_to_nothing("/v1/tables/{table}/rows").unwrap(), "/v1/tables/nothing/rows");
    let unknown = things.path("/v1/workspaces/{ws}/attics/{id}").unwrap_err().to_string();
    assert!(unknown.contains("/v1/workspaces/{ws}/attics/{id}"), "{unknown}");
}

#[test]
fn an_operation_says_who_may_call_it() {
    let described = |operation: Value| read_operations(&json!({"paths": {"/v1/a": {"post": operation}}}));
    let fine = described(json!({"x-qala-callers": ["C", "T:write"], "x-qala-right": "member"})).unwrap();
    assert!(fine[0].callers.console && fine[0].callers.token_write && !fine[0].callers.console_only());
    for silent in [
        json!({"x-qala-right": "member"}),
        json!({"x-qala-callers": [], "x-qala-right": "member"}),
        json!({"x-qala-callers": ["C"]}),
        json!({"x-qala-callers": ["T"], "x-qala-right": "-"}),
    ] {
        let refusal = described(silent).unwrap_err();
        assert!(refusal.to_string().contains("POST /v1/a"), "{refusal:#}");
    }
}
