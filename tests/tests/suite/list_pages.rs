//! Pages of the lists that were once read as a whole.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use tests::{Client, Reply};

/// Returns the address of the next page: from the body, or from `Link` for a bare array.
fn next_page(path: &str, limit: u32, page: &Reply) -> Result<Option<String>> {
    let body: Value = page.ok()?;
    if !body.is_array() {
        let next = body.get("nextCursor").with_context(|| format!("{path} has no nextCursor"))?;
        return Ok(next.as_str().map(|next| format!("{path}?limit={limit}&cursor={next}")));
    }
    let Some(link) = page.header("link") else { return Ok(None) };
    let (target, rel) = link.split_once(';').context("no parameter")?;
    ensure!(rel.trim() == "rel=\"next\"", "{link}");
    Ok(Some(target.trim_matches(['<', '>']).to_owned()))
}

fn items<'b>(body: &'b Value, member: &str) -> Result<&'b Vec<Value>> {
    if body.is_array() { body.as_array() } else { body[member].as_array() }.with_context(|| body.to_string())
}

/// Reads a list page by page, and checks that it is the same as on one page.
async fn check_pages(client: &Client, path: &str, member: &str, least: usize) -> Result<()> {
    let whole = client.get(&format!("{path}?limit=200")).await?;
    ensure!(next_page(path, 200, &whole)?.is_none(), "{path} has more than 200 items");
    let whole = items(&whole.ok()?, member)?.clone();
    ensure!(whole.len() >= least, "{path} has only {} items", whole.len());
    for limit in [1_u32, 2, u32::try_from(whole.len())?] {
        let (mut found, mut at) = (Vec::new(), Some(format!("{path}?limit={limit}")));
        while let Some(address) = at {
            let page = client.get(&address).await?;
            let on_page = items(&page.ok()?, member)?.clone();
            ensure!(on_page.len() <= limit as usize && !on_page.is_empty(), "{address}: {page}");
            found.extend(on_page);
            at = next_page(path, limit, &page)?;
        }
        ensure!(found == whole, "{path}, {limit} a page:\n{found:#?}\n{whole:#?}");
    }
    for invalid in ["limit=0", "limit=201", "cursor=x", "cursor=AAAA", "page=2"] {
        client.get(&format!("{path}?{invalid}")).await?.assert_error(400, "invalid_request");
    }
    Ok(())
}

/// Adds a person to a workspace.
async fn join(owner: &Client, workspace: &str, name: &str, role: &str) -> Result<Client> {
    let email = format!("{name}.{workspace}@people.test");
    let guest = owner.signed_out().sign_in(&email).await?;
    owner.invite_and_accept(workspace, &email, role, &guest).await?;
    Ok(guest)
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn each_list_is_the_same_by_pages(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let home = owner.create_workspace("Home").await?;
        let in_home = |list: &str| format!("/v1/workspaces/{}/{list}", home.id);
        for name in ["Second", "Third"] {
            owner.create_workspace(name).await?;
        }
        check_pages(&owner, "/v1/workspaces", "items", 3).await?;

        for (number, role) in ["viewer", "admin", "member", "builder", "viewer"].iter().enumerate() {
            join(&owner, &home.id, &format!("person{number}"), role).await?;
        }
        check_pages(&owner, &in_home("members"), "items", 6).await?;
        for guest in 0..3 {
            owner.create_invite(&home.id, &format!("guest{guest}@example.test"), "member").await?;
        }
        check_pages(&owner, &in_home("invites"), "items", 3).await?;
        for number in 0..3 {
            let token = json!({"name": format!("Token {number}"), "scopes": ["read"]});
            owner.post(&in_home("tokens"), &token).await?.ok()?;
        }
        check_pages(&owner, &in_home("tokens"), "", 3).await?;

        let version = json!({
            "files": {"main.js": "export default { async scheduled() {} }"},
            "manifest": {
                "name": "An app", "description": "Of a test.", "archetype": "workshop", "category": "interface",
                "triggers": [{"type": "manual"}],
                "permissions": {"egress": [
                    {"host": "a.example", "methods": ["GET"]}, {"host": "b.example", "methods": ["GET"]},
                    {"host": "c.example", "methods": ["GET"]},
                ]},
            },
        });
        owner.post(&format!("/v1/apps/{}/versions", home.sample_app), &version).await?.ok()?;
        check_pages(&owner, &in_home("gates"), "items", 3).await?;

        let projects = owner.get(&in_home("backend/projects")).await?;
        let project = projects.string_at("/items/0/id")?;
        let in_project = |list: &str| format!("/v1/backend/projects/{project}/{list}");
        let mut secret = String::new();
        for number in 0..3 {
            let key = json!({"kind": "secret", "name": format!("Key {number}"), "scopes": ["rows:read"]});
            secret = owner.post(&in_project("keys"), &key).await?.string_at("/secret")?;
        }
        check_pages(&owner, &in_project("keys"), "", 3).await?;
        let client = server.client().with_bearer(&secret);
        for _ in 0..3 {
            client.get(&format!("/v1/projects/{project}/schema")).await?.ok()?;
        }
        check_pages(&owner, &in_project("logs"), "logs", 3).await?;
        Ok(())
    }

    /// Members who join or leave between two pages move nobody else.
    async fn a_page_is_stable_while_the_list_changes(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Home").await?.id;
        let path = format!("/v1/workspaces/{workspace}/members");
        for (number, role) in ["admin", "builder", "builder", "member", "viewer"].iter().enumerate() {
            join(&owner, &workspace, &format!("person{number}"), role).await?;
        }
        let ids = |page: &Value| -> Result<Vec<String>> {
            let ids = items(page, "items")?.iter().map(|member| member["user"]["id"].as_str().map(str::to_owned));
            ids.collect::<Option<_>>().context("a member without an id")
        };
        let all = ids(&owner.get(&path).await?.ok()?)?;
        let first = owner.get(&format!("{path}?limit=3")).await?;
        assert_eq!(ids(&first.ok()?)?, all[..3]);
        // The last one of the page leaves, and somebody comes before it.
        owner.delete(&format!("{path}/{}", all[2])).await?.ok()?;
        let late = join(&owner, &workspace, "late", "admin").await?.user_id().await?;
        let next = next_page(&path, 3, &first)?.context("no next page")?;
        let rest = ids(&owner.get(&next).await?.ok()?)?;
        assert_eq!(rest, all[3..]);
        let now: BTreeSet<String> = ids(&owner.get(&path).await?.ok()?)?.into_iter().collect();
        assert!(now.contains(&late) && !now.contains(&all[2]));
        Ok(())
    }
}
