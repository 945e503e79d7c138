//! Metadata, registration of clients, authorization requests and a person's decision.

use super::*;

tests::on_both! {
    async fn the_metadata_leads_to_every_endpoint(server: Server) -> Result<()> {
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

    async fn cross_origin_pages_may_call_only_endpoints_without_cookies(server: Server) -> Result<()> {
        let send = async |method: Method, path: &str| -> Result<Reply> {
            let client = server.client();
            let request = client.request(method, path).header(header::ORIGIN, "https://page.example")?;
            request.header(header::ACCESS_CONTROL_REQUEST_METHOD, "POST")?.send().await
        };
        for path in ["/oauth/register", "/oauth/token", "/oauth/revoke"] {
            let reply = send(Method::OPTIONS, path).await?;
            assert_eq!(reply.assert_status(204).header("access-control-allow-origin"), Some("*"), "{path}");
            let allowed = reply.header("access-control-allow-headers").unwrap_or_default();
            assert!(allowed.contains("content-type") && allowed.contains("mcp-protocol-version"), "{allowed}");
            assert_eq!(reply.header("access-control-allow-credentials"), None);
            // Errors are readable too.
            let refusal = send(Method::POST, path).await?;
            assert_eq!(refusal.assert_status(400).header("access-control-allow-origin"), Some("*"), "{path}");
        }
        for path in ["/oauth/authorize?client_id=x", "/oauth/consent/oaz_1"] {
            assert_eq!(send(Method::GET, path).await?.header("access-control-allow-origin"), None, "{path}");
        }
        Ok(())
    }

    async fn registration_returns_the_supported_subset_of_the_metadata(server: Server) -> Result<()> {
        let client = server.client();
        let reply = client
            .post(
                "/oauth/register",
                &json!({
                    "client_name": "Claude\u{202e}\u{0007} \n Agent",
                    "client_uri": "https://home.example/about",
                    "redirect_uris": ["http://localhost/callback", REDIRECT_URI],
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
        assert_eq!(body["redirect_uris"], json!(["http://localhost/callback", REDIRECT_URI]));
        assert!(body["client_id_issued_at"].is_i64() && body.get("client_secret").is_none(), "{reply}");
        assert_eq!(reply.header("cache-control"), Some("no-store"));

        let register = async |body: Value| client.post("/oauth/register", &body).await;
        for uri in [
            "http://agent.example/cb", "//evil.example", "https://a@evil.example/", "https://a.example%25@evil.example/",
            "https://a.example/../cb", "JavaScript:alert(1)", "https://кот.example/cb", "https://a.example/#x",
        ] {
            let reply = register(json!({"redirect_uris": [REDIRECT_URI, uri]})).await?;
            assert_oauth_error(&reply, 400, "invalid_redirect_uri");
        }
        assert_oauth_error(&register(json!({})).await?, 400, "invalid_redirect_uri");
        assert_oauth_error(&register(json!({"redirect_uris": vec![REDIRECT_URI; 11]})).await?, 400, "invalid_redirect_uri");
        assert_oauth_error(&register(json!([])).await?, 400, "invalid_client_metadata");
        let invalid = json!({"redirect_uris": [REDIRECT_URI], "client_name": 1});
        assert_oauth_error(&register(invalid).await?, 400, "invalid_client_metadata");
        let long = json!({"redirect_uris": [REDIRECT_URI], "logo_uri": "a".repeat(17 << 10)});
        assert_oauth_error(&register(long).await?, 413, "invalid_request");
        Ok(())
    }

    async fn a_client_is_not_recognised_by_its_name(server: Server) -> Result<()> {
        let person = server.sign_in("aru@example.test").await?;
        let id = person.register_agent("Claude").await?.start_authorization(&[]).await?;
        let client = person.get(&format!("/v1/oauth/authorizations/{id}")).await?.ok()?["client"].clone();
        assert_eq!(client, json!({
            "name": "Claude", "kind": "registered", "host": null, "recognized": null, "homepageHost": null,
        }));
        Ok(())
    }

    async fn browsers_are_not_redirected_to_unregistered_uris(server: Server) -> Result<()> {
        let person = server.sign_in("aru@example.test").await?;
        let body = json!({"redirect_uris": [REDIRECT_URI, "http://localhost/callback", "com.example.agent:/cb"]});
        let agent = person.registered_agent(&server.client().post("/oauth/register", &body).await?)?;
        for uri in [
            "", "//evil.example", "https://evil.example/callback", "https://agent.example@evil.example/callback",
            "https://agent.example%25@evil.example/callback", "https://agent.example/callback/../x",
            "https://agent.example/Callback", "HTTPS://agent.example/callback", "https://AGENT.example/callback",
            "https://agent.example/callback?x=1", "https://agent.example/callback#", "https://agent.example:8443/callback",
            "https://аgent.example/callback", "JavaScript:alert(1)", "http://127.0.0.1/callback",
            "http://localhost:1/other", "com.example.agent:/other",
        ] {
            assert_html_page(&person.authorize(&agent.authorization_parameters(&[("redirect_uri", uri)])).await?, 400);
        }
        for id in ["", "qac_00000000000e00800000000000", "nobody", "https://127.0.0.1:1/client.json"] {
            assert_html_page(&person.authorize(&agent.authorization_parameters(&[("client_id", id)])).await?, 400);
        }
        let twice = [&agent.authorization_parameters(&[])[..], &[("redirect_uri", "https://evil.example/")]].concat();
        assert_html_page(&person.authorize(&twice).await?, 400);
        // The client may choose the port of a loopback redirect.
        for uri in ["http://localhost/callback", "http://localhost:53412/callback", "com.example.agent:/cb"] {
            agent.start_authorization(&[("redirect_uri", uri)]).await.with_context(|| uri.to_owned())?;
        }
        Ok(())
    }

    async fn errors_of_a_request_are_reported_only_after_sign_in(server: Server) -> Result<()> {
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
            let parameters = agent.authorization_parameters(&[change]);
            let first = redirect_location(&visitor.authorize(&parameters).await?)?;
            let next = first.strip_prefix("/sign-in?next=").with_context(|| first.clone())?;
            assert!(next.starts_with("%2Foauth%2Fauthorize%3F"), "{first}");

            let response = redirect_location(&person.authorize(&parameters).await?)?;
            assert!(response.starts_with(&format!("{REDIRECT_URI}?error={error}&")), "{change:?}: {response}");
            assert_eq!(query_parameter(&response, "state")?.as_deref(), Some("a state"));
            assert_eq!(query_parameter(&response, "iss")?.as_deref(), Some(server.base_url()));
            assert_eq!(query_parameter(&response, "code")?, None);
        }
        let twice = [&agent.authorization_parameters(&[])[..], &[("scope", "read")]].concat();
        let response = redirect_location(&person.authorize(&twice).await?)?;
        assert_eq!(query_parameter(&response, "error")?.as_deref(), Some("invalid_request"));
        // Unknown parameters are ignored, and empty ones count as absent.
        let fine = [&agent.authorization_parameters(&[])[..], &[("prompt", "consent"), ("resource", "")]].concat();
        assert!(redirect_location(&person.authorize(&fine).await?)?.contains("/oauth/consent/oaz_"));
        Ok(())
    }

    async fn the_first_person_who_opens_a_request_decides_once(server: Server) -> Result<()> {
        let aru = server.sign_in("aru@example.test").await?;
        let workspace = aru.create_workspace("Home").await?;
        let bek = server.sign_in("bek@example.test").await?;
        bek.create_workspace("Elsewhere").await?;
        let agent = aru.register_agent("Agent").await?;
        let id = agent.start_authorization(&[("scope", "read")]).await?;
        let path = format!("/v1/oauth/authorizations/{id}");

        let view = aru.get(&path).await?.ok()?;
        assert_eq!(view["requestedAccess"], "read");
        assert_eq!(view["redirect"], json!({
            "origin": "https://agent.example", "host": "agent.example", "scheme": "https", "local": false,
        }));
        assert_eq!(view["resource"]["url"], format!("{}/mcp", server.base_url()));
        assert_eq!(view["user"]["email"], "aru@example.test");
        assert_eq!(view["workspaces"][0]["id"], workspace.id);
        assert_eq!(view["workspaces"][0]["role"], "owner");

        bek.get(&path).await?.assert_error(404, "authorization_not_found");
        bek.decide_authorization(&id, &json!({})).await?.assert_error(404, "authorization_not_found");
        bek.decide_authorization(&id, &json!({"decision": 1})).await?.assert_error(404, "authorization_not_found");

        // Neither more than was requested nor another person's workspace can be granted.
        let allow = |workspace: &str, access: &str| {
            json!({"decision": "allow", "workspaceId": workspace, "access": access})
        };
        aru.decide_authorization(&id, &allow(&workspace.id, "write")).await?.assert_error(400, "invalid_request");
        let elsewhere = bek.get("/v1/workspaces").await?.string_at("/items/0/id")?;
        aru.decide_authorization(&id, &allow(&elsewhere, "read")).await?.assert_error(404, "workspace_not_found");
        aru.decide_authorization(&id, &json!({"decision": "allow", "redirectTo": "https://evil.example"})).await?
            .assert_error(400, "invalid_request");

        let decided = aru.decide_authorization(&id, &allow(&workspace.id, "read")).await?;
        assert_eq!(decided.string_at("/outcome")?, "allowed");
        let next = decided.string_at("/redirectTo")?;
        assert!(next.starts_with(&format!("{REDIRECT_URI}?code=qoc_")), "{next}");
        assert_eq!(query_parameter(&next, "state")?.as_deref(), Some("a state"));
        assert_eq!(query_parameter(&next, "iss")?.as_deref(), Some(server.base_url()));

        aru.decide_authorization(&id, &allow(&workspace.id, "read")).await?.assert_error(409, "authorization_decided");
        aru.get(&path).await?.assert_error(404, "authorization_not_found");
        Ok(())
    }

    async fn an_empty_decision_is_a_denial(server: Server) -> Result<()> {
        let aru = server.sign_in("aru@example.test").await?;
        let agent = aru.register_agent("Agent").await?;
        for body in [json!({}), json!({"decision": "deny"})] {
            let decided = aru.decide_authorization(&agent.start_authorization(&[]).await?, &body).await?;
            assert_eq!(decided.string_at("/outcome")?, "denied");
            let next = decided.string_at("/redirectTo")?;
            assert_eq!(query_parameter(&next, "error")?.as_deref(), Some("access_denied"));
            assert_eq!(query_parameter(&next, "state")?.as_deref(), Some("a state"));
            assert_eq!(query_parameter(&next, "iss")?.as_deref(), Some(server.base_url()));
            assert_eq!(query_parameter(&next, "code")?, None);
        }
        // Requests from other origins cannot decide.
        let id = agent.start_authorization(&[]).await?;
        let path = format!("/v1/oauth/authorizations/{id}/decision");
        for origin in [None, Some("null"), Some("https://evil.example"), Some("http://sub.127.0.0.1")] {
            let request = aru.request(Method::POST, &path).json(&json!({"decision": "deny"}))?;
            let request = match origin {
                None => request.without_header(&header::ORIGIN),
                Some(origin) => request.header(header::ORIGIN, origin)?,
            };
            request.send().await?.assert_error(403, "forbidden");
        }
        aru.get(&format!("/v1/oauth/authorizations/{id}")).await?.assert_status(200);
        Ok(())
    }

    async fn a_person_decides_on_a_page(server: Server) -> Result<()> {
        let aru = server.sign_in("aru@example.test").await?;
        let workspace = aru.create_workspace("Home").await?;
        let bek = server.sign_in("bek@example.test").await?;
        let body = json!({"client_name": "<b>Agent</b>", "redirect_uris": ["http://127.0.0.1/cb"]});
        let agent = aru.registered_agent(&server.client().post("/oauth/register", &body).await?)?;
        let id = agent.start_authorization(&[("redirect_uri", "http://127.0.0.1:4711/cb")]).await?;
        let path = format!("/oauth/consent/{id}");

        assert_eq!(redirect_location(&server.client().get(&path).await?)?, format!("/sign-in?next=%2Foauth%2Fconsent%2F{id}"));
        let page = aru.get(&path).await?;
        assert_html_page(&page, 200);
        let policy = page.header("content-security-policy").unwrap_or_default();
        assert!(policy.contains("form-action 'self' http://127.0.0.1:4711;"), "{policy}");
        assert_eq!(page.header("x-frame-options"), Some("DENY"));
        let html = String::from_utf8(page.body.to_vec())?;
        assert!(html.contains("&lt;b&gt;Agent&lt;/b&gt;") && !html.contains("<b>"), "{html}");
        assert!(html.contains("127.0.0.1") && html.contains("a program on this device"), "{html}");
        assert!(html.contains(&workspace.id) && html.contains("aru@example.test"), "{html}");

        assert_html_page(&bek.get(&path).await?, 404);
        let send = async |person: &Client, origin: Option<&str>, form: &str| -> Result<Reply> {
            let request = person.request(Method::POST, &path).body("application/x-www-form-urlencoded", form.to_owned())?;
            match origin {
                None => request.without_header(&header::ORIGIN).send().await,
                Some(origin) => request.header(header::ORIGIN, origin)?.send().await,
            }
        };
        let allow = format!("decision=allow&access=read&workspaceId={}", workspace.id);
        for origin in [None, Some("null"), Some("https://evil.example")] {
            assert_html_page(&send(&aru, origin, &allow).await?, 403);
        }
        let here = Some(server.base_url());
        assert_html_page(&send(&bek, here, &allow).await?, 404);
        let response = redirect_location(&send(&aru, here, &allow).await?)?;
        assert!(response.starts_with("http://127.0.0.1:4711/cb?code=qoc_"), "{response}");
        assert_html_page(&aru.get(&path).await?, 404);
        assert_html_page(&send(&aru, here, &allow).await?, 404);

        let code = query_parameter(&response, "code")?.context("no code")?;
        let form = [
            ("grant_type", "authorization_code"), ("client_id", &agent.id), ("code", &code), ("code_verifier", CODE_VERIFIER),
        ];
        let response = agent.post_token(&form).await?;
        assert_eq!(response.string_at("/scope")?, "read", "a smaller scope than requested");

        let id = agent.start_authorization(&[("redirect_uri", "http://127.0.0.1:4711/cb")]).await?;
        let request = aru.request(Method::POST, &format!("/oauth/consent/{id}"));
        let refused = request.body("application/x-www-form-urlencoded", "access=read")?.send().await?;
        assert!(redirect_location(&refused)?.contains("error=access_denied"), "anything but an approval is a denial");
        Ok(())
    }
}
