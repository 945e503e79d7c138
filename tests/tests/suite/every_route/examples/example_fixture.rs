//! Fixtures with the resources that the examples of request bodies name, whose ids replace those of the examples.

use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context as _, Result};
use serde_json::json;
use tests::{Client, DnsServer, Mail, Server, eventually};

use super::{Call, Example};
use crate::every_route::Fixture;

const REQUESTS_APPROVAL: &str =
    "export default { async scheduled(event, env, ctx) { await ctx.approval({ title: 'Pay 500?' }) } }";
const CALLS_OUT: &str = "export default { async scheduled() { await fetch('https://api.example.com/') } }";

/// Creates fixtures on one server.
pub(super) struct ExampleFixtures<'a> {
    server: &'a Server,
    dns: &'a DnsServer,
    count: AtomicUsize,
}

impl<'a> ExampleFixtures<'a> {
    pub(super) async fn create_next(&self) -> Result<ExampleFixture<'a>> {
        let name = format!("example{}", self.count.fetch_add(1, Ordering::Relaxed));
        let fixture = Fixture::create_for(self.server, &name).await?;
        Ok(ExampleFixture { server: self.server, dns: self.dns, name, fixture })
    }
}

/// A workspace with one resource of each kind, for one example.
pub(super) struct ExampleFixture<'a> {
    server: &'a Server,
    dns: &'a DnsServer,
    name: String,
    fixture: Fixture,
}

