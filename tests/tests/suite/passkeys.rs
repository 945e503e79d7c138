//! Passkeys and step-up, and attacks on them.

use anyhow::{Context as _, Result};
use http::{Method, header};
use serde_json::{Value, json};
use tests::{Client, Passkey, Reply, Server};

/// Origin with a host name, which passkeys need.
const CONSOLE_ORIGIN: &str = "http://localhost";

/// Sends a request as a page of the site does.
async fn post(client: &Client, path: &str, body: &Value) -> Result<Reply> {
    client.request(Method::POST, path).header(header::ORIGIN, CONSOLE_ORIGIN)?.json(body)?.send().await
}

async fn delete(client: &Client, path: &str) -> Result<Reply> {
    client.request(Method::DELETE, path).header(header::ORIGIN, CONSOLE_ORIGIN)?.send().await
}

async fn sign_in(server: &Server, email: &str) -> Result<Client> {
    let reply = post(&server.client(), "/v1/auth/dev-login", &json!({"email": email})).await?;
    server.client().session_from_reply(&reply)
}

async fn create_workspace(person: &Client) -> Result<String> {
    let body = json!({"name": "Tulpar", "profile": "global", "teamSize": "solo", "intents": []});
    post(person, "/v1/workspaces", &body).await?.string_at("/workspace/id")
}

/// Starts a ceremony and returns its id and options.
async fn start_ceremony(client: &Client, what: &str) -> Result<(String, Value)> {
    let reply = post(client, &format!("/v1/auth/passkeys/{what}/start"), &json!({})).await?;
    Ok((reply.string_at("/ceremonyId")?, reply.ok()?["options"].clone()))
}

async fn finish_ceremony(client: &Client, what: &str, ceremony: &str, credential: &Value) -> Result<Reply> {
    let body = json!({"ceremonyId": ceremony, "credential": credential});
    post(client, &format!("/v1/auth/passkeys/{what}/finish"), &body).await
}

async fn register_passkey(person: &Client, seed: u8) -> Result<(Passkey, String)> {
    let mut passkey = Passkey::new(CONSOLE_ORIGIN, seed)?;
    let (ceremony, options) = start_ceremony(person, "register").await?;
    let response = finish_ceremony(person, "register", &ceremony, &passkey.create(&options)?).await?;
    Ok((passkey, response.string_at("/id")?))
}

async fn step_up(person: &Client, passkey: &Passkey) -> Result<Client> {
    let (ceremony, options) = start_ceremony(person, "step-up").await?;
    person.session_from_reply(&finish_ceremony(person, "step-up", &ceremony, &passkey.get(&options)?).await?)
}

