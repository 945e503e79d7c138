//! How agent clients are let in, and what must not let anybody in.

use anyhow::{Context as _, Result};
use http::{Method, header};
use serde_json::{Value, json};
use tests::{Agent, CHALLENGE, Client, REDIRECT, Reply, Server, Tokens, VERIFIER, parameter};

/// A refusal in OAuth's form: JSON with `error` and a description in ASCII, not kept by anybody.
#[track_caller]
fn assert_refused(reply: &Reply, status: u16, error: &str) {
    reply.assert_status(status);
    let body: Value = reply.json().unwrap_or_default();
    assert_eq!(body["error"], error, "{reply}");
    assert!(body["error_description"].as_str().is_some_and(str::is_ascii), "{reply}");
    assert_eq!(reply.header("cache-control"), Some("no-store"), "{reply}");
}

/// Where the browser is sent.
fn location(reply: &Reply) -> Result<String> {
    reply.assert_status(303);
    Ok(reply.header("location").with_context(|| reply.to_string())?.to_owned())
}

/// A browser is shown a page, and sent nowhere.
#[track_caller]
fn assert_page(reply: &Reply, status: u16) {
    reply.assert_status(status);
    assert_eq!(reply.header("location"), None, "{reply}");
    assert!(reply.header("content-type").is_some_and(|kind| kind.starts_with("text/html")), "{reply}");
    let policy = reply.header("content-security-policy").unwrap_or_default();
    assert!(policy.contains("frame-ancestors 'none'") && policy.contains("default-src 'none'"), "{policy}");
}

async fn works(client: &Client, token: &str) -> Result<bool> {
    Ok(client.with_bearer(token).get("/v1/tokens/self").await?.status == 200)
}

