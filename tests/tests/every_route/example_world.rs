//! What the examples of request bodies name: made for each, and put in the place of the names.

use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context as _, Result};
use serde_json::json;
use tests::{Client, DnsServer, Mail, Server, eventually};

use super::{Call, Example};
use crate::Stage;

const ASKS: &str =
    "export default { async scheduled(event, env, ctx) { await ctx.approval({ title: 'Pay 500?' }) } }";
const CALLS_OUT: &str = "export default { async scheduled() { await fetch('https://api.example.com/') } }";

/// Makes worlds on one server.
pub(super) struct Makers<'a> {
    server: &'a Server,
    dns: &'a DnsServer,
    made: AtomicUsize,
}

impl<'a> Makers<'a> {
    pub(super) async fn next(&self) -> Result<World<'a>> {
        let name = format!("example{}", self.made.fetch_add(1, Ordering::Relaxed));
        let stage = Stage::set_for(self.server, &name).await?;
        Ok(World { server: self.server, dns: self.dns, name, stage })
    }
}

/// A workspace with one of each thing, for one example.
pub(super) struct World<'a> {
    server: &'a Server,
    dns: &'a DnsServer,
    name: String,
    stage: Stage,
}

impl<'a> World<'a> {
    pub(super) fn makers(server: &'a Server, dns: &'a DnsServer) -> Makers<'a> {
        Makers { server, dns, made: AtomicUsize::default() }
    }

    /// What an example is sent as.
    pub(super) async fn call(&self, example: &Example) -> Result<Call> {
        let owner = &self.stage.owner;
        let caller = match &example.operation.callers {
            callers if callers.public => owner.signed_out(),
            callers if callers.project_key => self.holder_of_a_key().await?,
            _ => owner.clone(),
        };
        let path = self.stage.things.path(&example.operation.path)?;
        let mut call = Call { caller, path, body: example.body.clone() };
        match example.id.as_str() {
            "put_access" => call.put("/people/0/userId", self.member().await?)?,
            "create_app" if call.body.get("manifest").is_some() => {
                let project = self.thing("/v1/backend/projects/{projectId}");
                call.put("/manifest/permissions/data/0/projectId", project)?;
            }
            "create_automation" => call.put("/appId", self.stage.workspace.sample_app.clone())?,
            "settle_dead_letters" => call.put("/ids/0", self.thing("/v1/dead-letters/{id}"))?,
            "follow_email_link" | "verify_email_sign_in" => self.follow_mail(&mut call).await?,
            "poll_device_login" | "approve_device_login" => self.follow_device_login(&mut call).await?,
            "decide_authorization" => {
                let authorization = owner.register_agent("An agent").await?.begin(&[]).await?;
                call.path = format!("/v1/oauth/authorizations/{authorization}/decision");
                call.put("/workspaceId", self.stage.workspace.id.clone())?;
            }
            "receive_webhook" => call.path = owner.set_hook(&self.stage.workspace.road, "none").await?.path,
            // The table is named twice, and nothing beside the example's is called so.
            "drop_project_table" => call.path = call.path.replace("/things", "/notes"),
            "update_rows" => call.path += "?id=eq.first",
            "put_row" => call.path += "?id=eq.second",
            "decide_run_approval" | "plan_run_change" | "replay_run" | "ask_run" => {
                self.follow_run(example, &mut call).await?;
            }
            "accept_invite" | "change_member" | "transfer_ownership" => {
                self.follow_member(example, &mut call).await?;
            }
            "change_join_domain" | "verify_join_domain" | "join_workspace" => {
                self.follow_domain(example, &mut call).await?;
            }
            _ => {}
        }
        Ok(call)
    }

    /// The thing that a path ends with.
    fn thing(&self, template: &str) -> String {
        self.stage.things.0[template].clone()
    }

    /// Somebody with a secret key that may do everything.
    async fn holder_of_a_key(&self) -> Result<Client> {
        let project = self.thing("/v1/backend/projects/{projectId}");
        let scopes = ["rows:read", "rows:write", "schema:write"];
        let key = json!({"kind": "secret", "name": "Examples", "scopes": scopes});
        let made = self.stage.owner.post(&format!("/v1/backend/projects/{project}/keys"), &key).await?;
        Ok(self.stage.owner.with_bearer(&made.string("/secret")?))
    }

    /// The id of a member beside the owner.
    async fn member(&self) -> Result<String> {
        self.stage.owner.bring(&self.stage.workspace.id, "member").await?.user_id().await
    }

    async fn follow_mail(&self, call: &mut Call) -> Result<()> {
        let email = format!("{}@mail.test", self.name);
        let visitor = self.stage.owner.signed_out();
        visitor.post_from_console("/v1/auth/email/start", &json!({"email": email})).await?.ok()?;
        let mail: Mail = self.server.mail_to(&email, 1).await?;
        if call.body.get("token").is_some() {
            let link = mail.link()?;
            return call.put("/token", link.split_once("token=").context("a token")?.1);
        }
        call.put("/email", email)?;
        call.put("/code", mail.code()?)
    }

    async fn follow_device_login(&self, call: &mut Call) -> Result<()> {
        let visitor = self.stage.owner.signed_out();
        let started = visitor.post("/v1/cli/device", &json!({"client": "examples"})).await?;
        if call.body.get("deviceCode").is_some() {
            return call.put("/deviceCode", started.string("/deviceCode")?);
        }
        call.path = format!("/v1/cli/device/{}/approve", started.string("/userCode")?);
        call.put("/workspaceId", self.stage.workspace.id.clone())
    }

    async fn follow_run(&self, example: &Example, call: &mut Call) -> Result<()> {
        let (owner, ws) = (&self.stage.owner, &self.stage.workspace.id);
        match example.id.as_str() {
            "decide_run_approval" => {
                let (_, run) = owner.start_app(ws, ASKS).await?;
                call.path = format!("/v1/runs/{run}/approvals");
                let asked = async || owner.get(&call.path).await?.string("/items/0/id");
                let asked = eventually("the run asks", asked).await?;
                call.put("/approvalId", asked)
            }
            _ => {
                let (_, run) = owner.start_app(ws, CALLS_OUT).await?;
                call.path = call.path.replace(&self.thing("/v1/runs/{id}"), &run);
                owner.end_of(&run).await.map(drop)
            }
        }
    }

    async fn follow_member(&self, example: &Example, call: &mut Call) -> Result<()> {
        let ws = &self.stage.workspace.id;
        if example.id == "accept_invite" {
            let guest = format!("{}@guests.test", self.name);
            let token = self.stage.owner.invite(ws, &guest, "member").await?;
            call.caller = self.server.sign_in(&guest).await?;
            call.path = format!("/v1/invites/{token}/accept");
            return Ok(());
        }
        let owner = self.thing("/v1/workspaces/{ws}/members/{userId}");
        call.path = call.path.replace(&owner, &self.member().await?);
        match example.id.as_str() {
            "transfer_ownership" => call.put("/confirmName", "Home"),
            _ => Ok(()),
        }
    }

    /// Claims a domain and publishes its proof; who joins by it finds it proved.
    async fn follow_domain(&self, example: &Example, call: &mut Call) -> Result<()> {
        let owner = &self.stage.owner;
        let of_workspace = format!("/v1/workspaces/{}/join-domain", self.stage.workspace.id);
        let domain = format!("{}.test", self.name);
        let claimed = owner.put(&of_workspace, &json!({"domain": domain})).await?;
        self.dns.publish(&claimed.string("/record/host")?, &claimed.string("/record/value")?).await?;
        if example.id == "verify_join_domain" {
            return Ok(());
        }
        let verified = owner.post(&format!("{of_workspace}/verify"), &json!({})).await?;
        anyhow::ensure!(verified.string("/status")? == "verified", "{verified}");
        if example.id == "join_workspace" {
            call.caller = self.server.sign_in(&format!("colleague@{domain}")).await?;
        }
        Ok(())
    }
}
