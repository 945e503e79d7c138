//! Access of each kind of caller to each operation, in a table that people review: `tests/snapshots/role_matrix.tsv`.
//!
//! Every caller calls every operation on a fixture of their own with an invalid body, if it has one: a caller who gets
//! an error about the body was authorized. A change of the table is a change of authority. Run the test with
//! `QALA_WRITE_SNAPSHOTS=1` to update the table, and review the difference.

use std::fmt::Write as _;

use anyhow::{Result, bail};
use http::Method;
use serde_json::{Value, json};
use tests::{Client, Reply, Server};

use super::{Fixture, Operation};

const ROLES: [&str; 5] = ["owner", "admin", "builder", "member", "viewer"];

/// A kind of caller.
struct MatrixColumn {
    name: String,
    fixture: Fixture,
    caller: Client,
}

impl MatrixColumn {
    /// Creates all columns, each with its own fixture, so that they do not affect each other.
    async fn create_all(server: &Server) -> Result<Vec<Self>> {
        let mut columns = Vec::new();
        for role in ROLES {
            for credential in ["session", "T:read", "T:write"] {
                let fixture =
                    Fixture::create_for(server, &format!("{role}.{}", credential.replace(':', "."))).await?;
                let person = person_with_role(&fixture, role).await?;
                let caller = match credential.strip_prefix("T:") {
                    None => person,
                    Some(scope) => {
                        person.with_bearer(&person.create_token(&fixture.workspace.id, &[scope]).await?)
                    }
                };
                columns.push(Self { name: format!("{role} {credential}"), fixture, caller });
            }
        }
        let fixture = Fixture::create_for(server, "outsider").await?;
        let outsider = server.sign_in("the.outsider@matrix.test").await?;
        outsider.create_workspace("Elsewhere").await?;
        columns.push(Self { name: "outsider".to_owned(), fixture, caller: outsider });
        let fixture = Fixture::create_for(server, "visitor").await?;
        columns.push(Self { name: "visitor".to_owned(), fixture, caller: server.client() });
        // The sample app is shared with the workspace. These columns are callers with a right on it, and callers once
        // it is private.
        for (name, role, sharing, granted) in [
            ("member granted can_edit", "member", "workspace", Some(&["can_view", "can_edit"][..])),
            ("viewer granted can_run", "viewer", "private", Some(&["can_view", "can_run"])),
            ("member of private app", "member", "private", None),
            ("builder of private app", "builder", "private", None),
            ("admin of private app", "admin", "private", None),
        ] {
            let fixture = Fixture::create_for(server, &name.replace(' ', ".")).await?;
            let caller = person_with_role(&fixture, role).await?;
            let people = match granted {
                Some(rights) => json!([{"userId": caller.user_id().await?, "rights": rights}]),
                None => json!([]),
            };
            let path = format!("/v1/apps/{}/access", fixture.workspace.sample_app);
            fixture.owner.put(&path, &json!({"sharing": sharing, "people": people})).await?.ok()?;
            columns.push(Self { name: name.to_owned(), fixture, caller });
        }
        for kind in ["publishable", "secret"] {
            let fixture = Fixture::create_for(server, &format!("{kind}.key")).await?;
            let project = fixture.path_parameters.path("/v1/backend/projects/{projectId}")?;
            let key = json!({"kind": kind, "name": "Matrix"});
            let key = fixture.owner.post(&format!("{project}/keys"), &key).await?.string_at("/secret")?;
            columns.push(Self {
                name: format!("{kind} key"),
                fixture,
                caller: server.client().with_bearer(&key),
            });
        }
        Ok(columns)
    }

    /// Starts a device login for the column, because unknown codes would use its guesses up.
    async fn start_device_login(&mut self, server: &Server) -> Result<String> {
        let started = server.client().post("/v1/cli/device", &json!({"client": "matrix"})).await?;
        let code = started.string_at("/userCode")?;
        self.fixture.path_parameters.0.insert("/v1/cli/device/{userCode}", code.clone());
        Ok(code)
    }

    async fn outcome(&self, operation: &Operation) -> Result<String> {
        let path = self.fixture.path_parameters.path(&operation.path)?;
        let request = self.caller.request(operation.method.clone(), &path);
        let reply = match &operation.body {
            Some(_) => request.json(&json!({"no such field": true}))?.send().await?,
            None => request.send().await?,
        };
        classify(&reply)
    }
}

/// Returns a person with the role in the fixture's workspace. The creator stays an owner.
async fn person_with_role(fixture: &Fixture, role: &str) -> Result<Client> {
    let workspace = &fixture.workspace.id;
    if role != "owner" {
        return fixture.owner.add_member(workspace, role).await;
    }
    let person = fixture.owner.add_member(workspace, "admin").await?;
    let path = format!("/v1/workspaces/{workspace}/members/{}", person.user_id().await?);
    fixture.owner.patch(&path, &json!({"role": "owner"})).await?.ok()?;
    Ok(person)
}

/// Returns the authorization error of a response, or that the caller was authorized.
fn classify(reply: &Reply) -> Result<String> {
    let status = reply.status.as_u16();
    if reply.status.is_success() {
        return Ok("ok".to_owned());
    }
    let body = reply.json::<Value>().unwrap_or_default();
    let code = body["error"]["code"].as_str().unwrap_or_default();
    match status {
        400 | 401 | 404 => Ok(status.to_string()),
        500.. if status != 503 => bail!("{reply}"),
        _ => Ok(format!("{status} {code}").trim_end().to_owned()),
    }
}

/// Orders operations that delete last, innermost resources first.
fn execution_order(operation: &Operation) -> (bool, std::cmp::Reverse<usize>) {
    let removes = operation.method == Method::DELETE;
    (removes, std::cmp::Reverse(if removes { operation.path.matches('/').count() } else { 0 }))
}

async fn build_table(server: &Server) -> Result<String> {
    let mut columns = MatrixColumn::create_all(server).await?;
    let mut names: Vec<usize> = (0..columns[0].fixture.operations.len()).collect();
    names.sort_by_key(|index| execution_order(&columns[0].fixture.operations[*index]));
    let mut rows = vec![Vec::new(); names.len()];
    for column in &mut columns {
        let code = column.start_device_login(server).await?;
        for index in &names {
            let operation = &column.fixture.operations[*index];
            // Sign-out and self-revocation would leave the caller without a credential.
            let ends_itself = matches!(
                (operation.method.as_str(), operation.path.as_str()),
                ("DELETE", "/v1/session" | "/v1/tokens/self")
            );
            let outcome = if ends_itself { "-".to_owned() } else { column.outcome(operation).await? };
            if outcome.starts_with("429") {
                bail!("{}: {operation} was not checked: {outcome}", column.name);
            }
            rows[*index].push(outcome);
        }
        // The number of open logins is limited. Callers who were authorized have closed it already.
        let path = format!("/v1/cli/device/{code}/deny");
        column.fixture.owner.post(&path, &json!({})).await?;
    }
    let mut table = String::from("operation\tcallers\tright");
    for column in &columns {
        write!(table, "\t{}", column.name)?;
    }
    table.push('\n');
    for (operation, outcomes) in columns[0].fixture.operations.iter().zip(rows) {
        let callers = operation.callers.names().join(",");
        writeln!(
            table,
            "{} {}\t{callers}\t{}\t{}",
            operation.method,
            operation.path,
            operation.right,
            outcomes.join("\t")
        )?;
    }
    Ok(table)
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn the_table_is_as_reviewed(server: Server) -> Result<()> {
        tests::compare_snapshot("role_matrix.tsv", &build_table(&server).await?)
    }
}