tests::on_both! {
    async fn the_metadata_tells_the_whole_way(server: Server) -> Result<()> {
        let base = server.base_url();
        let client = server.client();
        for path in ["/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"] {
            let reply = client.get(path).await?;
            let body = reply.ok()?;
            assert_eq!(body["resource"], format!("{base}/mcp"));
            assert_eq!(body["authorization_servers"], json!([base]));
            assert_eq!(body["scopes_supported"], json!(["read", "write"]));
            assert_eq!(body["bearer_methods_supported"], json!(["header"]));
            assert_eq!(reply.header("access-control-allow-origin"), Some("*"));
        }
        let reply = client.get("/.well-known/oauth-authorization-server").await?;
        let body = reply.ok()?;
        assert_eq!(body["issuer"], base);
        for (member, path) in [
            ("authorization_endpoint", "authorize"),
            ("token_endpoint", "token"),
            ("registration_endpoint", "register"),
            ("revocation_endpoint", "revoke"),
        ] {
            assert_eq!(body[member], format!("{base}/oauth/{path}"));
        }
        assert_eq!(body["code_challenge_methods_supported"], json!(["S256"]));
        assert_eq!(body["response_types_supported"], json!(["code"]));
        assert_eq!(body["token_endpoint_auth_methods_supported"], json!(["none"]));
        assert_eq!(body["authorization_response_iss_parameter_supported"], true);
        assert_eq!(body["client_id_metadata_document_supported"], true);
        client.get("/.well-known/openid-configuration").await?.assert_status(404);
        Ok(())
    }

    async fn any_page_may_call_what_knows_no_cookie_and_no_other(server: Server) -> Result<()> {
        let ask = async |method: Method, path: &str| -> Result<Reply> {
            let client = server.client();
            let request = client.request(method, path).header(header::ORIGIN, "https://page.example")?;
            request.header(header::ACCESS_CONTROL_REQUEST_METHOD, "POST")?.send().await
        };
        for path in ["/oauth/register", "/oauth/token", "/oauth/revoke"] {
            let reply = ask(Method::OPTIONS, path).await?;
            assert_eq!(reply.assert_status(204).header("access-control-allow-origin"), Some("*"), "{path}");
            let allowed = reply.header("access-control-allow-headers").unwrap_or_default();
            assert!(allowed.contains("content-type") && allowed.contains("mcp-protocol-version"), "{allowed}");
            assert_eq!(reply.header("access-control-allow-credentials"), None);
            // Refusals can be read, too.
            let refusal = ask(Method::POST, path).await?;
            assert_eq!(refusal.assert_status(400).header("access-control-allow-origin"), Some("*"), "{path}");
        }
        for path in ["/oauth/authorize?client_id=x", "/oauth/consent/oaz_1"] {
            assert_eq!(ask(Method::GET, path).await?.header("access-control-allow-origin"), None, "{path}");
        }
        Ok(())
    }

    async fn a_client_registers_as_what_it_can_be(server: Server) -> Result<()> {
        let client = server.client();
        let reply = client
            .post(
                "/oauth/register",
                &json!({
                    "client_name": "Claude\u{202e}\u{0007} \n Agent",
                    "client_uri": "https://home.example/about",
                    "redirect_uris": ["http://localhost/callback", REDIRECT],
                    "token_endpoint_auth_method": "client_secret_basic",
                    "grant_types": ["authorization_code", "refresh_token", "client_credentials"],
                    "resource": "https://other.example",
                }),
            )
            .await?;
        let body = reply.assert_status(201).json::<Value>()?;
        assert!(body["client_id"].as_str().is_some_and(|id| id.starts_with("qac_")), "{reply}");
        assert_eq!(body["client_name"], "Claude Agent");
        assert_eq!(body["token_endpoint_auth_method"], "none");
        assert_eq!(body["grant_types"], json!(["authorization_code", "refresh_token"]));
        assert_eq!(body["redirect_uris"], json!(["http://localhost/callback", REDIRECT]));
        assert!(body["client_id_issued_at"].is_i64() && body.get("client_secret").is_none(), "{reply}");
        assert_eq!(reply.header("cache-control"), Some("no-store"));

        let register = async |body: Value| client.post("/oauth/register", &body).await;
        for uri in [
            "http://agent.example/cb", "//evil.example", "https://a@evil.example/", "https://a.example%25@evil.example/",
            "https://a.example/../cb", "JavaScript:alert(1)", "https://кот.example/cb", "https://a.example/#x",
        ] {
            let reply = register(json!({"redirect_uris": [REDIRECT, uri]})).await?;
            assert_refused(&reply, 400, "invalid_redirect_uri");
        }
        assert_refused(&register(json!({})).await?, 400, "invalid_redirect_uri");
        assert_refused(&register(json!({"redirect_uris": vec![REDIRECT; 11]})).await?, 400, "invalid_redirect_uri");
        assert_refused(&register(json!([])).await?, 400, "invalid_client_metadata");
        let off = json!({"redirect_uris": [REDIRECT], "client_name": 1});
        assert_refused(&register(off).await?, 400, "invalid_client_metadata");
        let long = json!({"redirect_uris": [REDIRECT], "logo_uri": "a".repeat(17 << 10)});
        assert_refused(&register(long).await?, 413, "invalid_request");
        Ok(())
    }

    async fn a_name_recognises_nobody(server: Server) -> Result<()> {
        let person = server.sign_in("aru@example.test").await?;
        let id = person.register_agent("Claude").await?.begin(&[]).await?;
        let client = person.get(&format!("/v1/oauth/authorizations/{id}")).await?.ok()?["client"].clone();
        assert_eq!(client, json!({
            "name": "Claude", "kind": "registered", "host": null, "recognized": null, "homepageHost": null,
        }));
        Ok(())
    }

    async fn nobody_is_sent_to_an_address_that_is_not_the_clients(server: Server) -> Result<()> {
        let person = server.sign_in("aru@example.test").await?;
        let body = json!({"redirect_uris": [REDIRECT, "http://localhost/callback", "com.example.agent:/cb"]});
        let agent = person.agent_of(&server.client().post("/oauth/register", &body).await?)?;
        for uri in [
            "", "//evil.example", "https://evil.example/callback", "https://agent.example@evil.example/callback",
            "https://agent.example%25@evil.example/callback", "https://agent.example/callback/../x",
            "https://agent.example/Callback", "HTTPS://agent.example/callback", "https://AGENT.example/callback",
            "https://agent.example/callback?x=1", "https://agent.example/callback#", "https://agent.example:8443/callback",
            "https://аgent.example/callback", "JavaScript:alert(1)", "http://127.0.0.1/callback",
            "http://localhost:1/other", "com.example.agent:/other",
        ] {
            assert_page(&person.authorize(&agent.ask(&[("redirect_uri", uri)])).await?, 400);
        }
        for id in ["", "qac_00000000000e00800000000000", "nobody", "https://127.0.0.1:1/client.json"] {
            assert_page(&person.authorize(&agent.ask(&[("client_id", id)])).await?, 400);
        }
        let twice = [&agent.ask(&[])[..], &[("redirect_uri", "https://evil.example/")]].concat();
        assert_page(&person.authorize(&twice).await?, 400);
        // A port on this very machine is the client's to choose.
        for uri in ["http://localhost/callback", "http://localhost:53412/callback", "com.example.agent:/cb"] {
            agent.begin(&[("redirect_uri", uri)]).await.with_context(|| uri.to_owned())?;
        }
        Ok(())
    }

    async fn a_request_that_is_off_is_told_only_to_somebody_signed_in(server: Server) -> Result<()> {
        let visitor = server.client();
        let person = server.sign_in("aru@example.test").await?;
        let agent = visitor.register_agent("Agent").await?;
        for (change, error) in [
            (("response_type", "token"), "unsupported_response_type"),
            (("response_type", ""), "invalid_request"),
            (("code_challenge", ""), "invalid_request"),
            (("code_challenge", "short"), "invalid_request"),
            (("code_challenge_method", "plain"), "invalid_request"),
            (("code_challenge_method", ""), "invalid_request"),
            (("scope", "root"), "invalid_scope"),
            (("resource", "https://other.example/mcp"), "invalid_target"),
        ] {
            let ask = agent.ask(&[change]);
            let first = location(&visitor.authorize(&ask).await?)?;
            let next = first.strip_prefix("/sign-in?next=").with_context(|| first.clone())?;
            assert!(next.starts_with("%2Foauth%2Fauthorize%3F"), "{first}");

            let answer = location(&person.authorize(&ask).await?)?;
            assert!(answer.starts_with(&format!("{REDIRECT}?error={error}&")), "{change:?}: {answer}");
            assert_eq!(parameter(&answer, "state")?.as_deref(), Some("a state"));
            assert_eq!(parameter(&answer, "iss")?.as_deref(), Some(server.base_url()));
            assert_eq!(parameter(&answer, "code")?, None);
        }
        let twice = [&agent.ask(&[])[..], &[("scope", "read")]].concat();
        let answer = location(&person.authorize(&twice).await?)?;
        assert_eq!(parameter(&answer, "error")?.as_deref(), Some("invalid_request"));
        // What is not known is ignored, and what is empty is as if it were not there.
        let fine = [&agent.ask(&[])[..], &[("prompt", "consent"), ("resource", "")]].concat();
        assert!(location(&person.authorize(&fine).await?)?.contains("/oauth/consent/oaz_"));
        Ok(())
    }

    async fn the_first_person_who_looks_decides_and_once(server: Server) -> Result<()> {
        let aru = server.sign_in("aru@example.test").await?;
        let home = aru.make_workspace("Home").await?;
        let bek = server.sign_in("bek@example.test").await?;
        bek.make_workspace("Elsewhere").await?;
        let agent = aru.register_agent("Agent").await?;
        let id = agent.begin(&[("scope", "read")]).await?;
        let path = format!("/v1/oauth/authorizations/{id}");

        let view = aru.get(&path).await?.ok()?;
        assert_eq!(view["requestedAccess"], "read");
        assert_eq!(view["redirect"], json!({
            "origin": "https://agent.example", "host": "agent.example", "scheme": "https", "local": false,
        }));
        assert_eq!(view["resource"]["url"], format!("{}/mcp", server.base_url()));
        assert_eq!(view["user"]["email"], "aru@example.test");
        assert_eq!(view["workspaces"][0]["id"], home.id);
        assert_eq!(view["workspaces"][0]["role"], "owner");

        bek.get(&path).await?.assert_problem(404, "authorization_not_found");
        bek.decide(&id, &json!({})).await?.assert_problem(404, "authorization_not_found");
        bek.decide(&id, &json!({"decision": 1})).await?.assert_problem(404, "authorization_not_found");

        // Neither more than was asked for, nor somebody else's workspace.
        let allow = |workspace: &str, access: &str| {
            json!({"decision": "allow", "workspaceId": workspace, "access": access})
        };
        aru.decide(&id, &allow(&home.id, "write")).await?.assert_problem(400, "invalid_request");
        let elsewhere = bek.get("/v1/workspaces").await?.string("/items/0/id")?;
        aru.decide(&id, &allow(&elsewhere, "read")).await?.assert_problem(404, "workspace_not_found");
        aru.decide(&id, &json!({"decision": "allow", "redirectTo": "https://evil.example"})).await?
            .assert_problem(400, "invalid_request");

        let decided = aru.decide(&id, &allow(&home.id, "read")).await?;
        assert_eq!(decided.string("/outcome")?, "allowed");
        let next = decided.string("/redirectTo")?;
        assert!(next.starts_with(&format!("{REDIRECT}?code=qoc_")), "{next}");
        assert_eq!(parameter(&next, "state")?.as_deref(), Some("a state"));
        assert_eq!(parameter(&next, "iss")?.as_deref(), Some(server.base_url()));

        aru.decide(&id, &allow(&home.id, "read")).await?.assert_problem(409, "authorization_decided");
        aru.get(&path).await?.assert_problem(404, "authorization_not_found");
        Ok(())
    }

    async fn an_empty_decision_is_no(server: Server) -> Result<()> {
        let aru = server.sign_in("aru@example.test").await?;
        let agent = aru.register_agent("Agent").await?;
        for body in [json!({}), json!({"decision": "deny"})] {
            let decided = aru.decide(&agent.begin(&[]).await?, &body).await?;
            assert_eq!(decided.string("/outcome")?, "denied");
            let next = decided.string("/redirectTo")?;
            assert_eq!(parameter(&next, "error")?.as_deref(), Some("access_denied"));
            assert_eq!(parameter(&next, "state")?.as_deref(), Some("a state"));
            assert_eq!(parameter(&next, "iss")?.as_deref(), Some(server.base_url()));
            assert_eq!(parameter(&next, "code")?, None);
        }
        // Nor does anything from another page decide.
        let id = agent.begin(&[]).await?;
        let path = format!("/v1/oauth/authorizations/{id}/decision");
        for origin in [None, Some("null"), Some("https://evil.example"), Some("http://sub.127.0.0.1")] {
            let request = aru.request(Method::POST, &path).json(&json!({"decision": "deny"}))?;
            let request = match origin {
                None => request.without(&header::ORIGIN),
                Some(origin) => request.header(header::ORIGIN, origin)?,
            };
            request.send().await?.assert_problem(403, "forbidden");
        }
        aru.get(&format!("/v1/oauth/authorizations/{id}")).await?.assert_status(200);
        Ok(())
    }

    async fn a_code_is_for_its_own_client_with_its_own_verifier(server: Server) -> Result<()> {
        let aru = server.sign_in("aru@example.test").await?;
        let home = aru.make_workspace("Home").await?;
        let agent = aru.register_agent("Agent").await?;
        let other = aru.register_agent("Other").await?;
        let code = agent.code(&aru, &home.id, "write").await?;
        let form = |changes: &[(&'static str, &str)]| {
            let mut form = vec![
                ("grant_type", "authorization_code".to_owned()),
                ("client_id", agent.id.clone()),
                ("code", code.clone()),
                ("redirect_uri", REDIRECT.to_owned()),
                ("code_verifier", VERIFIER.to_owned()),
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
            agent.token(&form).await
        };
        for (change, error) in [
            (("client_id", other.id.as_str()), "invalid_grant"),
            (("redirect_uri", "https://agent.example/other"), "invalid_grant"),
            (("code_verifier", ""), "invalid_grant"),
            (("code_verifier", CHALLENGE), "invalid_grant"),
            (("code", "qoc_000000000000000000000000000000000000"), "invalid_grant"),
            (("code", VERIFIER), "invalid_grant"),
            (("code", ""), "invalid_request"),
            (("client_id", ""), "invalid_request"),
            (("grant_type", ""), "invalid_request"),
            (("grant_type", "password"), "unsupported_grant_type"),
            (("resource", "https://other.example/mcp"), "invalid_grant"),
        ] {
            assert_refused(&send(&[change]).await?, 400, error);
        }
        assert_refused(&send(&[("client_id", "qac_00000000000e00800000000000")]).await?, 401, "invalid_client");
        assert_refused(&send(&[("client_id", "nobody")]).await?, 401, "invalid_client");
        let twice = form(&[]);
        let twice: Vec<(&str, &str)> =
            twice.iter().map(|(name, value)| (*name, value.as_str())).chain([("code_verifier", "x")]).collect();
        assert_refused(&agent.token(&twice).await?, 400, "invalid_request");
        let json = server.client().post("/oauth/token", &json!({"grant_type": "authorization_code"})).await?;
        assert_refused(&json, 400, "invalid_request");

        // None of these used it up.
        let answer = send(&[("resource", &format!("{}/", server.base_url()))]).await?;
        let body = answer.ok()?;
        assert_eq!((body["token_type"].as_str(), body["expires_in"].as_i64()), (Some("Bearer"), Some(3600)));
        assert_eq!(body["scope"], "read write");
        assert!(body["access_token"].as_str().is_some_and(|token| token.starts_with("qao_")), "{answer}");
        assert!(body["refresh_token"].as_str().is_some_and(|token| token.starts_with("qar_")), "{answer}");
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        Ok(())
    }

    async fn a_code_that_comes_again_ends_what_came_of_it(server: Server) -> Result<()> {
        let aru = server.sign_in("aru@example.test").await?;
        let home = aru.make_workspace("Home").await?;
        let agent = aru.register_agent("Agent").await?;
        let code = agent.code(&aru, &home.id, "read").await?;
        let tokens = Tokens::of(&agent.exchange(&code).await?)?;

        // Whoever saw the code pass by can end nothing with it.
        let wrong = [
            ("grant_type", "authorization_code"), ("client_id", &agent.id), ("code", &code), ("code_verifier", CHALLENGE),
        ];
        assert_refused(&agent.token(&wrong).await?, 400, "invalid_grant");
        assert!(works(&aru, &tokens.access).await?);

        assert_refused(&agent.exchange(&code).await?, 400, "invalid_grant");
        assert!(!works(&aru, &tokens.access).await?);
        assert_refused(&agent.refresh(&tokens.refresh).await?, 400, "invalid_grant");
        Ok(())
    }

    async fn of_fifty_who_exchange_a_code_at_once_one_has_tokens(server: Server) -> Result<()> {
        let aru = server.sign_in("aru@example.test").await?;
        let home = aru.make_workspace("Home").await?;
        let agent = aru.register_agent("Agent").await?;
        let code = agent.code(&aru, &home.id, "read").await?;
        let racers: Vec<_> = (0..50)
            .map(|_| {
                let (agent, code) = (agent.clone(), code.clone());
                tokio::spawn(async move { agent.exchange(&code).await })
            })
            .collect();
        let mut good = 0;
        for racer in racers {
            let reply = racer.await??;
            if reply.status == 200 { good += 1 } else { assert_refused(&reply, 400, "invalid_grant") }
        }
        assert_eq!(good, 1);
        Ok(())
    }

    async fn a_client_whose_processes_race_stays_signed_in(server: Server) -> Result<()> {
        let aru = server.sign_in("aru@example.test").await?;
        let home = aru.make_workspace("Home").await?;
        let agent = aru.register_agent("Agent").await?;
        let tokens = agent.sign_in(&aru, &home.id, "read").await?;
        let racers: Vec<_> = (0..20)
            .map(|_| {
                let (agent, token) = (agent.clone(), tokens.refresh.clone());
                tokio::spawn(async move { agent.refresh(&token).await })
            })
            .collect();
        let mut pairs = Vec::new();
        for racer in racers {
            pairs.push(Tokens::of(&racer.await??)?);
        }
        // Whichever of the answers a process keeps, it goes on with it.
        for pair in &pairs {
            assert!(works(&aru, &pair.access).await?);
        }
        let next = Tokens::of(&agent.refresh(&pairs[7].refresh).await?)?;
        assert!(works(&aru, &next.access).await?);
        Ok(())
    }

    async fn a_refresh_token_whose_successor_was_used_ends_everything(server: Server) -> Result<()> {
        let aru = server.sign_in("aru@example.test").await?;
        let home = aru.make_workspace("Home").await?;
        let agent = aru.register_agent("Agent").await?;
        let first = agent.sign_in(&aru, &home.id, "write").await?;
        let second = Tokens::of(&agent.refresh(&first.refresh).await?)?;
        let third = Tokens::of(&agent.refresh(&second.refresh).await?)?;
        assert!(works(&aru, &third.access).await?);
        assert_refused(&agent.refresh(&first.refresh).await?, 400, "invalid_grant");
        assert!(!works(&aru, &third.access).await?);
        assert_refused(&agent.refresh(&third.refresh).await?, 400, "invalid_grant");
        Ok(())
    }

    async fn a_refresh_may_narrow_and_not_widen(server: Server) -> Result<()> {
        let aru = server.sign_in("aru@example.test").await?;
        let home = aru.make_workspace("Home").await?;
        let agent = aru.register_agent("Agent").await?;
        let other = aru.register_agent("Other").await?;
        let refresh = async |token: &str, scope: &str| {
            agent.token(&[
                ("grant_type", "refresh_token"), ("client_id", &agent.id), ("refresh_token", token), ("scope", scope),
            ]).await
        };
        let reader = agent.sign_in(&aru, &home.id, "read").await?;
        for scope in ["write", "read write", "admin"] {
            assert_refused(&refresh(&reader.refresh, scope).await?, 400, "invalid_scope");
        }
        assert_refused(&other.refresh(&reader.refresh).await?, 400, "invalid_grant");
        assert!(works(&aru, &reader.access).await?);

        let writer = agent.sign_in(&aru, &home.id, "write").await?;
        let narrow = refresh(&writer.refresh, "read").await?;
        assert_eq!(narrow.string("/scope")?, "read");
        let narrow = Tokens::of(&narrow)?;
        let app = json!({"name": "An app"});
        let apps = format!("/v1/workspaces/{}/apps", home.id);
        aru.with_bearer(&narrow.access).post(&apps, &app).await?.assert_problem(403, "insufficient_scope");
        let wide = agent.refresh(&narrow.refresh).await?;
        assert_eq!(wide.string("/scope")?, "read write");
        aru.with_bearer(&Tokens::of(&wide)?.access).post(&apps, &app).await?.assert_status(200);
        Ok(())
    }

    async fn an_agents_token_knows_itself_and_ends_itself(server: Server) -> Result<()> {
        let aru = server.sign_in("aru@example.test").await?;
        let home = aru.make_workspace("Home").await?;
        let agent = aru.register_agent("Agent").await?;
        let tokens = agent.sign_in(&aru, &home.id, "write").await?;
        let bearer = aru.with_bearer(&tokens.access);
        let me = bearer.get("/v1/tokens/self").await?.ok()?;
        assert_eq!(me["workspace"]["id"], home.id);
        assert_eq!(me["token"]["scopes"], json!(["read", "write"]));
        assert_eq!(me["token"]["prefix"].as_str(), tokens.access.get(..8));
        assert_eq!(me["token"]["last4"].as_str(), tokens.access.get(36..));
        assert_eq!(me["oauth"]["clientName"], "Agent");
        assert_eq!(me["oauth"]["clientKind"], "registered");
        assert_eq!(me["oauth"]["audience"], format!("{}/mcp", server.base_url()));
        let grant = me["oauth"]["grantId"].as_str().context("no grant")?;

        let listed = aru.get(&format!("/v1/workspaces/{}/oauth/grants", home.id)).await?.ok()?;
        assert_eq!(listed[0]["id"], grant);
        assert_eq!(listed[0]["access"], "write");
        assert_eq!(listed[0]["revokedAt"], Value::Null);

        bearer.delete("/v1/tokens/self").await?.assert_status(200);
        assert!(!works(&aru, &tokens.access).await?);
        assert_refused(&agent.refresh(&tokens.refresh).await?, 400, "invalid_grant");
        let listed = aru.get(&format!("/v1/workspaces/{}/oauth/grants", home.id)).await?.ok()?;
        assert!(listed[0]["revokedAt"].is_string(), "{listed}");
        Ok(())
    }

    async fn an_agent_stays_in_its_workspace_and_out_of_the_console(server: Server) -> Result<()> {
        let aru = server.sign_in("aru@example.test").await?;
        let home = aru.make_workspace("Home").await?;
        let other = aru.make_workspace("Other").await?;
        let agent = aru.register_agent("Agent").await?;
        let tokens = agent.sign_in(&aru, &home.id, "write").await?;
        let bearer = aru.with_bearer(&tokens.access);
        bearer.get(&format!("/v1/workspaces/{}/apps", home.id)).await?.assert_status(200);
        bearer.get(&format!("/v1/workspaces/{}/apps", other.id)).await?.assert_problem(404, "workspace_not_found");
        bearer.get(&format!("/v1/apps/{}", other.sample_app)).await?.assert_problem(404, "app_not_found");

        let token = json!({"name": "Another", "scopes": ["read"]});
        let tokens_path = format!("/v1/workspaces/{}/tokens", home.id);
        bearer.post(&tokens_path, &token).await?.assert_problem(403, "console_only");
        bearer.get("/v1/session").await?.assert_problem(403, "console_only");
        bearer.get(&format!("/v1/workspaces/{}/oauth/grants", home.id)).await?.assert_problem(403, "console_only");
        let id = agent.begin(&[]).await?;
        bearer.decide(&id, &json!({"decision": "allow"})).await?.assert_problem(403, "console_only");
        // A refresh token and a code open nothing.
        assert!(!works(&aru, &tokens.refresh).await?);
        assert!(!works(&aru, &agent.code(&aru, &home.id, "read").await?).await?);
        Ok(())
    }

    async fn a_grant_is_its_persons_alone_to_end(server: Server) -> Result<()> {
        let aru = server.sign_in("aru@example.test").await?;
        let home = aru.make_workspace("Home").await?;
        let bek = server.sign_in("bek@example.test").await?;
        server.admin(&["make-owner", &home.id, "bek@example.test"]).await?;
        let agent = aru.register_agent("Agent").await?;
        let tokens = agent.sign_in(&aru, &home.id, "read").await?;
        let grants = format!("/v1/workspaces/{}/oauth/grants", home.id);
        let grant = aru.get(&grants).await?.string("/0/id")?;
        let path = format!("{grants}/{grant}");

        assert_eq!(bek.get(&grants).await?.ok()?, json!([]));
        bek.delete(&path).await?.assert_problem(404, "grant_not_found");
        let elsewhere = bek.make_workspace("Elsewhere").await?;
        bek.delete(&format!("/v1/workspaces/{}/oauth/grants/{grant}", elsewhere.id)).await?
            .assert_problem(404, "grant_not_found");
        aru.request(Method::DELETE, &path).header(header::ORIGIN, "https://evil.example")?.send().await?
            .assert_problem(403, "forbidden");
        assert!(works(&aru, &tokens.access).await?);

        aru.delete(&path).await?.assert_status(200);
        assert!(!works(&aru, &tokens.access).await?);
        assert_refused(&agent.refresh(&tokens.refresh).await?, 400, "invalid_grant");
        aru.delete(&path).await?.assert_status(200);
        Ok(())
    }

    async fn a_client_gives_back_its_own_tokens_only(server: Server) -> Result<()> {
        let aru = server.sign_in("aru@example.test").await?;
        let home = aru.make_workspace("Home").await?;
        let agent = aru.register_agent("Agent").await?;
        let other = aru.register_agent("Other").await?;
        let tokens = agent.sign_in(&aru, &home.id, "read").await?;
        let revoke = async |client: &Agent, token: &str| -> Result<Reply> {
            client.form("/oauth/revoke", &[("client_id", &client.id), ("token", token)]).await
        };
        let personal = aru.make_token(&home.id, &["read"]).await?;
        let long = "x".repeat(100);
        for unknown in ["nonsense", "qar_000000000000000000000000000000000000", &personal, &long] {
            revoke(&agent, unknown).await?.assert_status(200);
        }
        assert!(works(&aru, &personal).await?);
        revoke(&other, &tokens.access).await?.assert_status(200);
        revoke(&other, &tokens.refresh).await?.assert_status(200);
        assert!(works(&aru, &tokens.access).await?);

        // The access token goes alone.
        revoke(&agent, &tokens.access).await?.assert_status(200);
        assert!(!works(&aru, &tokens.access).await?);
        let next = Tokens::of(&agent.refresh(&tokens.refresh).await?)?;
        assert!(works(&aru, &next.access).await?);
        // The refresh token takes the rest with it.
        revoke(&agent, &next.refresh).await?.assert_status(200);
        assert!(!works(&aru, &next.access).await?);
        assert_refused(&agent.form("/oauth/revoke", &[("client_id", &agent.id)]).await?, 400, "invalid_request");
        Ok(())
    }

    async fn a_person_decides_on_a_page(server: Server) -> Result<()> {
        let aru = server.sign_in("aru@example.test").await?;
        let home = aru.make_workspace("Home").await?;
        let bek = server.sign_in("bek@example.test").await?;
        let body = json!({"client_name": "<b>Agent</b>", "redirect_uris": ["http://127.0.0.1/cb"]});
        let agent = aru.agent_of(&server.client().post("/oauth/register", &body).await?)?;
        let id = agent.begin(&[("redirect_uri", "http://127.0.0.1:4711/cb")]).await?;
        let path = format!("/oauth/consent/{id}");

        assert_eq!(location(&server.client().get(&path).await?)?, format!("/sign-in?next=%2Foauth%2Fconsent%2F{id}"));
        let page = aru.get(&path).await?;
        assert_page(&page, 200);
        let policy = page.header("content-security-policy").unwrap_or_default();
        assert!(policy.contains("form-action 'self' http://127.0.0.1:4711;"), "{policy}");
        assert_eq!(page.header("x-frame-options"), Some("DENY"));
        let html = String::from_utf8(page.body.to_vec())?;
        assert!(html.contains("&lt;b&gt;Agent&lt;/b&gt;") && !html.contains("<script") && !html.contains("<b>"), "{html}");
        assert!(html.contains("127.0.0.1") && html.contains("a program on this device"), "{html}");
        assert!(html.contains(&home.id) && html.contains("aru@example.test"), "{html}");

        assert_page(&bek.get(&path).await?, 404);
        let send = async |person: &Client, origin: Option<&str>, form: &str| -> Result<Reply> {
            let request = person.request(Method::POST, &path).body("application/x-www-form-urlencoded", form.to_owned())?;
            match origin {
                None => request.without(&header::ORIGIN).send().await,
                Some(origin) => request.header(header::ORIGIN, origin)?.send().await,
            }
        };
        let allow = format!("decision=allow&access=read&workspaceId={}", home.id);
        for origin in [None, Some("null"), Some("https://evil.example")] {
            assert_page(&send(&aru, origin, &allow).await?, 403);
        }
        let here = Some(server.base_url());
        assert_page(&send(&bek, here, &allow).await?, 404);
        let answer = location(&send(&aru, here, &allow).await?)?;
        assert!(answer.starts_with("http://127.0.0.1:4711/cb?code=qoc_"), "{answer}");
        assert_page(&aru.get(&path).await?, 404);
        assert_page(&send(&aru, here, &allow).await?, 404);

        let code = parameter(&answer, "code")?.context("no code")?;
        let form = [
            ("grant_type", "authorization_code"), ("client_id", &agent.id), ("code", &code), ("code_verifier", VERIFIER),
        ];
        let answer = agent.token(&form).await?;
        assert_eq!(answer.string("/scope")?, "read", "less than was asked for");

        let id = agent.begin(&[("redirect_uri", "http://127.0.0.1:4711/cb")]).await?;
        let request = aru.request(Method::POST, &format!("/oauth/consent/{id}"));
        let refused = request.body("application/x-www-form-urlencoded", "access=read")?.send().await?;
        assert!(location(&refused)?.contains("error=access_denied"), "what is not yes is no");
        Ok(())
    }

    async fn nothing_secret_is_said_or_kept(server: Server) -> Result<()> {
        let aru = server.sign_in("aru@example.test").await?;
        let home = aru.make_workspace("Home").await?;
        let agent = aru.register_agent("Agent").await?;
        let code = agent.code(&aru, &home.id, "read").await?;
        let first = Tokens::of(&agent.exchange(&code).await?)?;
        let second = Tokens::of(&agent.refresh(&first.refresh).await?)?;
        aru.with_bearer(&second.access).call_tool("whoami", &json!({})).await?.assert_status(200);
        agent.exchange(&code).await?;
        agent.refresh(&second.refresh).await?;
        let log = server.log();
        let pairs = [&first, &second];
        let secrets = pairs.iter().flat_map(|pair| [&*pair.access, &*pair.refresh]).chain([&*code, VERIFIER]);
        for secret in secrets {
            assert!(!log.contains(secret), "the log holds a secret");
            assert!(!log.contains(&secret[4..20]), "the log holds a part of a secret");
        }
        Ok(())
    }
}

/// The audience of a token is one deployment: another on the same database does not take it.
#[tokio::test]
async fn a_token_for_another_deployment_is_none() -> Result<()> {
    tests::on(tests::Database::Postgres, async |server| {
        let aru = server.sign_in("aru@example.test").await?;
        let home = aru.make_workspace("Home").await?;
        let tokens = aru.register_agent("Agent").await?.sign_in(&aru, &home.id, "read").await?;
        let url = server.database_url().context("PostgreSQL")?.to_owned();
        // The development sign-in has the same key, since the harness gives each server the same.
        let other = Server::start(tests::Database::At(url)).await?;
        assert!(works(&aru, &tokens.access).await?);
        let refusal = other.client().with_bearer(&tokens.access).get("/v1/tokens/self").await?;
        refusal.assert_problem(401, "unauthorized");
        let personal = aru.make_token(&home.id, &["read"]).await?;
        assert!(works(&other.client(), &personal).await?, "the other deployment does know the database");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn addresses_that_ask_without_end_must_wait() -> Result<()> {
    tests::on(tests::Database::Sqlite, async |server| {
        let agent = server.client().register_agent("Agent").await?;
        let mut last = None;
        for _ in 0..400 {
            let reply = agent.refresh("qar_x").await?;
            if reply.status == 429 {
                last = Some(reply);
                break;
            }
            assert_refused(&reply, 400, "invalid_grant");
        }
        let reply = last.context("nobody had to wait")?;
        assert_refused(&reply, 429, "temporarily_unavailable");
        assert!(reply.header("retry-after").is_some_and(|wait| wait.parse::<u64>().is_ok()), "{reply}");
        Ok(())
    })
    .await
}