impl<'a> ExampleFixture<'a> {
    pub(super) fn fixtures(server: &'a Server, dns: &'a DnsServer) -> ExampleFixtures<'a> {
        ExampleFixtures { server, dns, count: AtomicUsize::default() }
    }

    /// Returns the call that an example becomes.
    pub(super) async fn prepare_call(&self, example: &Example) -> Result<Call> {
        let owner = &self.fixture.owner;
        let caller = match &example.operation.callers {
            callers if callers.public => owner.signed_out(),
            callers if callers.project_key => self.secret_key_client().await?,
            _ => owner.clone(),
        };
        let path = self.fixture.path_parameters.path(&example.operation.path)?;
        let mut call = Call { caller, path, body: example.body.clone() };
        match example.operation_id.as_str() {
            "put_access" => call.replace("/people/0/userId", self.add_member().await?)?,
            "create_app" if call.body.get("manifest").is_some() => {
                let project = self.resource_id("/v1/backend/projects/{projectId}");
                call.replace("/manifest/permissions/data/0/projectId", project)?;
            }
            "create_app" if call.body.get("templateId").is_some() => {
                call.replace("/projectId", self.resource_id("/v1/backend/projects/{projectId}"))?;
            }
            "start_connection_authorization" => call.path = call.path.replace("/github/", "/gmail/"),
            "create_automation" => call.replace("/appId", self.fixture.workspace.sample_app.clone())?,
            "settle_dead_letters" => call.replace("/ids/0", self.resource_id("/v1/dead-letters/{id}"))?,
            "follow_email_link" | "verify_email_sign_in" => self.prepare_email_call(&mut call).await?,
            "poll_device_login" | "approve_device_login" => self.prepare_device_login_call(&mut call).await?,
            "decide_authorization" => {
                let authorization = owner.register_agent("An agent").await?.start_authorization(&[]).await?;
                call.path = format!("/v1/oauth/authorizations/{authorization}/decision");
                call.replace("/workspaceId", self.fixture.workspace.id.clone())?;
            }
            "receive_webhook" => {
                call.path = owner.configure_webhook(&self.fixture.workspace.automation, "none").await?.path;
            }
            // The path and the body must name the same table, and the fixture has no table with the example's name.
            "drop_project_table" => call.path = call.path.replace("/things", "/notes"),
            "update_connection" => {
                let connectors = format!("/v1/workspaces/{}/connectors/github", self.fixture.workspace.id);
                let input = json!({"displayName": "GitHub", "secret": "a-secret"});
                let connection = owner.post(&connectors, &input).await?.string_at("/id")?;
                call.path = format!("/v1/workspaces/{}/connections/{connection}", self.fixture.workspace.id);
            }
            "roll_back_version" => {
                // A new version is current, and the fixture's is the way back.
                let app = self.resource_id("/v1/apps/{id}");
                let version = json!({"files": {"main.js": "export default { async scheduled() {} }"}});
                let current = owner.post(&format!("/v1/apps/{app}/versions"), &version).await?;
                call.replace("/expectCurrentVersionId", current.string_at("/id")?)?;
            }
            "enable_import" => {
                call.replace("/bindings", json!({}))?;
                let import = owner.get(&call.path.replace("/enable", "")).await?;
                call.replace("/skip/0", import.string_at("/report/items/0/id")?)?;
            }
            "approve_change" => {
                let change = owner.get(&call.path.replace("/approve", "")).await?.ok()?;
                call.replace("/manifest", change["plan"]["manifest"].clone())?;
            }
            "invoke_draft" => {
                let app = self.resource_id("/v1/apps/{id}");
                let files = json!({"files": {"main.js": "export default { scheduled() {}, fetch: () => new Response() }"}});
                owner.put(&format!("/v1/apps/{app}/draft"), &files).await?.ok()?;
            }
            "put_agent_tool" => call.replace("/reviewedHash", self.permissions_hash().await?)?,
            "update_agent_tool" | "start_agent_tool" => {
                let input_schema = json!({"type": "object", "properties": {"title": {"type": "string"}}});
                let tool = json!({
                    "name": "new_order", "title": "New order", "description": "Adds an order.",
                    "inputSchema": input_schema, "reviewedHash": self.permissions_hash().await?,
                });
                owner.put(&self.agent_tool_path(), &tool).await?.ok()?;
            }
            "delete_workspace" => call.replace("/confirmName", "Home")?,
            "delete_project" => call.replace("/confirmName", "Starter data")?,
            "update_rows" => call.path += "?id=eq.first",
            "put_row" => call.path += "?id=eq.second",
            "decide_run_approval" | "plan_run_change" | "replay_run" | "ask_run" => {
                self.prepare_run_call(example, &mut call).await?;
            }
            "accept_invite" | "change_member" | "transfer_ownership" => {
                self.prepare_member_call(example, &mut call).await?;
            }
            "change_join_domain" | "verify_join_domain" | "join_workspace" => {
                self.prepare_domain_call(example, &mut call).await?;
            }
            _ => {}
        }
        Ok(call)
    }

    /// Returns the id of the resource that a path ends with.
    fn resource_id(&self, template: &str) -> String {
        self.fixture.path_parameters.0[template].clone()
    }

    fn agent_tool_path(&self) -> String {
        format!("/v1/automations/{}/agent-tool", self.resource_id("/v1/automations/{id}"))
    }

    /// Returns the digest of what the app of the automation may do.
    async fn permissions_hash(&self) -> Result<String> {
        self.fixture.owner.get(&self.agent_tool_path()).await?.string_at("/hash")
    }

    /// Returns a client with a secret key that has all scopes.
    async fn secret_key_client(&self) -> Result<Client> {
        let project = self.resource_id("/v1/backend/projects/{projectId}");
        let scopes = ["rows:read", "rows:write", "schema:write"];
        let key = json!({"kind": "secret", "name": "Examples", "scopes": scopes});
        let created = self.fixture.owner.post(&format!("/v1/backend/projects/{project}/keys"), &key).await?;
        Ok(self.fixture.owner.with_bearer(&created.string_at("/secret")?))
    }

    /// Adds a member besides the owner and returns their id.
    async fn add_member(&self) -> Result<String> {
        self.fixture.owner.add_member(&self.fixture.workspace.id, "member").await?.user_id().await
    }

    async fn prepare_email_call(&self, call: &mut Call) -> Result<()> {
        let email = format!("{}@mail.test", self.name);
        let visitor = self.fixture.owner.signed_out();
        visitor.post_from_console("/v1/auth/email/start", &json!({"email": email})).await?.ok()?;
        let mail: Mail = self.server.wait_for_mail(&email, 1).await?;
        if call.body.get("token").is_some() {
            let link = mail.link()?;
            return call.replace("/token", link.split_once("token=").context("no token")?.1);
        }
        call.replace("/email", email)?;
        call.replace("/code", mail.code()?)
    }

    async fn prepare_device_login_call(&self, call: &mut Call) -> Result<()> {
        let visitor = self.fixture.owner.signed_out();
        let started = visitor.post("/v1/cli/device", &json!({"client": "examples"})).await?;
        if call.body.get("deviceCode").is_some() {
            return call.replace("/deviceCode", started.string_at("/deviceCode")?);
        }
        call.path = format!("/v1/cli/device/{}/approve", started.string_at("/userCode")?);
        call.replace("/workspaceId", self.fixture.workspace.id.clone())
    }

    async fn prepare_run_call(&self, example: &Example, call: &mut Call) -> Result<()> {
        let (owner, ws) = (&self.fixture.owner, &self.fixture.workspace.id);
        match example.operation_id.as_str() {
            "decide_run_approval" => {
                let (_, run) = owner.create_and_run_app(ws, REQUESTS_APPROVAL).await?;
                call.path = format!("/v1/runs/{run}/approvals");
                let approval = async || owner.get(&call.path).await?.string_at("/items/0/id");
                let approval = eventually("the run asks for approval", approval).await?;
                call.replace("/approvalId", approval)
            }
            _ => {
                let (_, run) = owner.create_and_run_app(ws, CALLS_OUT).await?;
                call.path = call.path.replace(&self.resource_id("/v1/runs/{id}"), &run);
                owner.wait_for_run(&run).await.map(drop)
            }
        }
    }

    async fn prepare_member_call(&self, example: &Example, call: &mut Call) -> Result<()> {
        let ws = &self.fixture.workspace.id;
        if example.operation_id == "accept_invite" {
            let guest = format!("{}@guests.test", self.name);
            let token = self.fixture.owner.create_invite(ws, &guest, "member").await?;
            call.caller = self.server.sign_in(&guest).await?;
            call.path = format!("/v1/invites/{token}/accept");
            return Ok(());
        }
        let owner = self.resource_id("/v1/workspaces/{ws}/members/{userId}");
        call.path = call.path.replace(&owner, &self.add_member().await?);
        match example.operation_id.as_str() {
            "transfer_ownership" => call.replace("/confirmName", "Home"),
            _ => Ok(()),
        }
    }

    /// Claims a domain and publishes its DNS record. For an example that joins by it, the domain is verified too.
    async fn prepare_domain_call(&self, example: &Example, call: &mut Call) -> Result<()> {
        let owner = &self.fixture.owner;
        let of_workspace = format!("/v1/workspaces/{}/join-domain", self.fixture.workspace.id);
        let domain = format!("{}.test", self.name);
        let claimed = owner.put(&of_workspace, &json!({"domain": domain})).await?;
        self.dns
            .publish_txt(&claimed.string_at("/record/host")?, &claimed.string_at("/record/value")?)
            .await?;
        if example.operation_id == "verify_join_domain" {
            return Ok(());
        }
        let verified = owner.post(&format!("{of_workspace}/verify"), &json!({})).await?;
        anyhow::ensure!(verified.string_at("/status")? == "verified", "{verified}");
        if example.operation_id == "join_workspace" {
            call.caller = self.server.sign_in(&format!("colleague@{domain}")).await?;
        }
        Ok(())
    }
}
