//! The list of a person's sessions, and the sign-in pages.

use std::time::Duration;

use anyhow::{Context as _, Result};
use http::{Method, header};
use serde_json::{Value, json};
use tests::{Client, Database, Reply, Server, eventually_within};

async fn list_sessions(person: &Client) -> Result<Vec<Value>> {
    let list = person.get("/v1/me/sessions").await?.ok()?;
    Ok(list["items"].as_array().context("no items")?.clone())
}

fn encode_form(pairs: &[(&str, &str)]) -> String {
    url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}

async fn post_form(client: &Client, path: &str, pairs: &[(&str, &str)]) -> Result<Reply> {
    let request = client.request(Method::POST, path).header(header::ORIGIN, client.base_url())?;
    request.body("application/x-www-form-urlencoded", encode_form(pairs))?.send().await
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn a_person_lists_and_revokes_their_sessions(server: Server) -> Result<()> {
        let email = "aigerim@example.test";
        let here = server.sign_in(email).await?;
        let login = server.client();
        let login = login.request(Method::POST, "/v1/auth/dev-login").json(&json!({"email": email}))?;
        let login = login.header(header::ORIGIN, server.base_url())?;
        let firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
        let there = here.session_from_reply(&login.header(header::USER_AGENT, firefox)?.send().await?)?;
        let outsider = server.sign_in("outsider@example.test").await?;

        let list = list_sessions(&here).await?;
        assert_eq!(list.len(), 2, "{list:?}");
        assert_eq!((&list[0]["device"], &list[0]["current"]), (&json!("Firefox on Linux"), &json!(false)));
        assert_eq!((&list[1]["device"], &list[1]["current"]), (&Value::Null, &json!(true)));
        for session in &list {
            assert_eq!((&session["address"], &session["method"]), (&json!("127.0.0.1"), &json!("dev")));
            for moment in ["createdAt", "lastSeenAt", "expiresAt"] {
                assert!(session[moment].is_string(), "{session}");
            }
        }
        let other = format!("/v1/me/sessions/{}", list[0]["id"].as_str().context("no id")?);
        outsider.delete(&other).await?.assert_error(404, "session_not_found");
        there.get("/v1/session").await?.assert_status(200);
        here.delete(&other).await?.assert_status(200);
        there.get("/v1/session").await?.assert_error(401, "unauthorized");
        here.delete(&other).await?.assert_error(404, "session_not_found");

        let third = server.sign_in(email).await?;
        here.delete("/v1/me/sessions").await?.assert_status(200);
        third.get("/v1/session").await?.assert_error(401, "unauthorized");
        here.get("/v1/session").await?.assert_status(200);
        let fourth = server.sign_in(email).await?;
        let ended = here.delete("/v1/me/sessions?all=true").await?;
        assert!(ended.header("set-cookie").is_some_and(|cookie| cookie.contains("Max-Age=0")), "{ended}");
        here.get("/v1/session").await?.assert_error(401, "unauthorized");
        fourth.get("/v1/session").await?.assert_error(401, "unauthorized");
        outsider.get("/v1/session").await?.assert_status(200);
        Ok(())
    }

    async fn a_planted_session_does_not_survive_signing_in(server: Server) -> Result<()> {
        // The attacker plants their own session in the victim's browser, which then signs in.
        let planted = server.sign_in("attacker@example.test").await?;
        let login = planted.request(Method::POST, "/v1/auth/dev-login");
        let reply = login.json(&json!({"email": "victim@example.test"}))?.send().await?;
        let victim = planted.session_from_reply(&reply)?;
        assert_eq!(victim.get("/v1/session").await?.string_at("/user/email")?, "victim@example.test");
        planted.get("/v1/session").await?.assert_error(401, "unauthorized");
        Ok(())
    }

    async fn the_last_use_of_a_session_is_recorded(server: Server) -> Result<()> {
        let person = server.sign_in("aigerim@example.test").await?;
        let first = list_sessions(&person).await?[0]["lastSeenAt"].clone();
        eventually_within(Duration::from_secs(40), "the time is recorded", async || {
            let now = list_sessions(&person).await?[0]["lastSeenAt"].clone();
            anyhow::ensure!(now.as_str() > first.as_str(), "{now} is not after {first}");
            Ok(())
        })
        .await
    }

    async fn the_page_signs_in_with_a_mailed_code(server: Server) -> Result<()> {
        let visitor = server.client();
        let email = "aigerim@example.test";
        let page = visitor.get("/sign-in?next=/device").await?;
        assert!(String::from_utf8_lossy(page.assert_status(200).body.as_ref()).contains("value=\"/device\""));
        let mut responses = Vec::new();
        for address in [email, "unknown@example.test"] {
            let started = post_form(&visitor, "/sign-in/start", &[("email", address), ("next", "/device")]).await?;
            responses.push(String::from_utf8_lossy(&started.assert_status(200).body).replace(address, ""));
        }
        assert_eq!(responses[0], responses[1]);
        let mail = server.wait_for_mail(email, 1).await?;
        // Mail scanners open links first, which uses nothing up.
        let link = mail.link()?;
        let link = link.strip_prefix(server.base_url()).context("no link to this server")?;
        for _ in 0..7 {
            let landing = visitor.get(link).await?;
            landing.assert_status(200);
            assert!(landing.header("set-cookie").is_none(), "{landing}");
            assert!(String::from_utf8_lossy(&landing.body).contains("value=\"/device\""), "{landing}");
        }
        let code = mail.code()?;
        let entry = [("email", email), ("code", &*code), ("next", "/device")];
        let foreign = visitor.request(Method::POST, "/sign-in/email");
        let foreign = foreign.body("application/x-www-form-urlencoded", encode_form(&entry))?;
        foreign.send().await?.assert_error(403, "forbidden");
        let signed_in = post_form(&visitor, "/sign-in/email", &entry).await?;
        assert_eq!((signed_in.status.as_u16(), signed_in.header("location")), (303, Some("/device")));
        let cookie = signed_in.header("set-cookie").context("no cookie")?;
        assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"), "{cookie}");
        post_form(&visitor, "/sign-in/email", &entry).await?.assert_status(401);
        let token = link.split_once("token=").context("no token")?.1;
        post_form(&visitor, "/sign-in/email", &[("token", token)]).await?.assert_status(401);

        post_form(&visitor, "/sign-in/start", &[("email", email)]).await?.assert_status(200);
        let link = server.wait_for_mail(email, 2).await?.link()?;
        let entry = [("token", link.split_once("token=").context("no token")?.1)];
        let signed_in = post_form(&visitor, "/sign-in/email", &entry).await?;
        assert_eq!((signed_in.status.as_u16(), signed_in.header("location")), (303, Some("/sign-in")));
        post_form(&visitor, "/sign-in/email", &entry).await?.assert_status(401);
        Ok(())
    }

    /// The pages for a wrong code, a used link, another account and a second e-mail all offer a next step.
    async fn every_error_page_offers_a_next_step(server: Server) -> Result<()> {
        let visitor = server.client();
        let html = |reply: &Reply| String::from_utf8_lossy(&reply.body).into_owned();
        let home = visitor.get("/").await?;
        assert!(home.status == 200 && html(&home).contains("href=\"/sign-in\""), "{home}");
        let icon = visitor.get("/favicon.ico").await?;
        assert!(icon.assert_status(200).header("content-type") == Some("image/svg+xml"), "{icon}");

        let email = "aigerim@example.test";
        let sent = post_form(&visitor, "/sign-in/start", &[("email", email), ("next", "/device")]).await?;
        for part in ["action=\"/sign-in/start\"", "action=\"/sign-in/email\"", "href=\"/sign-in?next=%2Fdevice\""] {
            assert!(html(&sent).contains(part), "{part}: {sent}");
        }
        let code = server.wait_for_mail(email, 1).await?.code()?;
        let wrong = if code == "000000" { "000001" } else { "000000" };
        let entry = |code: &str| [("email", email.to_owned()), ("code", code.to_owned()), ("next", "/device".to_owned())];
        let send = async |entry: [(&str, String); 3]| {
            let entry = entry.each_ref().map(|(name, value)| (*name, value.as_str()));
            post_form(&visitor, "/sign-in/email", &entry).await
        };
        let refused = send(entry(wrong)).await?;
        refused.assert_status(401);
        for part in ["name=\"code\"", "value=\"aigerim@example.test\"", "value=\"/device\"", "action=\"/sign-in/start\""] {
            assert!(html(&refused).contains(part), "{part}: {refused}");
        }
        // The page sends a new code, and the previous one is no longer valid.
        post_form(&visitor, "/sign-in/start", &[("email", email), ("next", "/device")]).await?.assert_status(200);
        let second = server.wait_for_mail(email, 2).await?.code()?;
        let signed_in = send(entry(&second)).await?;
        assert_eq!((signed_in.status.as_u16(), signed_in.header("location")), (303, Some("/device")));
        let used = post_form(&visitor, "/sign-in/email", &[("token", "x"), ("next", "/device")]).await?;
        used.assert_status(401);
        assert!(html(&used).contains("href=\"/sign-in?next=%2Fdevice\""), "{used}");
        let bad = post_form(&visitor, "/sign-in/start", &[("email", "nonsense")]).await?;
        assert!(bad.status == 400 && html(&bad).contains("href=\"/sign-in"), "{bad}");

        let person = server.sign_in(email).await?;
        person.create_workspace("Tulpar").await?;
        let page = person.get("/sign-in").await?;
        for part in [email, "Tulpar", "href=\"/device\"", "href=\"/docs\"", "Use another account", "Sign out"] {
            assert!(html(&page).contains(part), "{part}: {page}");
        }
        let sign_out = person.request(Method::POST, "/sign-out").header(header::ORIGIN, person.base_url())?;
        let sign_out = sign_out.body("application/x-www-form-urlencoded", encode_form(&[("next", "/sign-in?next=%2Fdevice")]))?;
        assert_eq!(sign_out.send().await?.header("location"), Some("/sign-in?next=%2Fdevice"));
        person.get("/v1/session").await?.assert_error(401, "unauthorized");
        Ok(())
    }

    async fn pages_and_mails_are_in_the_readers_language(server: Server) -> Result<()> {
        let visitor = server.client();
        let get = async |path: &str, name: http::HeaderName, value: &str| -> Result<String> {
            let reply = visitor.request(Method::GET, path).header(name, value)?.send().await?;
            reply.assert_status(200);
            Ok(String::from_utf8_lossy(&reply.body).into_owned())
        };
        for (accepted_languages, lang, button) in [
            ("en-GB,ru;q=0.5", "en", "Send me a code"),
            ("ru-RU,ru;q=0.9,en;q=0.8", "ru", "Прислать код"),
            ("kk-KZ,kk;q=0.9,ru;q=0.8", "kk", "Код жіберу"),
            ("de", "en", "Send me a code"),
        ] {
            let page = get("/sign-in", header::ACCEPT_LANGUAGE, accepted_languages).await?;
            assert!(page.contains(&format!("<html lang=\"{lang}\">")) && page.contains(button), "{accepted_languages}: {page}");
        }
        // The language link stores the choice and returns to the page.
        let chosen = visitor.get("/pages/language/kk?next=%2Fsign-in%3Fnext%3D%252Fdevice").await?;
        assert_eq!((chosen.status.as_u16(), chosen.header("location")), (303, Some("/sign-in?next=%2Fdevice")));
        let cookie = chosen.header("set-cookie").and_then(|cookie| cookie.split(';').next()).context("no cookie")?;
        assert!(get("/sign-in", header::COOKIE, cookie).await?.contains("Код жіберу"));
        let elsewhere = visitor.get("/pages/language/ru?next=%2F%2Fevil.test").await?;
        assert_eq!(elsewhere.header("location"), Some("/sign-in"));
        visitor.get("/pages/language/xx").await?.assert_status(404);

        for (locale, subject) in [("en", "Your code"), ("ru", "Ваш код"), ("kk", "кодыңыз")] {
            let email = format!("{locale}@example.test");
            post_form(&visitor, "/sign-in/start", &[("email", &email), ("locale", locale)]).await?.assert_status(200);
            let mail = server.wait_for_mail(&email, 1).await?;
            assert!(mail.subject.contains(subject), "{mail:?}");
        }
        // The pages of the device login and of agents use the language too.
        let person = server.sign_in("aigerim@example.test").await?;
        person.create_workspace("Tulpar").await?;
        let started = visitor.post("/v1/cli/device", &json!({"client": "shell"})).await?.string_at("/userCode")?;
        for (lang, device, allow) in
            [("en", "Connect shell?", "Allow"), ("ru", "Подключить shell?", "Разрешить"), ("kk", "shell қосылсын ба?", "Рұқсат беру")]
        {
            let page = person.request(Method::GET, &format!("/device?user_code={started}"));
            let page = page.header(header::ACCEPT_LANGUAGE, lang)?.send().await?;
            let html = String::from_utf8_lossy(&page.assert_status(200).body).into_owned();
            assert!(html.contains(&format!("<h1>{device}</h1>")) && html.contains(allow), "{lang}: {html}");
            let agent = person.register_agent("Helper").await?;
            let consent = person.request(Method::GET, &format!("/oauth/consent/{}", agent.start_authorization(&[]).await?));
            let consent = consent.header(header::ACCEPT_LANGUAGE, lang)?.send().await?;
            let html = String::from_utf8_lossy(&consent.assert_status(200).body).into_owned();
            assert!(html.contains(&format!("<html lang=\"{lang}\">")) && html.contains(allow), "{lang}: {html}");
        }
        Ok(())
    }

    async fn the_page_redirects_only_within_the_site(server: Server) -> Result<()> {
        let visitor = server.client();
        for next in
            ["//evil.test", "/\\evil.test", "https://evil.test", "javascript:alert(1)", "/\t/evil.test", "evil", ""]
        {
            let reply = post_form(&visitor, "/sign-in/dev", &[("email", "a@example.test"), ("next", next)]).await?;
            assert_eq!((reply.status.as_u16(), reply.header("location")), (303, Some("/sign-in")), "{next:?}");
            let page = visitor.get(&format!("/sign-in?{}", encode_form(&[("next", next)]))).await?;
            assert!(!String::from_utf8_lossy(&page.body).contains("evil"), "{next:?}: {page}");
        }
        let reply = post_form(&visitor, "/sign-in/dev", &[("email", "a@example.test"), ("next", "/device")]).await?;
        let cookie = reply.header("set-cookie").and_then(|cookie| cookie.split(';').next()).context("no cookie")?;
        assert_eq!(reply.header("location"), Some("/device"));
        // A signed-in person is redirected at once, and never to another site.
        for (next, location) in [("/device", Some("/device")), ("//evil.test", None)] {
            let page = visitor.request(Method::GET, &format!("/sign-in?{}", encode_form(&[("next", next)])));
            let page = page.header(header::COOKIE, cookie)?.send().await?;
            assert_eq!(page.header("location"), location, "{next}");
        }
        let sign_out = visitor.request(Method::POST, "/sign-out").header(header::COOKIE, cookie)?;
        let sign_out = sign_out.header(header::ORIGIN, visitor.base_url())?.send().await?;
        assert_eq!(sign_out.status.as_u16(), 303);
        let after = visitor.request(Method::GET, "/v1/session").header(header::COOKIE, cookie)?.send().await?;
        after.assert_error(401, "unauthorized");
        Ok(())
    }
}

