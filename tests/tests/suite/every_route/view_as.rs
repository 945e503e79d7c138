//! Views as another role, at every operation: a read shows what the role sees, and nothing is written.

use anyhow::{Result, ensure};
use http::{HeaderName, Method};
use serde_json::Value;
use tests::{Client, Reply, Server};

use super::{Fixture, Operation};

const VIEW_AS: HeaderName = HeaderName::from_static("qala-view-as");

/// Reads of what belongs to the person, whatever their role: only the status is that of the role.
const PERSONAL: [&str; 9] = [
    "/v1/session",
    "/v1/me/sessions",
    "/v1/me/passkeys",
    "/v1/me/join-suggestions",
    "/v1/oauth/authorizations/{id}",
    "/v1/workspaces",
    "/v1/workspaces/{ws}/changes",
    "/v1/workspaces/{ws}/oauth/grants",
    "/v1/workspaces/{ws}/tokens",
];

/// Members of a response that are about the caller or the time of the request.
const VOLATILE: [&str; 7] = ["you", "asOf", "generatedAt", "rowCountAt", "from", "to", "completeFrom"];

async fn in_view(client: &Client, operation: &Operation, path: &str, role: &str) -> Result<Reply> {
    let request = client.request(operation.method.clone(), path).header(VIEW_AS, role)?;
    match &operation.body {
        Some(body) => request.json(body)?.send().await,
        None => request.send().await,
    }
}

/// Returns the body of a response without what may differ between two people with the same role.
fn comparable(reply: &Reply) -> Option<Value> {
    let mut body: Value = reply.json().ok()?;
    leave_out_volatile(&mut body);
    Some(body)
}

fn leave_out_volatile(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|name, _| !VOLATILE.contains(&name.as_str()));
            members.values_mut().for_each(leave_out_volatile);
        }
        Value::Array(items) => items.iter_mut().for_each(leave_out_volatile),
        _ => {}
    }
}

fn is_read_by_session(operation: &Operation) -> bool {
    operation.method == Method::GET && operation.callers.console && !operation.callers.public
}

/// Compares each read of the owner in the view of a role with that of somebody who has the role and no grants.
async fn check_reads(server: &Server, role: &str) -> Result<()> {
    let fixture = Fixture::create_for(server, role).await?;
    let peer = fixture.owner.add_member(&fixture.workspace.id, role).await?;
    fixture
        .check_each_operation(is_read_by_session, async |operation, path| {
            // Unknown codes are limited, and the code is not of a workspace; a peer has no draft.
            if ["/v1/cli/device/{userCode}", "/v1/apps/{id}/draft"].contains(&operation.path.as_str()) {
                return Ok(());
            }
            let seen = in_view(&fixture.owner, operation, &path, role).await?;
            let own = peer.get(&path).await?;
            ensure!(seen.status == own.status, "{role}: {} rather than {}", seen.status, own.status);
            if seen.status.is_success() && !PERSONAL.contains(&operation.path.as_str()) {
                let (seen, own) = (comparable(&seen), comparable(&own));
                ensure!(seen == own, "{role} sees {own:?}, the view {seen:?}");
            }
            Ok(())
        })
        .await
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn a_read_in_a_view_is_that_of_the_role(server: Server) -> Result<()> {
        for role in ["builder", "member", "viewer"] {
            check_reads(&server, role).await?;
        }
        Ok(())
    }

    async fn nothing_is_written_in_a_view(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let is_write = |operation: &Operation| {
            operation.method != Method::GET && operation.callers.console && !operation.callers.public
        };
        fixture
            .check_each_operation(is_write, async |operation, path| {
                let refused = in_view(&fixture.owner, operation, &path, "builder").await?;
                refused.check_error(403, Some("view_is_read_only"))
            })
            .await
    }

    async fn a_token_has_no_view(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let token = fixture.token(&["read", "write"]).await?;
        let is_for_tokens =
            |operation: &Operation| operation.callers.token_read || operation.callers.token_write;
        fixture
            .check_each_operation(is_for_tokens, async |operation, path| {
                let refused = in_view(&token, operation, &path, "viewer").await?;
                refused.check_error(403, Some("console_only"))
            })
            .await
    }
}