tests::on_both! {
    args: ["--no-rate-limits", "--public-url", CONSOLE_ORIGIN];

    async fn a_passkey_signs_in_without_a_name(server: Server) -> Result<()> {
        let person = sign_in(&server, "aigerim@example.test").await?;
        let (ceremony, options) = start_ceremony(&person, "register").await?;
        assert_eq!(options["publicKey"]["authenticatorSelection"]["residentKey"], "required", "{options}");
        assert_eq!(options["publicKey"]["authenticatorSelection"]["userVerification"], "required", "{options}");
        let mut passkey = Passkey::new(CONSOLE_ORIGIN, 7)?;
        let body = json!({"ceremonyId": ceremony, "name": "Laptop", "credential": passkey.create(&options)?});
        post(&person, "/v1/auth/passkeys/register/finish", &body).await?.assert_status(200);
        let listed = person.get("/v1/me/passkeys").await?.ok()?;
        assert_eq!((&listed["items"][0]["name"], listed["items"].as_array().map(Vec::len)), (&json!("Laptop"), Some(1)));

        let visitor = server.client();
        let (ceremony, options) = start_ceremony(&visitor, "sign-in").await?;
        assert_eq!(options["publicKey"]["allowCredentials"], json!([]), "{options}");
        let response = passkey.get(&options)?;
        let signed_in = finish_ceremony(&visitor, "sign-in", &ceremony, &response).await?;
        let again = visitor.session_from_reply(&signed_in)?;
        assert_eq!(again.get("/v1/session").await?.string_at("/user/email")?, "aigerim@example.test");
        assert_eq!(again.get("/v1/me/sessions").await?.ok()?["items"][0]["method"], "passkey");
        // A response works neither a second time nor for another challenge.
        finish_ceremony(&visitor, "sign-in", &ceremony, &response).await?.assert_error(401, "passkey_refused");
        let (fresh, _) = start_ceremony(&visitor, "sign-in").await?;
        finish_ceremony(&visitor, "sign-in", &fresh, &response).await?.assert_error(401, "passkey_refused");
        let used = person.get("/v1/me/passkeys").await?.ok()?;
        assert!(used["items"][0]["lastUsedAt"].is_string(), "{used}");
        Ok(())
    }

    async fn a_session_that_ends_while_the_passkey_is_sent_registers_none(server: Server) -> Result<()> {
        let email = "aigerim@example.test";
        let thief = sign_in(&server, email).await?;
        let mut passkey = Passkey::new(CONSOLE_ORIGIN, 7)?;
        let (ceremony, options) = start_ceremony(&thief, "register").await?;
        let body = json!({"ceremonyId": ceremony, "credential": passkey.create(&options)?});
        let request = thief.request(Method::POST, "/v1/auth/passkeys/register/finish");
        let held = request.header(header::ORIGIN, CONSOLE_ORIGIN)?.json(&body)?.send_unfinished().await?;
        delete(&sign_in(&server, email).await?, "/v1/me/sessions?all=true").await?.assert_status(200);
        held.finish().await?.assert_error(401, "unauthorized");
        let person = sign_in(&server, email).await?;
        assert_eq!(person.get("/v1/me/passkeys").await?.ok()?["items"], json!([]));
        Ok(())
    }

    async fn forged_responses_are_rejected(server: Server) -> Result<()> {
        let person = sign_in(&server, "aigerim@example.test").await?;
        let victim = sign_in(&server, "victim@example.test").await?;
        let (passkey, _) = register_passkey(&person, 7).await?;
        register_passkey(&victim, 9).await?;
        let victim_handle = {
            let (_, options) = start_ceremony(&victim, "step-up").await?;
            let mut stranger = Passkey::new(CONSOLE_ORIGIN, 9)?;
            // Another user handle than the person's own, for which their key must not be accepted.
            stranger.create(&json!({"publicKey": {"user": {"id": "AA"}, "rp": {"id": "localhost"}, "challenge": "AA"}}))?;
            stranger.get(&options)?["response"]["userHandle"].clone()
        };
        let visitor = server.client();
        let (mut foreign, mut unverified) = (passkey.clone(), passkey.clone());
        // A page of another site had the browser ask in a frame (Web Authentication Level 3, section 7.2).
        let (mut framed, mut nested) = (passkey.clone(), passkey.clone());
        (framed.is_cross_origin, nested.is_cross_origin) = (true, true);
        framed.top_origin = Some("https://evil.example.test".to_owned());
        foreign.origin = "https://evil.example.test".to_owned();
        unverified.is_user_verified = false;
        for (what, passkey) in [
            ("another origin", &foreign),
            ("nobody verified", &unverified),
            ("a frame of another site", &framed),
            ("a frame", &nested),
        ] {
            let (ceremony, options) = start_ceremony(&visitor, "sign-in").await?;
            let reply = finish_ceremony(&visitor, "sign-in", &ceremony, &passkey.get(&options)?).await?;
            reply.check_error(401, Some("passkey_refused")).context(what)?;
        }
        let proven = step_up(&person, &passkey).await?;
        for what in ["register", "step-up"] {
            let (ceremony, options) = start_ceremony(&proven, what).await?;
            let mut framed = if what == "register" { Passkey::new(CONSOLE_ORIGIN, 11)? } else { passkey.clone() };
            framed.is_cross_origin = true;
            let response = if what == "register" { framed.create(&options)? } else { framed.get(&options)? };
            let body = json!({"ceremonyId": ceremony, "name": "Framed", "credential": response});
            let body = if what == "register" { body } else { json!({"ceremonyId": ceremony, "credential": response}) };
            let reply = post(&proven, &format!("/v1/auth/passkeys/{what}/finish"), &body).await?;
            anyhow::ensure!(reply.status.is_client_error(), "{what}: {reply}");
        }
        type Forge = fn(&mut Value, &Value);
        let forgeries: [(&str, Forge); 4] = [
            ("another's name", |response, handle| response["response"]["userHandle"] = handle.clone()),
            ("no name", |response, _| response["response"]["userHandle"] = Value::Null),
            ("another signature", |response, _| response["response"]["signature"] = json!("MEUCIQ")),
            ("no key", |response, _| response["rawId"] = json!("AAAA")),
        ];
        for (what, forge) in forgeries {
            let (ceremony, options) = start_ceremony(&visitor, "sign-in").await?;
            let mut response = passkey.get(&options)?;
            forge(&mut response, &victim_handle);
            let reply = finish_ceremony(&visitor, "sign-in", &ceremony, &response).await?;
            reply.check_error(401, Some("passkey_refused")).context(what)?;
        }
        for ceremony in ["", "pkc_x", "pkc_00000000000e00800000000000"] {
            finish_ceremony(&visitor, "sign-in", ceremony, &json!({})).await?.assert_error(401, "passkey_refused");
        }
        // Pages of other sites can neither start nor finish a ceremony.
        let reply = visitor.post("/v1/auth/passkeys/sign-in/start", &json!({})).await?;
        reply.assert_error(403, "forbidden");
        Ok(())
    }

    async fn a_ceremony_is_valid_only_for_its_session_and_purpose(server: Server) -> Result<()> {
        let person = sign_in(&server, "aigerim@example.test").await?;
        let (passkey, _) = register_passkey(&person, 7).await?;
        let elsewhere = sign_in(&server, "aigerim@example.test").await?;
        let (ceremony, options) = start_ceremony(&person, "step-up").await?;
        let response = passkey.get(&options)?;
        finish_ceremony(&elsewhere, "step-up", &ceremony, &response).await?.assert_error(401, "passkey_refused");
        // That attempt used the ceremony up.
        finish_ceremony(&person, "step-up", &ceremony, &response).await?.assert_error(401, "passkey_refused");
        let (ceremony, options) = start_ceremony(&person, "step-up").await?;
        let response = passkey.get(&options)?;
        finish_ceremony(&server.client(), "sign-in", &ceremony, &response).await?.assert_error(401, "passkey_refused");
        Ok(())
    }

    async fn step_up_is_required_of_people_with_a_passkey(server: Server) -> Result<()> {
        let person = sign_in(&server, "aigerim@example.test").await?;
        let workspace = create_workspace(&person).await?;
        let tokens = format!("/v1/workspaces/{workspace}/tokens");
        let admin = json!({"name": "Admin", "scopes": ["admin"]});
        post(&person, &tokens, &admin).await?.assert_status(200);
        post(&person, "/v1/auth/passkeys/step-up/start", &json!({})).await?.assert_error(409, "no_passkey");

        let (passkey, id) = register_passkey(&person, 7).await?;
        let refused = post(&person, &tokens, &admin).await?;
        refused.assert_error(403, "step_up_required");
        assert!(refused.json::<Value>()?["error"]["hint"].is_string(), "{refused}");
        post(&person, &tokens, &json!({"name": "Writer", "scopes": ["write"]})).await?.assert_status(200);
        // A stolen session can neither add nor remove a passkey.
        post(&person, "/v1/auth/passkeys/register/start", &json!({})).await?.assert_error(403, "step_up_required");
        let key = format!("/v1/me/passkeys/{id}");
        delete(&person, &key).await?.assert_error(403, "step_up_required");

        let me = person.get("/v1/session").await?.string_at("/user/id")?;
        let transfer = format!("/v1/workspaces/{workspace}/members/{me}/transfer-ownership");
        let name = json!({"confirmName": "Tulpar"});
        post(&person, &transfer, &name).await?.assert_error(403, "step_up_required");

        let path = format!("/v1/workspaces/{workspace}");
        let delete_workspace = async |client: &Client| {
            let origin = (header::ORIGIN, CONSOLE_ORIGIN);
            client.request(Method::DELETE, &path).header(origin.0, origin.1)?.json(&name)?.send().await
        };
        delete_workspace(&person).await?.assert_error(403, "step_up_required");

        let proven = step_up(&person, &passkey).await?;
        // The step-up is accepted; the request fails because they are the owner already.
        post(&proven, &transfer, &name).await?.assert_error(409, "already_owner");
        person.get("/v1/session").await?.assert_error(401, "unauthorized");
        post(&proven, &tokens, &admin).await?.assert_status(200);
        register_passkey(&proven, 8).await?;
        let outsider = sign_in(&server, "outsider@example.test").await?;
        delete(&outsider, &key).await?.assert_error(404, "passkey_not_found");
        delete_workspace(&proven).await?.assert_status(200);
        post(&proven, &format!("{path}/restore"), &json!({})).await?.assert_status(200);
        // The step-up does not extend to another session of the same person.
        let elsewhere = sign_in(&server, "aigerim@example.test").await?;
        post(&elsewhere, &tokens, &admin).await?.assert_error(403, "step_up_required");
        delete(&proven, &key).await?.assert_status(200);
        delete(&proven, &key).await?.assert_error(404, "passkey_not_found");
        assert_eq!(proven.get("/v1/me/passkeys").await?.ok()?["items"].as_array().map(Vec::len), Some(1));

        // Signing in with a passkey counts as a step-up.
        let visitor = server.client();
        let (passkey, _) = register_passkey(&proven, 11).await?;
        let (ceremony, options) = start_ceremony(&visitor, "sign-in").await?;
        let reply = finish_ceremony(&visitor, "sign-in", &ceremony, &passkey.get(&options)?).await?;
        post(&visitor.session_from_reply(&reply)?, &tokens, &admin).await?.assert_status(200);
        assert!(!server.log().contains("clientDataJSON"), "the log contains a response");
        Ok(())
    }

    async fn the_operator_resets_lost_passkeys(server: Server) -> Result<()> {
        let email = "aigerim@example.test";
        let person = sign_in(&server, email).await?;
        let workspace = create_workspace(&person).await?;
        let tokens = format!("/v1/workspaces/{workspace}/tokens");
        let (passkey, _) = register_passkey(&person, 7).await?;
        register_passkey(&step_up(&person, &passkey).await?, 8).await?;
        let other = sign_in(&server, "other@example.test").await?;
        let (others, _) = register_passkey(&other, 9).await?;
        let elsewhere = sign_in(&server, email).await?;
        let admin = json!({"name": "Admin", "scopes": ["admin"]});
        post(&elsewhere, &tokens, &admin).await?.assert_error(403, "step_up_required");

        assert!(server.run_admin(&["take-passkeys-off", "nobody@example.test"]).await.is_err());
        server.run_admin(&["take-passkeys-off", email]).await?;
        // Another process changed it, which this one notices within a second.
        tests::eventually_within(std::time::Duration::from_secs(3), "the sessions have ended", async || {
            elsewhere.get("/v1/session").await?.check_error(401, Some("unauthorized"))
        })
        .await?;
        let visitor = server.client();
        let (ceremony, options) = start_ceremony(&visitor, "sign-in").await?;
        let reply = finish_ceremony(&visitor, "sign-in", &ceremony, &passkey.get(&options)?).await?;
        reply.assert_error(401, "passkey_refused");
        // They can sign in by mail, and no passkey is required.
        let body = json!({"email": email});
        post(&visitor, "/v1/auth/email/start", &body).await?.assert_status(200);
        let code = server.wait_for_mail(email, 1).await?.code()?;
        let reply = post(&visitor, "/v1/auth/email/verify", &json!({"email": email, "code": code})).await?;
        let back = visitor.session_from_reply(&reply)?;
        assert_eq!(back.get("/v1/me/passkeys").await?.ok()?["items"], json!([]));
        post(&back, &tokens, &admin).await?.assert_status(200);
        register_passkey(&back, 10).await?;
        // Other people are not affected.
        other.get("/v1/session").await?.assert_status(200);
        let (ceremony, options) = start_ceremony(&visitor, "sign-in").await?;
        finish_ceremony(&visitor, "sign-in", &ceremony, &others.get(&options)?).await?.assert_status(200);
        Ok(())
    }

    async fn a_passkey_belongs_to_one_person(server: Server) -> Result<()> {
        let person = sign_in(&server, "aigerim@example.test").await?;
        register_passkey(&person, 7).await?;
        let other = sign_in(&server, "other@example.test").await?;
        let (ceremony, options) = start_ceremony(&other, "register").await?;
        let reply = finish_ceremony(&other, "register", &ceremony, &Passkey::new(CONSOLE_ORIGIN, 7)?.create(&options)?).await?;
        reply.assert_error(409, "conflict");
        Ok(())
    }
}

/// Passkeys need a host name, which an IP address is not.
#[tokio::test]
async fn without_a_host_name_there_are_no_passkeys() -> Result<()> {
    tests::on_server(Server::with(tests::Database::Sqlite), async |server| {
        let person = server.sign_in("aigerim@example.test").await?;
        let reply = person.post("/v1/auth/passkeys/register/start", &json!({})).await?;
        reply.assert_error(503, "passkeys_unavailable");
        Ok(())
    })
    .await
}
