//! Sign-in by e-mail, sessions and personal access tokens, and attacks on them.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};
use http::{Method, header};
use serde_json::{Value, json};
use tests::{Client, Database, Mail, Server};

/// Returns the code in the newest e-mail to an address.
async fn mailed_code(server: &Server, to: &str, mails: usize) -> Result<String> {
    server.wait_for_mail(to, mails).await?.code()
}

fn wrong_code(code: &str, number: u32) -> Result<String> {
    Ok(format!("{:06}", (code.parse::<u32>()? + number) % 1_000_000))
}

async fn start_email_sign_in(visitor: &Client, email: &str) -> Result<tests::Reply> {
    visitor.post_from_console("/v1/auth/email/start", &json!({"email": email})).await
}

async fn verify_email_code(visitor: &Client, email: &str, code: &str) -> Result<tests::Reply> {
    visitor.post_from_console("/v1/auth/email/verify", &json!({"email": email, "code": code})).await
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn a_mailed_code_signs_in_once(server: Server) -> Result<()> {
        let visitor = server.client();
        start_email_sign_in(&visitor, "aigerim@example.test").await?.assert_status(200);
        let code = mailed_code(&server, "aigerim@example.test", 1).await?;
        verify_email_code(&visitor, "somebody@example.test", &code).await?.assert_error(401, "invalid_code");
        let signed_in = verify_email_code(&visitor, "aigerim@example.test", &code).await?;
        let person = visitor.session_from_reply(&signed_in)?;
        assert_eq!(person.get("/v1/session").await?.string_at("/user/email")?, "aigerim@example.test");
        verify_email_code(&visitor, "aigerim@example.test", &code).await?.assert_error(401, "invalid_code");

        // A second e-mail signs the same person in, and the first code stays invalid.
        start_email_sign_in(&visitor, "Aigerim@Example.test").await?.assert_status(200);
        let second = mailed_code(&server, "aigerim@example.test", 2).await?;
        let again = visitor.session_from_reply(&verify_email_code(&visitor, "aigerim@example.test", &second).await?)?;
        let id = async |client: &Client| client.get("/v1/session").await?.string_at("/user/id");
        assert_eq!(id(&again).await?, id(&person).await?);
        Ok(())
    }

    async fn a_mailed_link_signs_in_once(server: Server) -> Result<()> {
        let visitor = server.client();
        let mail = async |count| {
            start_email_sign_in(&visitor, "aigerim@example.test").await?.assert_status(200);
            server.wait_for_mail("aigerim@example.test", count).await
        };
        let token = |mail: &Mail| anyhow::Ok(mail.link()?.split_once("token=").context("no token")?.1.to_owned());
        let follow = async |token: &str| {
            visitor.post_from_console("/v1/auth/email/link", &json!({"token": token})).await
        };
        let old = token(&mail(1).await?)?;
        let newest = mail(2).await?;
        follow(&old).await?.assert_error(401, "invalid_code");
        let link = token(&newest)?;
        let signed_in = follow(&link).await?;
        let person = visitor.session_from_reply(&signed_in)?;
        assert_eq!(person.get("/v1/session").await?.string_at("/user/email")?, "aigerim@example.test");
        // The link invalidates the code of the same e-mail.
        follow(&link).await?.assert_error(401, "invalid_code");
        let code = newest.code()?;
        verify_email_code(&visitor, "aigerim@example.test", &code).await?.assert_error(401, "invalid_code");
        for bad in ["", "qsl_", "qat_000000000000000000000000000000000000", "\u{0}"] {
            follow(bad).await?.assert_error(401, "invalid_code");
        }
        Ok(())
    }

    async fn mail_is_written_in_the_requested_language(server: Server) -> Result<()> {
        let visitor = server.client();
        for (locale, subject) in
            [("en", "Your code for Qala"), ("ru", "Ваш код для Qala"), ("kk", "Qala үшін кодыңыз")]
        {
            let to = format!("{locale}@example.test");
            let body = json!({"email": to, "locale": locale});
            visitor.post_from_console("/v1/auth/email/start", &body).await?.assert_status(200);
            assert_eq!(server.wait_for_mail(&to, 1).await?.subject, subject);
        }
        let body = json!({"email": "a@example.test", "locale": "de"});
        visitor.post_from_console("/v1/auth/email/start", &body).await?.assert_error(400, "invalid_request");
        Ok(())
    }

    async fn five_wrong_codes_end_a_sign_in(server: Server) -> Result<()> {
        let visitor = server.client();
        let email = "aigerim@example.test";
        start_email_sign_in(&visitor, email).await?.assert_status(200);
        let code = mailed_code(&server, email, 1).await?;
        for number in 1..=5 {
            verify_email_code(&visitor, email, &wrong_code(&code, number)?).await?.assert_error(401, "invalid_code");
        }
        verify_email_code(&visitor, email, &code).await?.assert_error(401, "invalid_code");

        start_email_sign_in(&visitor, email).await?.assert_status(200);
        let code = mailed_code(&server, email, 2).await?;
        for number in 1..=4 {
            verify_email_code(&visitor, email, &wrong_code(&code, number)?).await?.assert_error(401, "invalid_code");
        }
        verify_email_code(&visitor, email, &code).await?.assert_status(200);
        Ok(())
    }

    async fn concurrent_wrong_codes_are_each_counted(server: Server) -> Result<()> {
        let visitor = server.client();
        let email = "aigerim@example.test";
        start_email_sign_in(&visitor, email).await?.assert_status(200);
        let code = mailed_code(&server, email, 1).await?;
        let mut guesses = tokio::task::JoinSet::new();
        for number in 1..=20 {
            let (visitor, guess) = (visitor.clone(), wrong_code(&code, number)?);
            guesses.spawn(async move { verify_email_code(&visitor, email, &guess).await });
        }
        for guess in guesses.join_all().await {
            guess?.assert_error(401, "invalid_code");
        }
        verify_email_code(&visitor, email, &code).await?.assert_error(401, "invalid_code");
        Ok(())
    }

    async fn known_and_unknown_addresses_get_the_same_responses(server: Server) -> Result<()> {
        server.sign_in("known@example.test").await?;
        let visitor = server.client();
        let mut responses = BTreeSet::new();
        for email in ["known@example.test", "unknown@example.test"] {
            let started = start_email_sign_in(&visitor, email).await?;
            let names: BTreeSet<_> = started.headers.keys().map(|name| name.as_str().to_owned()).collect();
            responses.insert((started.status.as_u16(), started.json::<Value>()?.to_string(), names));
        }
        assert_eq!(responses.len(), 1, "{responses:?}");
        let mut errors = BTreeSet::new();
        for email in ["known@example.test", "unknown@example.test", "never@example.test"] {
            let body = verify_email_code(&visitor, email, "000000").await?.json::<Value>()?;
            errors.insert((body["error"]["code"].to_string(), body["error"]["message"].to_string()));
        }
        assert_eq!(errors.len(), 1, "{errors:?}");
        for bad in ["", "nobody", "a@b@c", "a b@example.test", "x@"] {
            start_email_sign_in(&visitor, bad).await?.check_error(400, Some("invalid_request")).context(bad)?;
        }
        Ok(())
    }

    async fn the_session_cookie_is_protected(server: Server) -> Result<()> {
        let reply = server
            .client()
            .post_from_console("/v1/auth/dev-login", &json!({"email": "aigerim@example.test"}))
            .await?;
        let cookie = reply.header("set-cookie").context("no cookie")?;
        let mut parts = cookie.split("; ");
        assert!(parts.next().is_some_and(|pair| pair.starts_with("qala_session=")), "{cookie}");
        let flags: BTreeSet<_> = parts.collect();
        for flag in ["Path=/", "HttpOnly", "SameSite=Lax"] {
            assert!(flags.contains(flag), "{cookie}");
        }
        assert!(!flags.iter().any(|flag| flag.starts_with("Domain")), "{cookie}");
        let secret = cookie.split([';', '=']).nth(1).context("no value")?;
        assert!(!String::from_utf8_lossy(&reply.body).contains(secret), "{reply}");
        assert!(!server.log().contains(secret), "the log contains the secret of a session");
        Ok(())
    }

    async fn requests_of_other_sites_are_rejected(server: Server) -> Result<()> {
        let person = server.sign_in("aigerim@example.test").await?;
        let workspace = person.create_workspace("Tulpar").await?;
        let app = format!("/v1/apps/{}", workspace.sample_app);
        let origin = server.base_url().to_owned();
        let change = json!({"name": "Stolen"});
        let patch = || person.request(Method::PATCH, &app).json(&change);
        patch()?.without_header(&header::ORIGIN).send().await?.assert_error(403, "forbidden");
        for foreign in [
            "null",
            "",
            "https://evil.example.test",
            "http://127.0.0.1",
            &format!("{origin}.evil.test"),
            &format!("{origin}/"),
            &origin.replace("http:", "https:"),
            &format!("http://a.{}", &origin[7..]),
        ] {
            let reply = patch()?.header(header::ORIGIN, foreign)?.send().await?;
            reply.check_error(403, Some("forbidden")).with_context(|| foreign.to_owned())?;
        }
        let twice = patch()?.append_header(header::ORIGIN, "https://evil.example.test")?;
        twice.send().await?.assert_error(403, "forbidden");
        for (method, path) in [
            (Method::DELETE, app.as_str()),
            (Method::DELETE, "/v1/session"),
            (Method::POST, "/v1/workspaces"),
        ] {
            let reply = person
                .request(method, path)
                .header(header::ORIGIN, "https://evil.example.test")?
                .send()
                .await?;
            reply.check_error(403, Some("forbidden")).context(path.to_owned())?;
        }
        // Pages of other sites cannot sign anybody in either.
        let visitor = server.client();
        for path in ["/v1/auth/dev-login", "/v1/auth/email/start", "/v1/auth/email/verify"] {
            let body = json!({"email": "aigerim@example.test", "code": "000000"});
            visitor.post(path, &body).await?.check_error(403, Some("forbidden")).context(path)?;
        }
        assert_eq!(person.get(&app).await?.string_at("/name")?, "Notebook");
        patch()?.send().await?.assert_status(200);
        Ok(())
    }

    async fn signing_out_ends_only_that_session(server: Server) -> Result<()> {
        let person = server.sign_in("aigerim@example.test").await?;
        let elsewhere = server.sign_in("aigerim@example.test").await?;
        let ended = person.delete("/v1/session").await?;
        ended.assert_status(200);
        assert!(
            ended.header("set-cookie").is_some_and(|cookie| cookie.contains("Max-Age=0")),
            "{:?}",
            ended.headers
        );
        person.get("/v1/session").await?.assert_error(401, "unauthorized");
        person.delete("/v1/session").await?.assert_error(401, "unauthorized");
        elsewhere.get("/v1/session").await?.assert_status(200);
        Ok(())
    }

    async fn a_token_works_until_it_is_revoked(server: Server) -> Result<()> {
        let person = server.sign_in("aigerim@example.test").await?;
        let workspace = person.create_workspace("Tulpar").await?;
        let tokens = format!("/v1/workspaces/{}/tokens", workspace.id);
        let created = person.post(&tokens, &json!({"name": "Deploys", "scopes": ["read"]})).await?;
        let (secret, id) = (created.string_at("/secret")?, created.string_at("/token/id")?);
        assert!(secret.starts_with("qat_"), "{secret}");
        let listed = person.get(&tokens).await?;
        assert!(!String::from_utf8_lossy(&listed.body).contains(&secret), "{listed}");
        let shown = listed.ok()?;
        assert_eq!(shown[0]["id"], id.as_str());
        assert!(secret.ends_with(shown[0]["last4"].as_str().context("no last4")?), "{listed}");

        let bearer = person.with_bearer(&secret);
        let own = bearer.get("/v1/tokens/self").await?;
        assert_eq!(
            (own.string_at("/token/id")?, own.string_at("/workspace/id")?),
            (id.clone(), workspace.id.clone())
        );
        bearer.get(&format!("/v1/workspaces/{}/apps", workspace.id)).await?.assert_status(200);
        let app = json!({"name": "An app"});
        let apps = format!("/v1/workspaces/{}/apps", workspace.id);
        bearer.post(&apps, &app).await?.assert_error(403, "insufficient_scope");
        bearer.get("/v1/session").await?.assert_error(403, "console_only");
        bearer.get(&tokens).await?.assert_error(403, "console_only");
        bearer
            .post(&tokens, &json!({"name": "Child", "scopes": ["read"]}))
            .await?
            .assert_error(403, "console_only");

        let elsewhere = person.create_workspace("Elsewhere").await?;
        let other = format!("/v1/workspaces/{}/apps", elsewhere.id);
        bearer.get(&other).await?.assert_error(404, "workspace_not_found");
        bearer.get(&format!("/v1/apps/{}", elsewhere.sample_app)).await?.assert_error(404, "app_not_found");

        let writer = person.with_bearer(&person.create_token(&workspace.id, &["write"]).await?);
        writer.post(&apps, &app).await?.assert_status(200);

        person.delete(&format!("{tokens}/{id}")).await?.assert_status(200);
        bearer.get("/v1/tokens/self").await?.assert_error(401, "unauthorized");
        writer.get("/v1/tokens/self").await?.assert_status(200);
        writer.delete("/v1/tokens/self").await?.assert_status(200);
        writer.get("/v1/tokens/self").await?.assert_error(401, "unauthorized");
        assert!(!server.log().contains(&secret), "the log contains a token");
        Ok(())
    }

    async fn only_an_admin_creates_a_token_with_the_scope_admin(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?;
        let tokens = format!("/v1/workspaces/{}/tokens", workspace.id);
        let mut last_member = None;
        for role in ["viewer", "member", "builder", "admin"] {
            let email = format!("{role}@example.test");
            let person = server.sign_in(&email).await?;
            owner.invite_and_accept(&workspace.id, &email, role, &person).await?;
            let make = async |scopes: &[&str]| person.post(&tokens, &json!({"name": "A", "scopes": scopes})).await;
            make(&["read", "write"]).await?.assert_status(200);
            for scopes in [&["admin"][..], &["read", "admin"], &["write", "admin"]] {
                let reply = make(scopes).await?;
                if role == "admin" {
                    reply.assert_status(200);
                } else {
                    reply.check_error(403, Some("admin_only")).with_context(|| role.to_owned())?;
                }
            }
            last_member = Some(person);
        }
        // A former admin cannot create one either.
        let admin = last_member.context("no admin")?;
        let path = format!("/v1/workspaces/{}/members/{}", workspace.id, admin.user_id().await?);
        owner.patch(&path, &json!({"role": "builder"})).await?.assert_status(200);
        admin.post(&tokens, &json!({"name": "A", "scopes": ["admin"]})).await?.assert_error(403, "admin_only");
        Ok(())
    }

    async fn tokens_have_a_limit_and_pages(server: Server) -> Result<()> {
        let person = server.sign_in("aigerim@example.test").await?;
        let workspace = person.create_workspace("Tulpar").await?;
        let tokens = format!("/v1/workspaces/{}/tokens", workspace.id);
        let body = json!({"name": "Deploys", "scopes": ["read"]});
        let mut created = Vec::new();
        for _ in 0..100 {
            created.push(person.post(&tokens, &body).await?.string_at("/token/id")?);
        }
        person.post(&tokens, &body).await?.assert_error(409, "too_many_tokens");
        // The limit is per workspace, and a revoked token no longer counts.
        let elsewhere = person.create_workspace("Elsewhere").await?;
        person.create_token(&elsewhere.id, &["read"]).await?;
        person.delete(&format!("{tokens}/{}", created[0])).await?.assert_status(200);
        created.push(person.post(&tokens, &body).await?.string_at("/token/id")?);
        person.post(&tokens, &body).await?.assert_error(409, "too_many_tokens");

        let mut path = format!("{tokens}?limit=40");
        let (mut seen, mut pages) = (Vec::new(), 0);
        loop {
            let page = person.get(&path).await?;
            let items = page.ok()?;
            let items = items.as_array().context("no list")?;
            assert!(items.len() <= 40, "{page}");
            seen.extend(items.iter().filter_map(|item| item["id"].as_str().map(str::to_owned)));
            pages += 1;
            let Some(link) = page.header("link") else { break };
            path = link.strip_prefix('<').and_then(|rest| rest.split('>').next()).context("no link")?.to_owned();
            assert!(link.ends_with("rel=\"next\""), "{link}");
        }
        seen.reverse();
        assert_eq!((seen, pages), (created, 3));
        person.get(&format!("{tokens}?limit=0")).await?.assert_error(400, "invalid_request");
        person.get(&format!("{tokens}?cursor=x")).await?.assert_error(400, "invalid_request");
        Ok(())
    }

    async fn a_token_belongs_to_its_creator(server: Server) -> Result<()> {
        let person = server.sign_in("aigerim@example.test").await?;
        let workspace = person.create_workspace("Tulpar").await?;
        let tokens = format!("/v1/workspaces/{}/tokens", workspace.id);
        let created = person.post(&tokens, &json!({"name": "Mine", "scopes": ["read"]})).await?;
        let outsider = server.sign_in("outsider@example.test").await?;
        let theirs = outsider.create_workspace("Theirs").await?;
        let id = created.string_at("/token/id")?;
        outsider.delete(&format!("{tokens}/{id}")).await?.assert_error(404, "workspace_not_found");
        let own = format!("/v1/workspaces/{}/tokens/{id}", theirs.id);
        outsider.delete(&own).await?.assert_error(404, "token_not_found");
        person.with_bearer(&created.string_at("/secret")?).get("/v1/tokens/self").await?.assert_status(200);
        for bad in [
            json!({"name": "", "scopes": ["read"]}),
            json!({"name": "A", "scopes": []}),
            json!({"name": "A", "scopes": ["root"]}),
            json!({"name": "A", "scopes": ["read"], "expiresInDays": 0}),
            json!({"name": "A", "scopes": ["read"], "expiresInDays": 366}),
        ] {
            let reply = person.post(&tokens, &bad).await?;
            reply.check_error(400, Some("invalid_request")).with_context(|| bad.to_string())?;
        }
        Ok(())
    }

    async fn a_credential_must_be_complete_and_in_the_right_place(server: Server) -> Result<()> {
        let person = server.sign_in("aigerim@example.test").await?;
        let workspace = person.create_workspace("Tulpar").await?;
        let secret = person.create_token(&workspace.id, &["read"]).await?;
        let visitor = server.client();
        let own = "/v1/tokens/self";
        for malformed in [
            "",
            "Bearer",
            "Bearer ",
            &secret,
            &format!("Basic {secret}"),
            &format!("Token {secret}"),
            &format!("Bearer {}", &secret[..secret.len() - 1]),
            &format!("Bearer {secret}x"),
            &format!("Bearer {secret} x"),
            "Bearer qat_000000000000000000000000000000000000",
            "Bearer qk_sec_x",
        ] {
            let reply =
                visitor.request(Method::GET, own).header(header::AUTHORIZATION, malformed)?.send().await?;
            reply
                .check_error(401, Some("unauthorized"))
                .with_context(|| malformed.replace(&secret, "…"))?;
            assert!(reply.header("www-authenticate").is_some(), "{reply}");
        }
        for query in ["token", "access_token", "apikey", "authorization"] {
            let reply =
                visitor.get(&format!("/v1/workspaces/{}/apps?{query}={secret}", workspace.id)).await?;
            reply.check_error(401, Some("unauthorized")).context(query)?;
        }
        // A valid cookie does not make up for an invalid token.
        let both =
            person.request(Method::GET, "/v1/session").header(header::AUTHORIZATION, "Bearer qat_x")?;
        both.send().await?.assert_error(401, "unauthorized");
        let lower =
            visitor.request(Method::GET, own).header(header::AUTHORIZATION, &format!("bearer {secret}"))?;
        lower.send().await?.assert_status(200);
        Ok(())
    }
}

