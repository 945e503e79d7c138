//! Sign-in with an OpenID Connect issuer, and attacks on it.

use anyhow::{Context as _, Result};
use http::{Method, header};
use serde_json::json;
use tests::{Client, Database, HmacKey, Issuer, IssuerBehaviour, IssuerFailure, Reply, Server};

mod shapes;

const BOTH_DATABASES: [Database; 2] = [Database::Sqlite, Database::Postgres];

/// Runs a test with a server that has the issuer as a provider with these trusted domains.
async fn with_issuer(trusted: &[&str], test: impl AsyncFn(&Server, &Issuer) -> Result<()>) -> Result<()> {
    with_configured_issuer(trusted, "", test).await
}

/// Like [`with_issuer`], with more lines in the configuration of the provider.
async fn with_configured_issuer(
    trusted: &[&str],
    lines: &str,
    test: impl AsyncFn(&Server, &Issuer) -> Result<()>,
) -> Result<()> {
    for database in BOTH_DATABASES {
        let issuer = Issuer::start().await?;
        let folder = tempfile::tempdir()?;
        let config = issuer.write_config_with(folder.path(), trusted, lines)?;
        let options = Server::with(database).args(["--no-rate-limits", "--oidc-config", &config]);
        tests::on_server(options, async |server| test(&server, &issuer).await).await?;
    }
    Ok(())
}

/// A browser during sign-in: its state cookie and the URL that it was redirected to.
struct BrowserFlow {
    cookie: String,
    authorization_url: String,
}

async fn start_sign_in(visitor: &Client, next: &str) -> Result<BrowserFlow> {
    let query = url::form_urlencoded::Serializer::new(String::new()).append_pair("next", next).finish();
    let reply = visitor.get(&format!("/v1/auth/oidc/company/start?{query}")).await?;
    assert_eq!(reply.status.as_u16(), 303, "{reply}");
    let cookie = reply.header("set-cookie").context("no cookie")?;
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"), "{cookie}");
    let pair = cookie.split(';').next().context("no pair")?.to_owned();
    Ok(BrowserFlow {
        cookie: pair,
        authorization_url: reply.header("location").context("no location")?.to_owned(),
    })
}

async fn follow_callback(visitor: &Client, cookie: Option<&str>, address: &str) -> Result<Reply> {
    let path = address.strip_prefix(visitor.base_url()).context("not a URL of the server")?;
    let request = visitor.request(Method::GET, path);
    match cookie {
        Some(cookie) => request.header(header::COOKIE, cookie)?.send().await,
        None => request.send().await,
    }
}

/// Performs a whole sign-in of one browser.
async fn sign_in(server: &Server, issuer: &Issuer, behaviour: IssuerBehaviour) -> Result<Reply> {
    let visitor = server.client();
    issuer.set_behaviour(behaviour);
    let browser = start_sign_in(&visitor, "/device").await?;
    follow_callback(&visitor, Some(&browser.cookie), &issuer.sign_in(&browser.authorization_url)?).await
}

fn client_from_reply(server: &Server, reply: &Reply) -> Result<Client> {
    let cookie = reply.headers.get_all(header::SET_COOKIE).iter().find_map(|cookie| {
        let pair = cookie.to_str().ok()?.split(';').next()?;
        pair.starts_with("qala_session=").then(|| pair.to_owned())
    });
    let cookie = cookie.with_context(|| format!("no session: {reply}"))?;
    // `session_from_reply` needs a 200.
    let mut signed_in = reply.clone();
    signed_in.status = http::StatusCode::OK;
    signed_in.headers.remove(header::SET_COOKIE);
    signed_in.headers.insert(header::SET_COOKIE, cookie.parse()?);
    signed_in.body = bytes::Bytes::from_static(b"{}");
    server.client().session_from_reply(&signed_in)
}

fn assert_refused(reply: &Reply, status: u16, what: &str) {
    assert_eq!(reply.status.as_u16(), status, "{what}: {reply}");
    let cookies = reply.headers.get_all(header::SET_COOKIE).iter();
    let session =
        cookies.filter_map(|cookie| cookie.to_str().ok()).any(|cookie| cookie.starts_with("qala_session="));
    assert!(!session, "{what}: {reply}");
}