/// A session ends after seven idle days, or after thirty days. The test shifts times in the database, because it cannot
/// change the clock.
#[tokio::test]
async fn a_session_expires() -> Result<()> {
    tests::on_server(Server::with(Database::Postgres), async |server| {
        let idle = server.sign_in("idle@example.test").await?;
        let old = server.sign_in("old@example.test").await?;
        let fresh = server.sign_in("fresh@example.test").await?;
        let pool = sqlx::PgPool::connect(server.database_url().context("no database")?).await?;
        let day = 24 * 60 * 60 * 1_000_i64;
        for (column, days, email) in [("last_seen_at", 7, "idle@example.test"), ("expires_at", 30, "old@example.test")] {
            let sql = format!(
                "UPDATE sessions SET {column} = {column} - $1 WHERE user_id = (SELECT id FROM users WHERE email = $2)"
            );
            let moved = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(days * day).bind(email).execute(&pool).await?;
            assert_eq!(moved.rows_affected(), 1);
        }
        pool.close().await;
        idle.get("/v1/session").await?.assert_error(401, "unauthorized");
        old.get("/v1/session").await?.assert_error(401, "unauthorized");
        fresh.get("/v1/session").await?.assert_status(200);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn without_the_development_sign_in_there_is_no_form() -> Result<()> {
    tests::on_server(Server::with(Database::Sqlite).without_dev_login(), async |server| {
        let visitor = server.client();
        let page = visitor.get("/sign-in").await?;
        assert!(!String::from_utf8_lossy(&page.assert_status(200).body).contains("/sign-in/dev"), "{page}");
        post_form(&visitor, "/sign-in/dev", &[("email", "a@example.test")])
            .await?
            .assert_error(404, "route_not_found");
        Ok(())
    })
    .await
}

/// Forms of pages come from the public URL, and requests of the console from the console's origin.
#[tokio::test]
async fn a_console_on_another_origin_has_its_own_origin() -> Result<()> {
    let console = "http://console.localhost:7420";
    let options = Server::with(tests::Database::Sqlite).args(["--console-origin", console]);
    tests::on_server(options, async |server| {
        let visitor = server.client();
        let send = async |client: &Client, path: &str, origin: &str, pairs: &[(&str, &str)]| {
            let request = client.request(Method::POST, path).header(header::ORIGIN, origin)?;
            request.body("application/x-www-form-urlencoded", encode_form(pairs))?.send().await
        };
        let pages = server.base_url();
        let entry = [("email", "aigerim@example.test")];
        send(&visitor, "/sign-in/dev", console, &entry).await?.assert_error(403, "forbidden");
        let mut signed_in = send(&visitor, "/sign-in/dev", pages, &entry).await?;
        signed_in.assert_status(303);
        signed_in.status = http::StatusCode::OK;
        signed_in.body = bytes::Bytes::from_static(b"{}");
        let person = visitor.session_from_reply(&signed_in)?;

        let call = async |path: &str, origin: &str, body: Value| {
            person.request(Method::POST, path).header(header::ORIGIN, origin)?.json(&body)?.send().await
        };
        let new_workspace = json!({"name": "Tulpar", "profile": "global", "teamSize": "solo", "intents": []});
        call("/v1/workspaces", pages, new_workspace.clone()).await?.assert_error(403, "forbidden");
        let workspace = call("/v1/workspaces", console, new_workspace).await?.string_at("/workspace/id")?;
        let body = json!({"emails": ["bek@example.test"], "role": "viewer", "deliver": "link"});
        let invited = call(&format!("/v1/workspaces/{workspace}/invites"), console, body).await?;
        let token = tests::invite_token(&invited.string_at("/links/0/link")?)?;
        let page = format!("/invite/{token}");
        for origin in [console, "https://evil.test", "null"] {
            send(&person, &page, origin, &[]).await?.assert_error(403, "forbidden");
        }
        // The origin is accepted; the request fails because the invite is for another person.
        send(&person, &page, pages, &[]).await?.assert_status(403);
        let refused = send(&person, &page, pages, &[]).await?;
        assert!(
            refused.header("content-type").is_some_and(|kind| kind.starts_with("text/html")),
            "{refused}"
        );
        send(&person, "/sign-out", console, &[]).await?.assert_error(403, "forbidden");
        send(&person, "/sign-out", pages, &[]).await?.assert_status(303);
        Ok(())
    })
    .await
}