#[tokio::test]
async fn the_development_sign_in_can_be_off() -> Result<()> {
    tests::on_server(Server::with(Database::Sqlite).without_dev_login(), async |server| {
        let visitor = server.client();
        let reply =
            visitor.post_from_console("/v1/auth/dev-login", &json!({"email": "a@example.test"})).await?;
        reply.assert_error(404, "route_not_found");
        start_email_sign_in(&visitor, "a@example.test").await?.assert_status(200);
        let code = mailed_code(&server, "a@example.test", 1).await?;
        verify_email_code(&visitor, "a@example.test", &code).await?.assert_status(200);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn behind_tls_the_cookie_is_bound_to_the_host() -> Result<()> {
    let options = Server::with(Database::Sqlite).args(["--public-url", "https://qala.example.test"]);
    tests::on_server(options, async |server| {
        let visitor = server.client();
        let login =
            visitor.request(Method::POST, "/v1/auth/dev-login").json(&json!({"email": "a@example.test"}))?;
        let login = login.header(header::ORIGIN, "https://qala.example.test")?.send().await?;
        let cookie = login.header("set-cookie").with_context(|| login.to_string())?;
        assert!(cookie.starts_with("__Host-qala_session="), "{cookie}");
        assert!(cookie.contains("; Secure") && cookie.contains("; Path=/;"), "{cookie}");
        let person = visitor.session_from_reply(&login)?;
        person.get("/v1/session").await?.assert_status(200);
        // The cookie name without the prefix is not accepted here.
        let plain = cookie.trim_start_matches("__Host-").split(';').next().context("no pair")?;
        let reply = visitor.request(Method::GET, "/v1/session").header(header::COOKIE, plain)?.send().await?;
        reply.assert_error(401, "unauthorized");
        Ok(())
    })
    .await
}