#[tokio::test]
async fn an_issuer_signs_people_in() -> Result<()> {
    with_issuer(&[], async |server, issuer| {
        let page = server.client().get("/sign-in?next=/device").await?;
        let link = "/v1/auth/oidc/company/start?next=%2Fdevice";
        assert!(String::from_utf8_lossy(&page.body).contains(link), "{page}");
        let existing = server.sign_in("aigerim@example.test").await?;
        let reply = sign_in(server, issuer, IssuerBehaviour::default()).await?;
        assert_eq!((reply.status.as_u16(), reply.header("location")), (303, Some("/device")), "{reply}");
        let person = client_from_reply(server, &reply)?;
        let id = async |client: &Client| client.get("/v1/session").await?.string_at("/user/id");
        assert_eq!(id(&person).await?, id(&existing).await?, "a verified address must identify its person");
        assert_eq!(person.get("/v1/me/sessions").await?.ok()?["items"][0]["method"], "oidc");

        // A known person is identified by the subject, even if their address has changed.
        let moved = IssuerBehaviour {
            email: Some("new@example.test".to_owned()),
            email_verified: Some(false),
            ..IssuerBehaviour::default()
        };
        let again = client_from_reply(server, &sign_in(server, issuer, moved).await?)?;
        assert_eq!(id(&again).await?, id(&existing).await?);
        let log = server.log();
        for secret in ["code-0", "the issuer's secret"] {
            assert!(!log.contains(secret), "the log contains {secret}");
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn an_address_must_be_verified_or_of_a_trusted_domain() -> Result<()> {
    with_issuer(&["trusted.test"], async |server, issuer| {
        let behaviour = |email: Option<&str>, verified| IssuerBehaviour {
            subject: format!("{email:?} {verified:?}"),
            email: email.map(str::to_owned),
            email_verified: verified,
            ..IssuerBehaviour::default()
        };
        for (email, verified) in [
            (Some("victim@example.test"), Some(false)),
            (Some("victim@example.test"), None),
            (Some("victim@sub.trusted.test"), None),
            (Some("victim@trusted.test.evil.test"), None),
            (Some("no address"), Some(true)),
            (None, Some(true)),
        ] {
            let reply = sign_in(server, issuer, behaviour(email, verified)).await?;
            assert_refused(&reply, 403, &format!("{email:?} {verified:?}"));
        }
        for (email, verified) in [("a@example.test", Some(true)), ("a@trusted.test", None)] {
            let person =
                client_from_reply(server, &sign_in(server, issuer, behaviour(Some(email), verified)).await?)?;
            assert_eq!(person.get("/v1/session").await?.string_at("/user/email")?, email);
        }
        Ok(())
    })
    .await
}

/// A trusted domain replaces a missing `email_verified`, but never one that is false.
#[tokio::test]
async fn an_unverified_address_takes_over_no_account() -> Result<()> {
    with_issuer(&["corp.test"], async |server, issuer| {
        let boss = server.sign_in("boss@corp.test").await?;
        let id = boss.get("/v1/session").await?.string_at("/user/id")?;
        let claim = |subject: &str, value: serde_json::Value| IssuerBehaviour {
            subject: subject.to_owned(),
            email: Some("boss@corp.test".to_owned()),
            email_verified: None,
            claim_overrides: json!({"email_verified": value}),
            ..IssuerBehaviour::default()
        };
        for (value, status) in [
            (json!(false), 403),
            (json!("false"), 403),
            (json!("False"), 401),
            (json!("no"), 401),
            (json!(""), 401),
            (json!(0), 401),
            (json!(1), 401),
            (json!([true]), 401),
            (json!({"value": true}), 401),
        ] {
            let reply = sign_in(server, issuer, claim("evil-9", value.clone())).await?;
            assert_refused(&reply, status, &value.to_string());
        }
        // A rejected sign-in stores nothing: the same subject is rejected again.
        assert_refused(&sign_in(server, issuer, claim("evil-9", json!(false))).await?, 403, "again");
        for (subject, value) in [("boss-1", json!(null)), ("boss-2", json!("true")), ("boss-3", json!(true))]
        {
            let person = client_from_reply(server, &sign_in(server, issuer, claim(subject, value)).await?)?;
            assert_eq!(person.get("/v1/session").await?.string_at("/user/id")?, id, "{subject}");
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn invalid_responses_sign_nobody_in() -> Result<()> {
    with_issuer(&[], async |server, issuer| {
        for (what, claim_overrides) in [
            ("another nonce", json!({"nonce": "x"})),
            ("another audience", json!({"aud": "other"})),
            ("another issuer", json!({"iss": "https://evil.example.test"})),
            ("too old", json!({"exp": 1, "iat": 0})),
        ] {
            let reply =
                sign_in(server, issuer, IssuerBehaviour { claim_overrides, ..IssuerBehaviour::default() })
                    .await?;
            assert_refused(&reply, 401, what);
        }
        for omitted_claims in [&["sub"][..], &["iss"], &["aud"], &["exp"], &["iat"], &["nonce"]] {
            let reply =
                sign_in(server, issuer, IssuerBehaviour { omitted_claims, ..IssuerBehaviour::default() })
                    .await?;
            assert_refused(&reply, 401, omitted_claims[0]);
        }
        let reply = sign_in(
            server,
            issuer,
            IssuerBehaviour { claim_overrides: json!({"sub": 7}), ..IssuerBehaviour::default() },
        )
        .await?;
        assert_refused(&reply, 401, "a subject that is a number");
        let foreign = IssuerBehaviour { is_signed_with_unpublished_key: true, ..IssuerBehaviour::default() };
        assert_refused(&sign_in(server, issuer, foreign).await?, 401, "another key");

        // The response belongs to the browser that started the sign-in.
        issuer.set_behaviour(IssuerBehaviour::default());
        let visitor = server.client();
        let browser = start_sign_in(&visitor, "/device").await?;
        let back = issuer.sign_in(&browser.authorization_url)?;
        assert_refused(&follow_callback(&visitor, None, &back).await?, 400, "no cookie");
        let other = start_sign_in(&visitor, "/device").await?;
        assert_refused(
            &follow_callback(&visitor, Some(&other.cookie), &back).await?,
            400,
            "another browser's cookie",
        );
        let forged = back.replace("state=", "state=x");
        assert_refused(
            &follow_callback(&visitor, Some(&browser.cookie), &forged).await?,
            400,
            "another state",
        );
        let denied = back.replace("code=", "error=access_denied&code=");
        assert_refused(&follow_callback(&visitor, Some(&browser.cookie), &denied).await?, 401, "an error");
        let reply = follow_callback(&visitor, Some(&browser.cookie), &back).await?;
        assert_eq!(reply.status.as_u16(), 303, "{reply}");
        assert_refused(
            &follow_callback(&visitor, Some(&browser.cookie), &back).await?,
            400,
            "a sign-in that is over",
        );

        // It redirects neither to another site nor to another provider.
        let browser = start_sign_in(&visitor, "//evil.test").await?;
        let reply =
            follow_callback(&visitor, Some(&browser.cookie), &issuer.sign_in(&browser.authorization_url)?)
                .await?;
        assert_eq!(reply.header("location"), Some("/sign-in"));
        visitor.get("/v1/auth/oidc/nobody/start").await?.assert_error(404, "provider_not_found");
        visitor
            .get("/v1/auth/oidc/nobody/callback?code=1&state=1")
            .await?
            .assert_error(404, "provider_not_found");
        Ok(())
    })
    .await
}

/// An error of the issuer is named where the standards have it, and logged if it is a code at all.
#[tokio::test]
async fn an_error_of_the_issuer_is_said() -> Result<()> {
    with_issuer(&[], async |server, issuer| {
        issuer.set_behaviour(IssuerBehaviour::default());
        let visitor = server.client();
        let long = "y".repeat(65);
        let cancelled = "You cancelled the sign-in at the sign-in service.";
        for (error, said, logged) in [
            ("invalid_scope", "The sign-in service refused the sign-in: invalid_scope.", "invalid_scope"),
            ("server_error", "The sign-in service refused the sign-in: server_error.", "server_error"),
            (
                "temporarily_unavailable",
                "The sign-in service refused the sign-in: temporarily_unavailable.",
                "temporarily_unavailable",
            ),
            (
                "consent_required",
                "The sign-in service refused the sign-in: consent_required.",
                "consent_required",
            ),
            ("access_denied", cancelled, "access_denied"),
            ("user_cancelled_authorize", cancelled, "user_cancelled_authorize"),
            ("made-up: 7", "The sign-in service refused the sign-in.", "made-up: 7"),
            ("<b>\u{1b}zzz9", "The sign-in service refused the sign-in.", "malformed"),
            (long.as_str(), "The sign-in service refused the sign-in.", "malformed"),
        ] {
            for with_code in [false, true] {
                let browser = start_sign_in(&visitor, "/device").await?;
                let back: url::Url = issuer.sign_in(&browser.authorization_url)?.parse()?;
                let mut address = back.clone();
                address.query_pairs_mut().clear();
                for (name, value) in back.query_pairs().filter(|(name, _)| with_code || name != "code") {
                    address.query_pairs_mut().append_pair(&name, &value);
                }
                address
                    .query_pairs_mut()
                    .append_pair("error", error)
                    .append_pair("error_description", "of ann");
                let reply = follow_callback(&visitor, Some(&browser.cookie), address.as_str()).await?;
                assert_refused(&reply, 401, error);
                let page = String::from_utf8_lossy(&reply.body);
                assert!(page.contains(said), "{error}: {page}");
                assert!(
                    !page.contains("made-up") && !page.contains("zzz9") && !page.contains(&long),
                    "{page}"
                );
                let removed = reply.header("set-cookie").is_some_and(|cookie| cookie.contains("Max-Age=0"));
                assert!(removed, "{reply}");
                // Another browser, or another state, learns nothing.
                let reply = follow_callback(&visitor, None, address.as_str()).await?;
                assert_refused(&reply, 400, error);
                assert!(!String::from_utf8_lossy(&reply.body).contains(said), "{reply}");
            }
            tests::eventually("the log has the code", async || {
                anyhow::ensure!(server.log().contains(logged), "{logged}");
                Ok(())
            })
            .await?;
        }
        let log = server.log();
        assert!(!log.contains("of ann") && !log.contains("zzz9") && !log.contains(&long), "{log}");

        // In the reader's language.
        for (language, said) in [("ru", "Вы отменили вход"), ("kk", "кіруден бас тарттыңыз")]
        {
            let browser = start_sign_in(&visitor, "/device").await?;
            let address =
                issuer.sign_in(&browser.authorization_url)?.replace("code=", "error=access_denied&was=");
            let path = address.strip_prefix(visitor.base_url()).context("not a URL of the server")?;
            let request = visitor.request(Method::GET, path).header(header::COOKIE, &browser.cookie)?;
            let reply = request.header(header::ACCEPT_LANGUAGE, language)?.send().await?;
            assert_refused(&reply, 401, language);
            assert!(String::from_utf8_lossy(&reply.body).contains(said), "{reply}");
        }

        // An empty error is none; without a code nothing can be finished.
        let browser = start_sign_in(&visitor, "/device").await?;
        let back = issuer.sign_in(&browser.authorization_url)?;
        let without_code = back.replace("code=", "error=&was=");
        let reply = follow_callback(&visitor, Some(&browser.cookie), &without_code).await?;
        assert_refused(&reply, 401, "neither an error nor a code");
        let reply = follow_callback(&visitor, Some(&browser.cookie), &format!("{back}&error=")).await?;
        client_from_reply(server, &reply)?;
        Ok(())
    })
    .await
}

/// RFC 9207, section 2.4: a response that names another issuer is rejected, and so is one that names none if the
/// metadata says that it always does.
#[tokio::test]
async fn a_response_must_come_from_the_issuer_that_was_asked() -> Result<()> {
    with_issuer(&[], async |server, issuer| {
        for (iss_parameter_supported, iss, status) in [
            (None, None, 303),
            (None, Some(issuer.issuer_url()), 303),
            (None, Some("https://evil.test"), 401),
            (Some(false), None, 303),
            (Some(false), Some("https://evil.test"), 401),
            (Some(true), None, 401),
            (Some(true), Some(""), 401),
            (Some(true), Some(issuer.issuer_url()), 303),
        ] {
            issuer.set_behaviour(IssuerBehaviour { iss_parameter_supported, ..IssuerBehaviour::default() });
            let visitor = server.client();
            let browser = start_sign_in(&visitor, "/device").await?;
            let mut back: url::Url = issuer.sign_in(&browser.authorization_url)?.parse()?;
            if let Some(iss) = iss {
                back.query_pairs_mut().append_pair("iss", iss);
            }
            let reply = follow_callback(&visitor, Some(&browser.cookie), back.as_str()).await?;
            assert_eq!(reply.status.as_u16(), status, "{iss_parameter_supported:?} {iss:?}: {reply}");
        }
        Ok(())
    })
    .await
}

/// A copy of the state cookie does not sign in again, not even with a fresh code of the same person.
#[tokio::test]
async fn a_sign_in_is_finished_once() -> Result<()> {
    with_issuer(&[], async |server, issuer| {
        let visitor = server.client();
        for refused in [false, true] {
            issuer.set_behaviour(IssuerBehaviour::default());
            let browser = start_sign_in(&visitor, "/device").await?;
            let back = async |code: String| follow_callback(&visitor, Some(&browser.cookie), &code).await;
            issuer.set_failure(refused.then_some(("/token", IssuerFailure::Status(403))));
            let first = follow_callback(
                &visitor,
                Some(&browser.cookie),
                &issuer.sign_in(&browser.authorization_url)?,
            )
            .await?;
            assert_eq!(first.status.as_u16(), if refused { 401 } else { 303 }, "{first}");
            issuer.set_failure(None);
            let (one, other) =
                (issuer.sign_in(&browser.authorization_url)?, issuer.sign_in(&browser.authorization_url)?);
            let (one, other) = tokio::join!(back(one), back(other));
            for reply in [one?, other?] {
                assert_refused(&reply, 400, "sign_in_over");
                assert!(client_from_reply(server, &reply).is_err(), "{reply}");
            }
        }
        // Of two concurrent callbacks, one signs in.
        let browser = start_sign_in(&visitor, "/device").await?;
        let (one, other) =
            (issuer.sign_in(&browser.authorization_url)?, issuer.sign_in(&browser.authorization_url)?);
        let back = async |code: String| follow_callback(&visitor, Some(&browser.cookie), &code).await;
        let (one, other) = tokio::join!(back(one), back(other));
        let mut statuses = [one?.status.as_u16(), other?.status.as_u16()];
        statuses.sort_unstable();
        assert_eq!(statuses, [303, 400]);
        Ok(())
    })
    .await
}

/// A failure of the issuer is not a denial: the sign-in can be finished once the issuer works again.
#[tokio::test]
async fn a_sign_in_survives_a_failure_of_the_issuer() -> Result<()> {
    const METADATA: &str = "/.well-known/openid-configuration";
    with_issuer(&[], async |server, issuer| {
        let visitor = server.client();
        let failures = [
            IssuerFailure::CloseConnection,
            IssuerFailure::Status(500),
            IssuerFailure::Status(503),
            IssuerFailure::InvalidBody,
        ];
        for failure in failures {
            for path in [METADATA, "/keys"] {
                issuer.set_failure(Some((path, failure)));
                let reply = visitor.get("/v1/auth/oidc/company/start").await?;
                let problem = reply.check_error(503, Some("provider_unavailable"));
                problem.with_context(|| format!("before the redirect: {path} {failure:?}"))?;
                assert!(reply.json::<serde_json::Value>()?["error"]["hint"].is_string(), "{reply}");
                assert_eq!(reply.header("set-cookie"), None, "{reply}");
            }
            for path in [METADATA, "/keys", "/token"] {
                issuer.set_failure(None);
                issuer.set_behaviour(IssuerBehaviour::default());
                let browser = start_sign_in(&visitor, "/device").await?;
                let back = issuer.sign_in(&browser.authorization_url)?;
                issuer.set_failure(Some((path, failure)));
                let reply = follow_callback(&visitor, Some(&browser.cookie), &back).await?;
                let problem = reply.check_error(503, Some("provider_unavailable"));
                problem.with_context(|| format!("after the redirect: {path} {failure:?}"))?;
                assert!(reply.json::<serde_json::Value>()?["error"]["hint"].is_string(), "{reply}");
                assert_eq!(reply.header("set-cookie"), None, "the state cookie must remain: {reply}");
                issuer.set_failure(None);
                let again = follow_callback(&visitor, Some(&browser.cookie), &back).await?;
                assert_eq!(again.header("location"), Some("/device"), "{path} {failure:?}: {again}");
            }
        }
        // An OAuth error is a denial, whatever its status, and ends the sign-in.
        let browser = start_sign_in(&visitor, "/device").await?;
        let back = issuer.sign_in(&browser.authorization_url)?;
        issuer.set_failure(Some(("/token", IssuerFailure::Status(403))));
        let reply = follow_callback(&visitor, Some(&browser.cookie), &back).await?;
        assert_refused(&reply, 401, "a denial");
        assert!(reply.header("set-cookie").is_some_and(|cookie| cookie.contains("Max-Age=0")), "{reply}");
        Ok(())
    })
    .await
}
