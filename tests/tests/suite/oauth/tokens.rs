//! Authorization codes, access and refresh tokens, and their revocation.

use super::*;

tests::on_both! {
    async fn a_code_needs_its_client_redirect_and_verifier(server: Server) -> Result<()> {
        let aru = server.sign_in("aru@example.test").await?;
        let workspace = aru.create_workspace("Home").await?;
        let agent = aru.register_agent("Agent").await?;
        let other = aru.register_agent("Other").await?;
        let code = agent.obtain_code(&aru, &workspace.id, "write").await?;
        let form = |changes: &[(&'static str, &str)]| {
            let mut form = vec![
                ("grant_type", "authorization_code".to_owned()),
                ("client_id", agent.id.clone()),
                ("code", code.clone()),
                ("redirect_uri", REDIRECT_URI.to_owned()),
                ("code_verifier", CODE_VERIFIER.to_owned()),
            ];
            for (name, value) in changes {
                form.retain(|(other, _)| other != name);
                form.push((name, (*value).to_owned()));
            }
            form
        };
        let send = async |changes: &[(&'static str, &str)]| -> Result<Reply> {
            let form = form(changes);
            let form: Vec<(&str, &str)> = form.iter().map(|(name, value)| (*name, value.as_str())).collect();
            agent.post_token(&form).await
        };
        for (change, error) in [
            (("client_id", other.id.as_str()), "invalid_grant"),
            (("redirect_uri", "https://agent.example/other"), "invalid_grant"),
            (("code_verifier", ""), "invalid_grant"),
            (("code_verifier", CODE_CHALLENGE), "invalid_grant"),
            (("code", "qoc_000000000000000000000000000000000000"), "invalid_grant"),
            (("code", CODE_VERIFIER), "invalid_grant"),
            (("code", ""), "invalid_request"),
            (("client_id", ""), "invalid_request"),
            (("grant_type", ""), "invalid_request"),
            (("grant_type", "password"), "unsupported_grant_type"),
            (("resource", "https://other.example/mcp"), "invalid_target"),
            (("resource", "/mcp"), "invalid_target"),
        ] {
            assert_oauth_error(&send(&[change]).await?, 400, error);
        }
        assert_oauth_error(&send(&[("client_id", "qac_00000000000e00800000000000")]).await?, 401, "invalid_client");
        assert_oauth_error(&send(&[("client_id", "nobody")]).await?, 401, "invalid_client");
        let twice = form(&[]);
        let twice: Vec<(&str, &str)> =
            twice.iter().map(|(name, value)| (*name, value.as_str())).chain([("code_verifier", "x")]).collect();
        assert_oauth_error(&agent.post_token(&twice).await?, 400, "invalid_request");
        let json = server.client().post("/oauth/token", &json!({"grant_type": "authorization_code"})).await?;
        assert_oauth_error(&json, 400, "invalid_request");

        // None of these used the code up.
        let reply = send(&[("resource", &format!("{}/", server.base_url()))]).await?;
        let body = reply.ok()?;
        assert_eq!((body["token_type"].as_str(), body["expires_in"].as_i64()), (Some("Bearer"), Some(3600)));
        assert_eq!(body["scope"], "read write");
        assert!(body["access_token"].as_str().is_some_and(|token| token.starts_with("qao_")), "{reply}");
        assert!(body["refresh_token"].as_str().is_some_and(|token| token.starts_with("qar_")), "{reply}");
        assert_eq!(reply.header("cache-control"), Some("no-store"));
        Ok(())
    }

    async fn reusing_a_code_revokes_its_tokens(server: Server) -> Result<()> {
        let aru = server.sign_in("aru@example.test").await?;
        let workspace = aru.create_workspace("Home").await?;
        let agent = aru.register_agent("Agent").await?;
        let code = agent.obtain_code(&aru, &workspace.id, "read").await?;
        let tokens = TokenPair::from_reply(&agent.exchange(&code).await?)?;

        // Somebody who has only seen the code cannot revoke anything with it.
        let wrong = [
            ("grant_type", "authorization_code"), ("client_id", &agent.id), ("code", &code), ("code_verifier", CODE_CHALLENGE),
        ];
        assert_oauth_error(&agent.post_token(&wrong).await?, 400, "invalid_grant");
        assert!(is_token_accepted(&aru, &tokens.access).await?);

        assert_oauth_error(&agent.exchange(&code).await?, 400, "invalid_grant");
        assert!(!is_token_accepted(&aru, &tokens.access).await?);
        assert_oauth_error(&agent.refresh(&tokens.refresh).await?, 400, "invalid_grant");
        Ok(())
    }

    async fn of_fifty_concurrent_exchanges_of_a_code_one_succeeds(server: Server) -> Result<()> {
        let aru = server.sign_in("aru@example.test").await?;
        let workspace = aru.create_workspace("Home").await?;
        let agent = aru.register_agent("Agent").await?;
        let code = agent.obtain_code(&aru, &workspace.id, "read").await?;
        let racers: Vec<_> = (0..50)
            .map(|_| {
                let (agent, code) = (agent.clone(), code.clone());
                tokio::spawn(async move { agent.exchange(&code).await })
            })
            .collect();
        let mut successes = 0;
        for racer in racers {
            let reply = racer.await??;
            if reply.status == 200 { successes += 1 } else { assert_oauth_error(&reply, 400, "invalid_grant") }
        }
        assert_eq!(successes, 1);
        Ok(())
    }

    async fn concurrent_refreshes_of_one_client_all_succeed(server: Server) -> Result<()> {
        let aru = server.sign_in("aru@example.test").await?;
        let workspace = aru.create_workspace("Home").await?;
        let agent = aru.register_agent("Agent").await?;
        let tokens = agent.sign_in(&aru, &workspace.id, "read").await?;
        let racers: Vec<_> = (0..20)
            .map(|_| {
                let (agent, token) = (agent.clone(), tokens.refresh.clone());
                tokio::spawn(async move { agent.refresh(&token).await })
            })
            .collect();
        let mut pairs = Vec::new();
        for racer in racers {
            pairs.push(TokenPair::from_reply(&racer.await??)?);
        }
        // All get the same refresh token and an access token each, so it does not matter which response is kept.
        for pair in &pairs {
            assert!(is_token_accepted(&aru, &pair.access).await?);
            assert_eq!(pair.refresh, pairs[0].refresh);
        }
        let access: std::collections::BTreeSet<_> = pairs.iter().map(|pair| &pair.access).collect();
        assert_eq!(access.len(), 20);
        // Each of them can continue with its tokens, even after the grace period.
        let a_minute_later = "UPDATE oauth_refresh_tokens SET spent_at = spent_at - 62000 WHERE spent_at IS NOT NULL";
        server.execute_sql(a_minute_later).await?;
        let mut next = Vec::new();
        for pair in &pairs {
            next.push(TokenPair::from_reply(&agent.refresh(&pair.refresh).await?)?);
        }
        for pair in pairs.iter().chain(&next) {
            assert!(is_token_accepted(&aru, &pair.access).await?);
        }
        assert!(next.iter().all(|pair| pair.refresh == next[0].refresh && pair.refresh != pairs[0].refresh));
        // Reuse after the grace period counts as theft.
        server.execute_sql(a_minute_later).await?;
        assert_oauth_error(&agent.refresh(&pairs[0].refresh).await?, 400, "invalid_grant");
        assert_oauth_error(&agent.refresh(&next[0].refresh).await?, 400, "invalid_grant");
        assert!(!is_token_accepted(&aru, &next[0].access).await?);
        Ok(())
    }

    async fn reusing_a_refresh_token_after_its_successor_revokes_the_grant(server: Server) -> Result<()> {
        let aru = server.sign_in("aru@example.test").await?;
        let workspace = aru.create_workspace("Home").await?;
        let agent = aru.register_agent("Agent").await?;
        let first = agent.sign_in(&aru, &workspace.id, "write").await?;
        let second = TokenPair::from_reply(&agent.refresh(&first.refresh).await?)?;
        let third = TokenPair::from_reply(&agent.refresh(&second.refresh).await?)?;
        assert!(is_token_accepted(&aru, &third.access).await?);
        assert_oauth_error(&agent.refresh(&first.refresh).await?, 400, "invalid_grant");
        assert!(!is_token_accepted(&aru, &third.access).await?);
        assert_oauth_error(&agent.refresh(&third.refresh).await?, 400, "invalid_grant");
        Ok(())
    }

    async fn a_refresh_may_narrow_but_not_widen_scopes(server: Server) -> Result<()> {
        let aru = server.sign_in("aru@example.test").await?;
        let workspace = aru.create_workspace("Home").await?;
        let agent = aru.register_agent("Agent").await?;
        let other = aru.register_agent("Other").await?;
        let refresh = async |token: &str, scope: &str| {
            agent.post_token(&[
                ("grant_type", "refresh_token"), ("client_id", &agent.id), ("refresh_token", token), ("scope", scope),
            ]).await
        };
        let reader = agent.sign_in(&aru, &workspace.id, "read").await?;
        for scope in ["write", "read write", "admin"] {
            assert_oauth_error(&refresh(&reader.refresh, scope).await?, 400, "invalid_scope");
        }
        assert_oauth_error(&other.refresh(&reader.refresh).await?, 400, "invalid_grant");
        let elsewhere = agent.post_token(&[
            ("grant_type", "refresh_token"), ("client_id", &agent.id), ("refresh_token", &reader.refresh),
            ("resource", "https://other.example/mcp"),
        ]).await?;
        assert_oauth_error(&elsewhere, 400, "invalid_target");
        assert!(is_token_accepted(&aru, &reader.access).await?);

        let writer = agent.sign_in(&aru, &workspace.id, "write").await?;
        let narrow = refresh(&writer.refresh, "read").await?;
        assert_eq!(narrow.string_at("/scope")?, "read");
        let narrow = TokenPair::from_reply(&narrow)?;
        let app = json!({"name": "An app"});
        let apps = format!("/v1/workspaces/{}/apps", workspace.id);
        aru.with_bearer(&narrow.access).post(&apps, &app).await?.assert_error(403, "insufficient_scope");
        let wide = agent.refresh(&narrow.refresh).await?;
        assert_eq!(wide.string_at("/scope")?, "read write");
        aru.with_bearer(&TokenPair::from_reply(&wide)?.access).post(&apps, &app).await?.assert_status(200);
        Ok(())
    }

    async fn an_agents_token_describes_and_revokes_itself(server: Server) -> Result<()> {
        let aru = server.sign_in("aru@example.test").await?;
        let workspace = aru.create_workspace("Home").await?;
        let agent = aru.register_agent("Agent").await?;
        let tokens = agent.sign_in(&aru, &workspace.id, "write").await?;
        let bearer = aru.with_bearer(&tokens.access);
        let me = bearer.get("/v1/tokens/self").await?.ok()?;
        assert_eq!(me["workspace"]["id"], workspace.id);
        assert_eq!(me["token"]["scopes"], json!(["read", "write"]));
        assert_eq!(me["token"]["prefix"].as_str(), tokens.access.get(..8));
        assert_eq!(me["token"]["last4"].as_str(), tokens.access.get(36..));
        assert_eq!(me["oauth"]["clientName"], "Agent");
        assert_eq!(me["oauth"]["clientKind"], "registered");
        assert_eq!(me["oauth"]["audience"], format!("{}/mcp", server.base_url()));
        let grant = me["oauth"]["grantId"].as_str().context("no grant")?;

        let listed = aru.get(&format!("/v1/workspaces/{}/oauth/grants", workspace.id)).await?.ok()?;
        assert_eq!(listed[0]["id"], grant);
        assert_eq!(listed[0]["access"], "write");
        assert_eq!(listed[0]["revokedAt"], Value::Null);

        bearer.delete("/v1/tokens/self").await?.assert_status(200);
        assert!(!is_token_accepted(&aru, &tokens.access).await?);
        assert_oauth_error(&agent.refresh(&tokens.refresh).await?, 400, "invalid_grant");
        let listed = aru.get(&format!("/v1/workspaces/{}/oauth/grants", workspace.id)).await?.ok()?;
        assert!(listed[0]["revokedAt"].is_string(), "{listed}");
        Ok(())
    }

    async fn an_agent_is_limited_to_its_workspace_and_kept_out_of_the_console(server: Server) -> Result<()> {
        let aru = server.sign_in("aru@example.test").await?;
        let workspace = aru.create_workspace("Home").await?;
        let other = aru.create_workspace("Other").await?;
        let agent = aru.register_agent("Agent").await?;
        let tokens = agent.sign_in(&aru, &workspace.id, "write").await?;
        let bearer = aru.with_bearer(&tokens.access);
        bearer.get(&format!("/v1/workspaces/{}/apps", workspace.id)).await?.assert_status(200);
        bearer.get(&format!("/v1/workspaces/{}/apps", other.id)).await?.assert_error(404, "workspace_not_found");
        bearer.get(&format!("/v1/apps/{}", other.sample_app)).await?.assert_error(404, "app_not_found");

        let token = json!({"name": "Another", "scopes": ["read"]});
        let tokens_path = format!("/v1/workspaces/{}/tokens", workspace.id);
        bearer.post(&tokens_path, &token).await?.assert_error(403, "console_only");
        bearer.get("/v1/session").await?.assert_error(403, "console_only");
        bearer.get(&format!("/v1/workspaces/{}/oauth/grants", workspace.id)).await?.assert_error(403, "console_only");
        let id = agent.start_authorization(&[]).await?;
        bearer.decide_authorization(&id, &json!({"decision": "allow"})).await?.assert_error(403, "console_only");
        // Refresh tokens and codes are not accepted as access tokens.
        assert!(!is_token_accepted(&aru, &tokens.refresh).await?);
        assert!(!is_token_accepted(&aru, &agent.obtain_code(&aru, &workspace.id, "read").await?).await?);
        Ok(())
    }

    async fn only_its_person_revokes_a_grant(server: Server) -> Result<()> {
        let aru = server.sign_in("aru@example.test").await?;
        let workspace = aru.create_workspace("Home").await?;
        let bek = server.sign_in("bek@example.test").await?;
        server.run_admin(&["make-owner", &workspace.id, "bek@example.test"]).await?;
        let agent = aru.register_agent("Agent").await?;
        let tokens = agent.sign_in(&aru, &workspace.id, "read").await?;
        let grants = format!("/v1/workspaces/{}/oauth/grants", workspace.id);
        let grant = aru.get(&grants).await?.string_at("/0/id")?;
        let path = format!("{grants}/{grant}");

        assert_eq!(bek.get(&grants).await?.ok()?, json!([]));
        bek.delete(&path).await?.assert_error(404, "grant_not_found");
        let elsewhere = bek.create_workspace("Elsewhere").await?;
        bek.delete(&format!("/v1/workspaces/{}/oauth/grants/{grant}", elsewhere.id)).await?
            .assert_error(404, "grant_not_found");
        aru.request(Method::DELETE, &path).header(header::ORIGIN, "https://evil.example")?.send().await?
            .assert_error(403, "forbidden");
        assert!(is_token_accepted(&aru, &tokens.access).await?);

        aru.delete(&path).await?.assert_status(200);
        assert!(!is_token_accepted(&aru, &tokens.access).await?);
        assert_oauth_error(&agent.refresh(&tokens.refresh).await?, 400, "invalid_grant");
        aru.delete(&path).await?.assert_status(200);
        Ok(())
    }

    async fn a_client_revokes_only_its_own_tokens(server: Server) -> Result<()> {
        let aru = server.sign_in("aru@example.test").await?;
        let workspace = aru.create_workspace("Home").await?;
        let agent = aru.register_agent("Agent").await?;
        let other = aru.register_agent("Other").await?;
        let tokens = agent.sign_in(&aru, &workspace.id, "read").await?;
        let revoke = async |client: &Agent, token: &str| -> Result<Reply> {
            client.post_form("/oauth/revoke", &[("client_id", &client.id), ("token", token)]).await
        };
        let personal = aru.create_token(&workspace.id, &["read"]).await?;
        let long = "x".repeat(100);
        for unknown in ["nonsense", "qar_000000000000000000000000000000000000", &personal, &long] {
            revoke(&agent, unknown).await?.assert_status(200);
        }
        assert!(is_token_accepted(&aru, &personal).await?);
        revoke(&other, &tokens.access).await?.assert_status(200);
        revoke(&other, &tokens.refresh).await?.assert_status(200);
        assert!(is_token_accepted(&aru, &tokens.access).await?);

        // Revoking the access token leaves the refresh token valid.
        revoke(&agent, &tokens.access).await?.assert_status(200);
        assert!(!is_token_accepted(&aru, &tokens.access).await?);
        let next = TokenPair::from_reply(&agent.refresh(&tokens.refresh).await?)?;
        assert!(is_token_accepted(&aru, &next.access).await?);
        // Revoking the refresh token revokes the grant.
        revoke(&agent, &next.refresh).await?.assert_status(200);
        assert!(!is_token_accepted(&aru, &next.access).await?);
        assert_oauth_error(&agent.post_form("/oauth/revoke", &[("client_id", &agent.id)]).await?, 400, "invalid_request");
        Ok(())
    }

    async fn no_secret_is_logged(server: Server) -> Result<()> {
        let aru = server.sign_in("aru@example.test").await?;
        let workspace = aru.create_workspace("Home").await?;
        let agent = aru.register_agent("Agent").await?;
        let code = agent.obtain_code(&aru, &workspace.id, "read").await?;
        let first = TokenPair::from_reply(&agent.exchange(&code).await?)?;
        let second = TokenPair::from_reply(&agent.refresh(&first.refresh).await?)?;
        aru.with_bearer(&second.access).call_tool("whoami", &json!({})).await?.assert_status(200);
        agent.exchange(&code).await?;
        agent.refresh(&second.refresh).await?;
        let log = server.log();
        let pairs = [&first, &second];
        let secrets = pairs.iter().flat_map(|pair| [&*pair.access, &*pair.refresh]).chain([&*code, CODE_VERIFIER]);
        for secret in secrets {
            assert!(!log.contains(secret), "the log contains a secret");
            assert!(!log.contains(&secret[4..20]), "the log contains a part of a secret");
        }
        Ok(())
    }
}

/// The audience of a token is one deployment. Another one on the same database rejects it.
#[tokio::test]
async fn a_token_of_another_deployment_is_rejected() -> Result<()> {
    tests::on_database(tests::Database::Postgres, async |server| {
        let aru = server.sign_in("aru@example.test").await?;
        let workspace = aru.create_workspace("Home").await?;
        let tokens = aru.register_agent("Agent").await?.sign_in(&aru, &workspace.id, "read").await?;
        let url = server.database_url().context("no PostgreSQL")?.to_owned();
        // The development sign-in works, because the harness gives every server the same key.
        let other = Server::start(tests::Database::Existing(url)).await?;
        assert!(is_token_accepted(&aru, &tokens.access).await?);
        let rejected = other.client().with_bearer(&tokens.access).get("/v1/tokens/self").await?;
        rejected.assert_error(401, "unauthorized");
        let personal = aru.create_token(&workspace.id, &["read"]).await?;
        assert!(
            is_token_accepted(&other.client(), &personal).await?,
            "the other deployment uses the same database"
        );
        Ok(())
    })
    .await
}

#[tokio::test]
async fn endpoints_are_rate_limited_per_address() -> Result<()> {
    tests::on_database(tests::Database::Sqlite, async |server| {
        let agent = server.client().register_agent("Agent").await?;
        let mut last = None;
        for _ in 0..400 {
            let reply = agent.refresh("qar_x").await?;
            if reply.status == 429 {
                last = Some(reply);
                break;
            }
            assert_oauth_error(&reply, 400, "invalid_grant");
        }
        let reply = last.context("no request was rate limited")?;
        assert_oauth_error(&reply, 429, "temporarily_unavailable");
        assert!(reply.header("retry-after").is_some_and(|wait| wait.parse::<u64>().is_ok()), "{reply}");
        Ok(())
    })
    .await
}
