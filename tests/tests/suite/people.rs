//! Members: roles, leaving, removal, temporary access, transfer of ownership, and what ends with a membership.

use std::time::{Duration, UNIX_EPOCH};

use anyhow::{Context as _, Result};
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use tests::{Client, Server, unix_time};

/// A workspace with one person in each role.
struct Team {
    id: String,
    owner: Client,
    admin: Client,
    builder: Client,
    member: Client,
    viewer: Client,
}

impl Team {
    async fn create(server: &Server) -> Result<Self> {
        let owner = server.sign_in("owner@example.test").await?;
        let id = owner.create_workspace("Tulpar").await?.id;
        let [admin, builder, member, viewer] = [
            owner.add_member(&id, "admin").await?,
            owner.add_member(&id, "builder").await?,
            owner.add_member(&id, "member").await?,
            owner.add_member(&id, "viewer").await?,
        ];
        Ok(Self { id, owner, admin, builder, member, viewer })
    }

    fn path(&self, rest: &str) -> String {
        format!("/v1/workspaces/{}/{rest}", self.id)
    }

    async fn member_path(&self, person: &Client) -> Result<String> {
        Ok(self.path(&format!("members/{}", person.user_id().await?)))
    }
}

fn timestamp_in(seconds: i64) -> String {
    let now = DateTime::<Utc>::from(UNIX_EPOCH + Duration::from_secs(unix_time()));
    (now + TimeDelta::seconds(seconds)).to_rfc3339()
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn all_members_see_the_list_of_members(server: Server) -> Result<()> {
        let team = Team::create(&server).await?;
        let listed = team.viewer.get(&team.path("members")).await?.ok()?;
        assert_eq!(listed["yourRole"], "viewer");
        assert_eq!(listed["you"], team.viewer.user_id().await?.as_str());
        let items = listed["items"].as_array().context("no items")?;
        let roles: Vec<_> = items.iter().map(|item| item["role"].as_str().unwrap_or_default()).collect();
        assert_eq!(roles, ["owner", "admin", "builder", "member", "viewer"]);
        for item in items {
            assert_eq!((item["online"].as_bool(), &item["accessEndsAt"]), (Some(true), &Value::Null), "{item}");
            assert_eq!(item["user"]["kind"], "user");
            assert!(item["user"]["email"].as_str().is_some_and(|email| email.ends_with(".test")), "{item}");
        }
        team.admin.delete("/v1/session").await?.assert_status(200);
        let listed = team.viewer.get(&team.path("members")).await?.ok()?;
        assert_eq!(listed["items"][1]["online"], false, "{listed}");

        let outsider = server.sign_in("outsider@example.test").await?;
        outsider.get(&team.path("members")).await?.assert_error(404, "workspace_not_found");
        server.client().get(&team.path("members")).await?.assert_error(401, "unauthorized");
        let token = team.owner.with_bearer(&team.owner.create_token(&team.id, &["admin"]).await?);
        token.get(&team.path("members")).await?.assert_error(403, "console_only");
        Ok(())
    }

    async fn admins_change_roles_and_leave_owners_alone(server: Server) -> Result<()> {
        let team = Team::create(&server).await?;
        let (owner, admin) = (team.member_path(&team.owner).await?, team.member_path(&team.admin).await?);
        let (builder, viewer) = (team.member_path(&team.builder).await?, team.member_path(&team.viewer).await?);
        for caller in [&team.builder, &team.member, &team.viewer] {
            let reply = caller.patch(&viewer, &json!({"role": "viewer"})).await?;
            reply.assert_error(403, "admin_only");
            // Authorization is checked before the body and before the member.
            caller.patch(&viewer, &json!({"role": "king"})).await?.assert_error(403, "admin_only");
            caller.delete(&admin).await?.assert_error(403, "admin_only");
        }
        let changed = team.admin.patch(&viewer, &json!({"role": "builder"})).await?;
        assert_eq!(changed.string_at("/role")?, "builder");
        assert_eq!(team.viewer.get(&team.path("members")).await?.string_at("/yourRole")?, "builder");

        team.admin.patch(&owner, &json!({"role": "viewer"})).await?.assert_error(403, "forbidden");
        team.admin.patch(&owner, &json!({"accessEndsAt": timestamp_in(60)})).await?.assert_error(403, "forbidden");
        team.admin.delete(&owner).await?.assert_error(403, "forbidden");
        team.admin.patch(&builder, &json!({"role": "owner"})).await?.assert_error(403, "forbidden");
        team.admin.patch(&admin, &json!({"role": "owner"})).await?.assert_error(403, "forbidden");

        team.owner.patch(&owner, &json!({"role": "admin"})).await?.assert_error(409, "last_owner");
        team.owner.delete(&owner).await?.assert_error(409, "last_owner");
        team.owner.patch(&admin, &json!({"role": "owner"})).await?.assert_status(200);
        team.admin.patch(&owner, &json!({"role": "admin"})).await?.assert_status(200);
        assert_eq!(team.owner.get(&team.path("members")).await?.string_at("/yourRole")?, "admin");
        team.admin.delete(&admin).await?.assert_error(409, "last_owner");

        for bad in [
            json!({"role": "king"}),
            json!({"role": 1}),
            json!({"accessEndsAt": "tomorrow"}),
            json!({"accessEndsAt": timestamp_in(-1)}),
            json!({"rank": "admin"}),
        ] {
            let reply = team.admin.patch(&builder, &bad).await?;
            reply.check_error(400, Some("invalid_request")).with_context(|| bad.to_string())?;
        }
        let nobody = team.path("members/usr_00000000000e00800000000000");
        team.admin.patch(&nobody, &json!({"role": "viewer"})).await?.assert_error(404, "member_not_found");
        team.admin.patch(&team.path("members/x"), &json!({})).await?.assert_error(404, "member_not_found");
        team.admin.delete(&nobody).await?.assert_error(404, "member_not_found");
        let outsider = server.sign_in("outsider@example.test").await?;
        outsider.patch(&builder, &json!({"role": "viewer"})).await?.assert_error(404, "workspace_not_found");
        outsider.delete(&builder).await?.assert_error(404, "workspace_not_found");
        Ok(())
    }

    async fn a_lower_role_narrows_existing_tokens_at_once(server: Server) -> Result<()> {
        let team = Team::create(&server).await?;
        let token = team.builder.with_bearer(&team.builder.create_token(&team.id, &["write"]).await?);
        let app = json!({"name": "An app"});
        token.post(&team.path("apps"), &app).await?.assert_status(200);
        let builder = team.member_path(&team.builder).await?;
        team.admin.patch(&builder, &json!({"role": "member"})).await?.assert_status(200);
        token.post(&team.path("apps"), &app).await?.assert_error(403, "forbidden");
        assert_eq!(token.get("/v1/tokens/self").await?.string_at("/role")?, "member");
        team.admin.patch(&builder, &json!({"role": "builder"})).await?.assert_status(200);
        token.post(&team.path("apps"), &app).await?.assert_status(200);
        Ok(())
    }

    async fn a_removed_member_loses_access_at_once(server: Server) -> Result<()> {
        let team = Team::create(&server).await?;
        let secret = team.builder.create_token(&team.id, &["read", "write"]).await?;
        let token = team.builder.with_bearer(&secret);
        token.get(&team.path("apps")).await?.assert_status(200);
        let builder = team.member_path(&team.builder).await?;
        team.admin.delete(&builder).await?.assert_status(200);
        token.get(&team.path("apps")).await?.assert_error(401, "unauthorized");
        token.get("/v1/tokens/self").await?.assert_error(401, "unauthorized");
        team.builder.get(&team.path("apps")).await?.assert_error(404, "workspace_not_found");
        let session = team.builder.get("/v1/session").await?.ok()?;
        assert_eq!((&session["workspaceId"], &session["workspaceRole"]), (&Value::Null, &Value::Null));
        team.admin.delete(&builder).await?.assert_error(404, "member_not_found");

        // A new invite readmits them, but their old token stays revoked.
        let email = team.builder.get("/v1/session").await?.string_at("/user/email")?;
        team.owner.invite_and_accept(&team.id, &email, "builder", &team.builder).await?;
        team.builder.get(&team.path("apps")).await?.assert_status(200);
        token.get(&team.path("apps")).await?.assert_error(401, "unauthorized");
        let listed = team.builder.get(&team.path("tokens")).await?.ok()?;
        assert!(listed[0]["revokedAt"].is_string(), "{listed}");
        Ok(())
    }

    async fn any_member_may_leave(server: Server) -> Result<()> {
        let team = Team::create(&server).await?;
        for leaver in [&team.viewer, &team.member, &team.builder, &team.admin] {
            let path = team.member_path(leaver).await?;
            leaver.delete(&path).await?.assert_status(200);
            leaver.get(&team.path("members")).await?.assert_error(404, "workspace_not_found");
        }
        let listed = team.owner.get(&team.path("members")).await?.ok()?;
        assert_eq!(listed["items"].as_array().map(Vec::len), Some(1), "{listed}");
        Ok(())
    }

    async fn temporary_access_ends_on_time_together_with_tokens(server: Server) -> Result<()> {
        let team = Team::create(&server).await?;
        let secret = team.member.create_token(&team.id, &["read"]).await?;
        let token = team.member.with_bearer(&secret);
        let path = team.member_path(&team.member).await?;
        let changed = team.admin.patch(&path, &json!({"accessEndsAt": timestamp_in(3600)})).await?;
        assert!(changed.ok()?["accessEndsAt"].is_string(), "{changed}");
        token.get(&team.path("apps")).await?.assert_status(200);
        let changed = team.admin.patch(&path, &json!({"accessEndsAt": null})).await?;
        assert_eq!(changed.ok()?["accessEndsAt"], Value::Null);
        let owner = team.member_path(&team.owner).await?;
        let end = json!({"accessEndsAt": timestamp_in(3600)});
        team.owner.patch(&owner, &end).await?.assert_error(409, "owner_access_ends");
        let both = json!({"role": "owner", "accessEndsAt": timestamp_in(3600)});
        team.owner.patch(&path, &both).await?.assert_error(409, "owner_access_ends");

        team.admin.patch(&path, &json!({"accessEndsAt": timestamp_in(2)})).await?.assert_status(200);
        tests::eventually("the access expires", async || {
            token.get(&team.path("apps")).await?.check_error(404, Some("workspace_not_found"))
        })
        .await?;
        team.member.get(&team.path("apps")).await?.assert_error(404, "workspace_not_found");
        token.get("/v1/tokens/self").await?.assert_error(401, "unauthorized");
        let listed = team.owner.get(&team.path("members")).await?.ok()?;
        assert_eq!(listed["items"].as_array().map(Vec::len), Some(4), "{listed}");
        let workspaces = team.owner.get("/v1/workspaces").await?.ok()?;
        assert_eq!(workspaces["items"][0]["memberCount"], 4, "{workspaces}");
        team.admin.patch(&path, &json!({"accessEndsAt": null})).await?.assert_error(404, "member_not_found");

        let email = team.member.get("/v1/session").await?.string_at("/user/email")?;
        team.owner.invite_and_accept(&team.id, &email, "viewer", &team.member).await?;
        assert_eq!(team.member.get(&team.path("members")).await?.string_at("/yourRole")?, "viewer");
        token.get(&team.path("apps")).await?.assert_error(401, "unauthorized");
        Ok(())
    }

    async fn ownership_is_transferred_after_confirmation_by_name(server: Server) -> Result<()> {
        let team = Team::create(&server).await?;
        let to = async |person: &Client| anyhow::Ok(team.member_path(person).await? + "/transfer-ownership");
        let name = json!({"confirmName": "Tulpar"});
        let builder = to(&team.builder).await?;
        for caller in [&team.admin, &team.builder, &team.member, &team.viewer] {
            caller.post(&builder, &name).await?.assert_error(403, "forbidden");
        }
        for wrong in ["tulpar", "", "Tulpar 2"] {
            let reply = team.owner.post(&builder, &json!({"confirmName": wrong})).await?;
            reply.check_error(400, Some("invalid_request")).context(wrong)?;
        }
        team.owner.post(&builder, &json!({})).await?.assert_error(400, "invalid_request");
        team.owner.post(&to(&team.owner).await?, &name).await?.assert_error(409, "already_owner");
        let member = team.member_path(&team.member).await?;
        team.owner.patch(&member, &json!({"accessEndsAt": timestamp_in(3600)})).await?.assert_status(200);
        team.owner.post(&to(&team.member).await?, &name).await?.assert_error(409, "owner_access_ends");

        team.owner.post(&builder, &name).await?.assert_status(200);
        assert_eq!(team.builder.get(&team.path("members")).await?.string_at("/yourRole")?, "owner");
        assert_eq!(team.owner.get(&team.path("members")).await?.string_at("/yourRole")?, "admin");
        team.owner.post(&builder, &name).await?.assert_error(403, "forbidden");
        Ok(())
    }

    async fn of_two_owners_who_leave_at_once_one_stays(server: Server) -> Result<()> {
        for round in 0..5 {
            let first = server.sign_in(&format!("first{round}@example.test")).await?;
            let id = first.create_workspace("Tulpar").await?.id;
            let second = first.add_member(&id, "admin").await?;
            let path = async |person: &Client| {
                anyhow::Ok(format!("/v1/workspaces/{id}/members/{}", person.user_id().await?))
            };
            let (one, other) = (path(&first).await?, path(&second).await?);
            first.patch(&other, &json!({"role": "owner"})).await?.assert_status(200);
            let (left, right) = tokio::join!(first.delete(&one), second.delete(&other));
            let (left, right) = (left?, right?);
            let (stays, refused) =
                if left.status.is_success() { (&second, &right) } else { (&first, &left) };
            assert!(left.status.is_success() != right.status.is_success(), "{left} {right}");
            refused.assert_error(409, "last_owner");
            let listed = stays.get(&format!("/v1/workspaces/{id}/members")).await?.ok()?;
            assert_eq!(listed["items"].as_array().map(Vec::len), Some(1), "{listed}");
        }
        Ok(())
    }
}
