//! Issuers of many shapes: what is taken as they send it, and what is refused because it decides about a person.

use super::*;

/// Issuers send more than is used, and other types than the standard shows.
#[tokio::test]
async fn issuers_of_many_shapes_sign_people_in() -> Result<()> {
    let overrides = |claim_overrides| IssuerBehaviour { claim_overrides, ..IssuerBehaviour::default() };
    let metadata = |metadata_overrides| IssuerBehaviour { metadata_overrides, ..IssuerBehaviour::default() };
    let tokens = |token_overrides| IssuerBehaviour { token_overrides, ..IssuerBehaviour::default() };
    let without_email =
        || IssuerBehaviour { email: None, email_verified: None, ..IssuerBehaviour::default() };
    let encryption_key =
        json!({"kty": "RSA", "use": "enc", "alg": "RSA-OAEP", "kid": "1", "n": "AQAB", "e": "AQAB"});
    let shapes: Vec<(&str, IssuerBehaviour)> = vec![
        ("a time as a text", overrides(json!({"updated_at": "2026-01-02T03:04:05.000Z"}))),
        ("a time with a fraction", overrides(json!({"auth_time": 1_700_000_000.5}))),
        ("several audiences", overrides(json!({"aud": ["qala", "project-7"], "azp": "qala"}))),
        ("one audience as a list", overrides(json!({"aud": ["qala"]}))),
        ("a verified address as a text", overrides(json!({"email_verified": "true"}))),
        (
            "groups, roles and tenants",
            overrides(json!({"groups": [{"id": 7}], "realm_access": {"roles": ["a"]}, "tid": null})),
        ),
        (
            "an address that is a text",
            overrides(json!({"address": "Almaty", "phone_number_verified": "no", "birthdate": 1990})),
        ),
        (
            "a locale that is a list",
            overrides(json!({"locale": ["kk", "ru"], "zoneinfo": 5, "picture": {"data": {}}})),
        ),
        ("names in objects", overrides(json!({"name": {"given": "A"}, "family_name": ["B"]}))),
        ("names in languages", overrides(json!({"name#ru": "Айгерим", "name#kk": 7}))),
        (
            "a short description",
            metadata(
                json!({"response_types_supported": null, "subject_types_supported": null, "id_token_signing_alg_values_supported": null}),
            ),
        ),
        (
            "lists as texts",
            metadata(
                json!({"scopes_supported": "openid email", "claims_supported": "sub", "response_types_supported": "code"}),
            ),
        ),
        (
            "booleans as texts",
            metadata(json!({"claims_parameter_supported": "false", "request_uri_parameter_supported": "no"})),
        ),
        (
            "empty addresses",
            metadata(
                json!({"userinfo_endpoint": "", "end_session_endpoint": "", "service_documentation": 7}),
            ),
        ),
        (
            "unknown algorithms",
            metadata(
                json!({"id_token_signing_alg_values_supported": ["ES256", "ML-DSA-44", 7], "token_endpoint_auth_methods_supported": ["client_secret_basic", "attest_jwt_client_auth"]}),
            ),
        ),
        (
            "a secret in the body",
            IssuerBehaviour {
                takes_secret_in_body: true,
                ..metadata(json!({"token_endpoint_auth_methods_supported": ["client_secret_post"]}))
            },
        ),
        (
            "keys of other uses",
            IssuerBehaviour {
                other_keys: vec![encryption_key, json!({"kty": "AKP"}), json!(7)],
                ..IssuerBehaviour::default()
            },
        ),
        (
            "keys with certificates",
            IssuerBehaviour {
                other_keys: vec![
                    json!({"kty": "EC", "crv": "P-521", "x": "AA", "y": "AA", "x5c": "not a list"}),
                ],
                ..IssuerBehaviour::default()
            },
        ),
        (
            "another token type",
            tokens(json!({"token_type": "BearerToken", "expires_in": "300", "scope": ["openid"]})),
        ),
        (
            "no token type",
            tokens(
                json!({"token_type": null, "expires_in": null, "refresh_token": false, "not_before": "x"}),
            ),
        ),
        ("a created token", IssuerBehaviour { token_status: 201, ..IssuerBehaviour::default() }),
        (
            "the address in userinfo",
            IssuerBehaviour {
                userinfo: Some(
                    json!({"sub": "subject-1", "email": "aigerim@example.test", "email_verified": true, "updated_at": "x"}),
                ),
                ..without_email()
            },
        ),
        (
            "the verification in userinfo",
            IssuerBehaviour {
                email_verified: None,
                userinfo: Some(
                    json!({"sub": "subject-1", "email": "aigerim@example.test", "email_verified": "true"}),
                ),
                ..IssuerBehaviour::default()
            },
        ),
        (
            "the client secret as the key",
            IssuerBehaviour {
                hmac_key: Some(HmacKey::ClientSecret),
                key_set: Some(json!({})),
                ..metadata(json!({"id_token_signing_alg_values_supported": ["HS256"]}))
            },
        ),
        (
            "the client secret as the key, and null for keys",
            IssuerBehaviour {
                hmac_key: Some(HmacKey::ClientSecret),
                key_set: Some(json!({"keys": null})),
                ..metadata(json!({"id_token_signing_alg_values_supported": ["HS256"]}))
            },
        ),
        (
            "the client secret as the key, and no key set",
            IssuerBehaviour {
                hmac_key: Some(HmacKey::ClientSecret),
                ..metadata(
                    json!({"id_token_signing_alg_values_supported": ["HS256", "none"], "jwks_uri": null}),
                )
            },
        ),
        (
            "the client secret as one of the keys",
            IssuerBehaviour {
                hmac_key: Some(HmacKey::ClientSecret),
                ..metadata(json!({"id_token_signing_alg_values_supported": ["ES256", "HS256"]}))
            },
        ),
    ];
    assert!(shapes.len() >= 20);
    with_issuer(&[], async |server, issuer| {
        for (number, (what, behaviour)) in shapes.iter().enumerate() {
            // Each is a person of their own, who signs in for the first time.
            let mut behaviour = behaviour.clone();
            behaviour.subject = format!("subject-{}", number + 1);
            let email = format!("person-{number}@example.test");
            behaviour.email = behaviour.email.map(|_| email.clone());
            if let Some(userinfo) = &mut behaviour.userinfo {
                userinfo["sub"] = json!(behaviour.subject);
                userinfo["email"] = json!(email);
            }
            let reply = sign_in(server, issuer, behaviour).await?;
            let person = client_from_reply(server, &reply).with_context(|| (*what).to_owned())?;
            let session = person.get("/v1/session").await?;
            assert_eq!(session.string_at("/user/email")?, email, "{what}");
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn what_decides_about_a_person_is_never_guessed() -> Result<()> {
    let overrides = |claim_overrides| IssuerBehaviour { claim_overrides, ..IssuerBehaviour::default() };
    let userinfo = |userinfo| IssuerBehaviour {
        email: None,
        email_verified: None,
        userinfo: Some(userinfo),
        ..IssuerBehaviour::default()
    };
    with_issuer(&[], async |server, issuer| {
        for (what, behaviour, status) in [
            ("several audiences and no party", overrides(json!({"aud": ["qala", "other"]})), 401),
            ("another party", overrides(json!({"aud": ["qala", "other"], "azp": "other"})), 401),
            ("one audience and another party", overrides(json!({"azp": "other"})), 401),
            ("an empty subject", overrides(json!({"sub": ""})), 401),
            ("a subject of blanks", overrides(json!({"sub": "  "})), 401),
            ("not valid yet", overrides(json!({"nbf": tests::unix_time() + 3_600})), 401),
            ("a verification that is a number", overrides(json!({"email_verified": 1})), 401),
            (
                "userinfo of another person",
                userinfo(json!({"sub": "x", "email": "a@example.test", "email_verified": true})),
                401,
            ),
            (
                "userinfo without a subject",
                userinfo(json!({"email": "a@example.test", "email_verified": true})),
                403,
            ),
            (
                "userinfo with a subject that is a number",
                userinfo(json!({"sub": 1, "email": "a@example.test", "email_verified": true})),
                403,
            ),
            (
                "userinfo with a verification that is a number",
                userinfo(json!({"sub": "subject-1", "email": "a@example.test", "email_verified": 1})),
                403,
            ),
            (
                "the client secret as the key, which the description does not name",
                IssuerBehaviour { hmac_key: Some(HmacKey::ClientSecret), ..IssuerBehaviour::default() },
                401,
            ),
            (
                "a public key as a secret",
                IssuerBehaviour { hmac_key: Some(HmacKey::PublicKey), ..IssuerBehaviour::default() },
                401,
            ),
            (
                "a public key as a secret, of an issuer that signs with secrets",
                IssuerBehaviour {
                    hmac_key: Some(HmacKey::PublicKey),
                    metadata_overrides: json!({"id_token_signing_alg_values_supported": ["ES256", "HS256"]}),
                    ..IssuerBehaviour::default()
                },
                401,
            ),
            ("userinfo without an address", userinfo(json!({"sub": "subject-1"})), 403),
            (
                "userinfo with an unverified address",
                userinfo(json!({"sub": "subject-1", "email": "a@example.test", "email_verified": false})),
                403,
            ),
            (
                "an error with the status of a success",
                IssuerBehaviour {
                    token_overrides: json!({"error": "invalid_grant", "id_token": null}),
                    ..IssuerBehaviour::default()
                },
                401,
            ),
            (
                "an error beside a token",
                IssuerBehaviour {
                    token_overrides: json!({"error": "access_denied"}),
                    ..IssuerBehaviour::default()
                },
                401,
            ),
            (
                "no ID token",
                IssuerBehaviour { token_overrides: json!({"id_token": null}), ..IssuerBehaviour::default() },
                401,
            ),
        ] {
            assert_refused(&sign_in(server, issuer, behaviour).await?, status, what);
        }
        Ok(())
    })
    .await
}

/// The userinfo endpoint is asked for an address and its verification. A person of a trusted domain needs neither of it, and
/// one who signed in before needs no address.
#[tokio::test]
async fn a_userinfo_endpoint_that_refuses_breaks_no_sign_in() -> Result<()> {
    with_issuer(&["trusted.test"], async |server, issuer| {
        let behaviour = |subject: &str, email: Option<&str>, userinfo: serde_json::Value| IssuerBehaviour {
            subject: subject.to_owned(),
            email: email.map(str::to_owned),
            email_verified: None,
            userinfo: Some(userinfo),
            ..IssuerBehaviour::default()
        };
        let failures = [
            Some(IssuerFailure::Status(400)),
            Some(IssuerFailure::Status(401)),
            Some(IssuerFailure::Status(403)),
            Some(IssuerFailure::Status(302)),
            Some(IssuerFailure::Status(503)),
            Some(IssuerFailure::CloseConnection),
            Some(IssuerFailure::WebPage),
            Some(IssuerFailure::EmptyList),
            None,
            None,
        ];
        for (number, failure) in failures.into_iter().enumerate() {
            let (subject, email) = (format!("person-{number}"), format!("person-{number}@trusted.test"));
            let claims = || match number % 2 {
                0 => json!({"sub": 7, "email": email, "email_verified": true}),
                _ => json!({"sub": subject, "email": email, "email_verified": 1}),
            };
            issuer.set_failure(failure.map(|failure| ("/userinfo", failure)));
            let first = sign_in(server, issuer, behaviour(&subject, Some(email.as_str()), claims())).await?;
            let person = client_from_reply(server, &first).with_context(|| format!("{failure:?}"))?;
            let id = person.get("/v1/session").await?.string_at("/user/id")?;
            for known in [Some(email.as_str()), None] {
                let again = sign_in(server, issuer, behaviour(&subject, known, claims())).await?;
                let again =
                    client_from_reply(server, &again).with_context(|| format!("{failure:?} {known:?}"))?;
                assert_eq!(
                    again.get("/v1/session").await?.string_at("/user/id")?,
                    id,
                    "{failure:?} {known:?}"
                );
            }
            // Nothing of it makes an address a verified one.
            for (email, what) in
                [(None, "no address"), (Some("victim@other.test"), "an address of another domain")]
            {
                let claims = json!({"sub": 7, "email": "victim@other.test", "email_verified": true});
                let reply = sign_in(server, issuer, behaviour("newcomer", email, claims)).await?;
                assert_refused(&reply, 403, &format!("{failure:?}: {what}"));
            }
        }
        issuer.set_failure(None);
        // A denial counts whatever it looks like, and claims about another person refuse the sign-in.
        for (userinfo, status) in [
            (json!({"sub": "denied", "email": "denied@trusted.test", "email_verified": false}), 403),
            (json!({"sub": "denied", "email": "denied@trusted.test", "email_verified": 0}), 403),
            (json!({"sub": "denied", "email": "denied@trusted.test", "email_verified": "False"}), 403),
            (json!({"sub": "other", "email": "denied@trusted.test"}), 401),
        ] {
            let what = userinfo.to_string();
            let reply =
                sign_in(server, issuer, behaviour("denied", Some("denied@trusted.test"), userinfo)).await?;
            assert_refused(&reply, status, &what);
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_description_that_cannot_be_used_is_named() -> Result<()> {
    with_issuer(&[], async |server, issuer| {
        let visitor = server.client();
        let other = format!("{}/", issuer.issuer_url());
        for (metadata_overrides, message) in [
            (json!({"token_endpoint": null}), "`token_endpoint` is missing"),
            (json!({"jwks_uri": ["keys"]}), "`jwks_uri` is not a text"),
            (json!({"issuer": other}), "they differ by the slash"),
            (json!({"jwks_uri": null}), "`jwks_uri` is missing"),
            (
                json!({"jwks_uri": null, "id_token_signing_alg_values_supported": ["ES256", "HS256"]}),
                "`jwks_uri` is missing",
            ),
        ] {
            issuer.set_behaviour(IssuerBehaviour { metadata_overrides, ..IssuerBehaviour::default() });
            let reply = visitor.get("/v1/auth/oidc/company/start").await?;
            reply.assert_error(503, "provider_unavailable");
            let text = reply.json::<serde_json::Value>()?["error"]["message"].to_string();
            assert!(text.contains(message), "{text}");
        }
        issuer.set_behaviour(IssuerBehaviour { key_set: Some(json!({})), ..IssuerBehaviour::default() });
        let reply = visitor.get("/v1/auth/oidc/company/start").await?;
        reply.assert_error(503, "provider_unavailable");
        assert!(reply.to_string().contains("there is no key that verifies ID tokens (key set at"), "{reply}");
        issuer.set_behaviour(IssuerBehaviour { content_coding: Some("gzip"), ..IssuerBehaviour::default() });
        let reply = visitor.get("/v1/auth/oidc/company/start").await?;
        reply.assert_error(503, "provider_unavailable");
        assert!(reply.to_string().contains("content coding gzip"), "{reply}");
        Ok(())
    })
    .await
}

/// An issuer that responds wrongly does respond: the message, the page in the reader's language and the log name the document.
#[tokio::test]
async fn a_wrong_response_names_its_document() -> Result<()> {
    const DESCRIPTION: &str = "/.well-known/openid-configuration";
    with_issuer(&[], async |server, issuer| {
        let visitor = server.client();
        for (path, failure, reason) in [
            (DESCRIPTION, IssuerFailure::WebPage, "the body is not JSON (description at"),
            (DESCRIPTION, IssuerFailure::EmptyList, "the body is not a JSON object (description at"),
            (DESCRIPTION, IssuerFailure::Status(404), "the status is 404 Not Found (description at"),
            (DESCRIPTION, IssuerFailure::Status(301), "the status is 301 Moved Permanently (description at"),
            ("/keys", IssuerFailure::WebPage, "the body is not JSON (key set at"),
            ("/keys", IssuerFailure::EmptyList, "the body is not a JSON object (key set at"),
            ("/keys", IssuerFailure::Status(403), "the status is 403 Forbidden (key set at"),
        ] {
            let reason = format!("{reason} {}{path})", issuer.base_url());
            issuer.set_failure(Some((path, failure)));
            let reply = visitor.get("/v1/auth/oidc/company/start").await?;
            reply.assert_error(503, "provider_unavailable");
            assert!(
                reply.json::<serde_json::Value>()?["error"]["message"].to_string().contains(&reason),
                "{reply}"
            );
            for (language, silence) in
                [("en", "does not respond"), ("ru", "не отвечает"), ("kk", "жауап бермейді")]
            {
                let request = visitor.request(Method::GET, "/v1/auth/oidc/company/start");
                let request = request.header(header::ACCEPT, "text/html")?;
                let page = request.header(header::ACCEPT_LANGUAGE, language)?.send().await?;
                let text = String::from_utf8_lossy(&page.body);
                assert_eq!(page.status.as_u16(), 503, "{page}");
                assert!(text.contains(&reason) && !text.contains(silence), "{language}: {text}");
            }
            tests::eventually("the log names the document", async || {
                anyhow::ensure!(server.log().contains(&reason), "{reason}");
                Ok(())
            })
            .await?;
        }
        // The token endpoint is asked when the browser is back, and the sign-in can still be finished.
        issuer.set_failure(None);
        let browser = start_sign_in(&visitor, "/device").await?;
        let back = issuer.sign_in(&browser.authorization_url)?;
        issuer.set_failure(Some(("/token", IssuerFailure::WebPage)));
        let reply = follow_callback(&visitor, Some(&browser.cookie), &back).await?;
        reply.assert_error(503, "provider_unavailable");
        assert!(reply.to_string().contains("the body is not JSON (token endpoint at"), "{reply}");
        issuer.set_failure(None);
        client_from_reply(server, &follow_callback(&visitor, Some(&browser.cookie), &back).await?)?;
        Ok(())
    })
    .await
}

/// Returns the form that a browser posts for an issuer which would have redirected it to this URL.
fn form_of(back: &str) -> Result<String> {
    let back: url::Url = back.parse()?;
    Ok(format!("{}&user=%7B%22name%22%3A1%7D", back.query().context("no query")?))
}

/// Posts a form from the page of an issuer, without cookies.
async fn post_form(visitor: &Client, path: &str, form: String) -> Result<Reply> {
    let outside = visitor.signed_out();
    let request = outside.request(Method::POST, path);
    let request = request.header(header::ORIGIN, "https://id.example.test")?;
    request.body("application/x-www-form-urlencoded", form)?.send().await
}

/// An issuer that responds by a form only: the browser posts it without cookies, and is redirected to come with them.
#[tokio::test]
async fn an_issuer_may_respond_by_a_form() -> Result<()> {
    with_issuer(&[], async |server, issuer| {
        let visitor = server.client();
        let metadata_overrides = json!({"response_modes_supported": ["form_post"]});
        issuer.set_behaviour(IssuerBehaviour { metadata_overrides, ..IssuerBehaviour::default() });
        let browser = start_sign_in(&visitor, "/device").await?;
        assert!(
            browser.authorization_url.contains("response_mode=form_post"),
            "{}",
            browser.authorization_url
        );
        let path = "/v1/auth/oidc/company/callback";
        let reply = post_form(&visitor, path, form_of(&issuer.sign_in(&browser.authorization_url)?)?).await?;
        assert_eq!(reply.status.as_u16(), 303, "{reply}");
        let to = reply.header("location").context("no location")?.to_owned();
        assert!(to.starts_with(&format!("{path}?")) && !to.contains("user="), "{to}");
        assert_eq!(reply.header("set-cookie"), None, "{reply}");
        let reply = follow_callback(&visitor, None, &format!("{}{to}", visitor.base_url())).await?;
        assert_refused(&reply, 400, "another browser");
        let reply =
            follow_callback(&visitor, Some(&browser.cookie), &format!("{}{to}", visitor.base_url())).await?;
        client_from_reply(server, &reply)?;
        let nobody = post_form(&visitor, "/v1/auth/oidc/nobody/callback", "code=1".to_owned()).await?;
        assert_eq!(nobody.status.as_u16(), 404);
        assert_eq!(post_form(&visitor, path, "x".repeat(20_000)).await?.status.as_u16(), 413);
        Ok(())
    })
    .await
}

/// Apple announces `query`, demands `form_post` of clients that ask for an address, refuses the scope `profile`, and takes the
/// client secret in the body only.
#[tokio::test]
async fn an_issuer_like_apple_signs_people_in() -> Result<()> {
    with_configured_issuer(&[], "response_mode = \"form_post\"\n", async |server, issuer| {
        let visitor = server.client();
        issuer.set_behaviour(IssuerBehaviour {
            email_verified: None,
            claim_overrides: json!({
                "email_verified": "true", "is_private_email": "true", "nonce_supported": true, "real_user_status": 2,
            }),
            metadata_overrides: json!({
                "response_modes_supported": ["query", "fragment", "form_post"],
                "subject_types_supported": ["pairwise"],
                "scopes_supported": ["openid", "email", "name"],
                "token_endpoint_auth_methods_supported": ["client_secret_post"],
            }),
            takes_secret_in_body: true,
            refuses_as_apple: true,
            ..IssuerBehaviour::default()
        });
        let browser = start_sign_in(&visitor, "/device").await?;
        let form = form_of(&issuer.sign_in(&browser.authorization_url)?)?;
        let reply = post_form(&visitor, "/v1/auth/oidc/company/callback", form).await?;
        let to = format!("{}{}", visitor.base_url(), reply.header("location").context("no location")?);
        let person = client_from_reply(server, &follow_callback(&visitor, Some(&browser.cookie), &to).await?)?;
        let session = person.get("/v1/session").await?;
        assert_eq!(session.string_at("/user/email")?, "aigerim@example.test");

        // Whoever cancels there comes back by a form, too.
        let browser = start_sign_in(&visitor, "/device").await?;
        let back = issuer.sign_in(&browser.authorization_url)?.replace("code=", "error=user_cancelled_authorize&was=");
        let reply = post_form(&visitor, "/v1/auth/oidc/company/callback", form_of(&back)?).await?;
        let to = format!("{}{}", visitor.base_url(), reply.header("location").context("no location")?);
        let reply = follow_callback(&visitor, Some(&browser.cookie), &to).await?;
        assert_refused(&reply, 401, "cancelled");
        assert!(String::from_utf8_lossy(&reply.body).contains("You cancelled the sign-in"), "{reply}");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_operator_chooses_scopes_and_response_mode() -> Result<()> {
    for (lines, supported, scope, mode) in [
        ("", json!(null), "openid email profile", None),
        ("", json!(["openid", "email", "name"]), "openid email", None),
        ("scopes = [\"email\", \"groups\"]\n", json!(["openid"]), "openid email groups", None),
        ("scopes = []\nresponse_mode = \"query\"\n", json!(null), "openid", Some("query")),
        ("response_mode = \"form_post\"\n", json!(null), "openid email profile", Some("form_post")),
    ] {
        with_configured_issuer(&[], lines, async |server, issuer| {
            let metadata_overrides = json!({"scopes_supported": supported});
            issuer.set_behaviour(IssuerBehaviour { metadata_overrides, ..IssuerBehaviour::default() });
            let browser = start_sign_in(&server.client(), "/device").await?;
            let url: url::Url = browser.authorization_url.parse()?;
            let asked: std::collections::HashMap<_, _> = url.query_pairs().collect();
            assert_eq!(asked.get("scope").map(|value| &**value), Some(scope), "{url}");
            assert_eq!(asked.get("response_mode").map(|value| &**value), mode, "{url}");
            Ok(())
        })
        .await?;
    }
    Ok(())
}
