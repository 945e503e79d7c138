//! Backend projects over HTTP: policies, person tokens, settings, import and export, batches, indexes.

use anyhow::Result;
use http::{HeaderName, Method, header};
use serde_json::{Value, json};
use tests::{BackendProject, Client, Reply, Server, identity_settings, person_token};

const PREFER: HeaderName = HeaderName::from_static("prefer");

async fn create_shop_project(server: &Server) -> Result<(Client, BackendProject)> {
    let owner = server.sign_in("owner@example.test").await?;
    let workspace = owner.create_workspace("Tulpar").await?;
    let project = BackendProject::create(&owner, &workspace.id).await?;
    let columns = [("title", "text"), ("qty", "integer"), ("owner", "text"), ("meta", "json")];
    project.create_table("items", &columns).await?;
    Ok((owner, project))
}

fn joined_ids(reply: &Reply) -> Result<String> {
    let rows = reply.ok()?;
    let ids = rows.as_array().into_iter().flatten().filter_map(|row| row["id"].as_str());
    Ok(ids.collect())
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn rules_and_sentences_convert_into_each_other(server: Server) -> Result<()> {
        let (owner, project) = create_shop_project(&server).await?;
        let rules = json!([{"id": "own", "audience": {"kind": "role", "role": "staff"}, "actions": ["read", "update"],
            "where": {"t": "or", "of": [{"t": "cmp", "column": "owner", "op": "eq", "value": {"k": "me"}},
                {"t": "cmp", "column": "qty", "op": "lt", "value": {"k": "claim", "name": "level"}}]}, "columns": ["id", "qty", "owner"]}]);
        let set = project.set_policy("items", &json!({"rules": rules})).await?;
        let sentence = "People with the role staff may read and update id, qty, owner of rows where owner is the signed-in person, or qty is less than their claim level.";
        assert_eq!(set.ok()?["sentences"], json!([sentence]));
        let again = project.set_policy("items", &json!({"sentences": [sentence, "Visitors may insert every row."]})).await?;
        let again = again.ok()?;
        assert_eq!(again["rules"][0], set.ok()?["rules"][0]);
        assert_eq!(again["rules"][1]["id"], "rule_1");
        // A long sentence is shortened for display and complete when it is returned, and both forms are accepted.
        let long = format!("Visitors may read rows where title is one of {} or \"z\".", vec!["\"a title of some length\""; 19].join(", "));
        let set = project.set_policy("items", &json!({"sentences": [long]})).await?.ok()?;
        assert_eq!(set["sentences"], json!([long]));
        let cut = set["rules"][0]["sentence"].as_str().unwrap_or_default().to_owned();
        assert!(long.chars().count() > 400 && cut.chars().count() == 400 && cut.ends_with('…'));
        for sentence in [&cut, &long] {
            let again = project.set_policy("items", &json!({"sentences": [sentence]})).await?.ok()?;
            assert_eq!((&again["rules"], &again["sentences"]), (&set["rules"], &set["sentences"]));
        }
        let again = project.set_policy("items", &json!({"sentences": [sentence, "Visitors may insert every row."]})).await?.ok()?;
        for bad in [json!({}), json!({"rules": [], "sentences": []}), json!({"sentences": ["Everybody may do anything."]}),
            json!({"sentences": ["Anyone may read nope of every row."]})] {
            project.set_policy("items", &bad).await?.check_error(400, None)?;
        }
        project.set_policy("nope", &json!({"rules": []})).await?.assert_error(404, "table_not_found");
        let read = owner.get(&project.console_path("")).await?.ok()?;
        let table = read["tables"].as_array().and_then(|tables| tables.iter().find(|table| table["name"] == "items"));
        assert_eq!(table.map(|table| &table["rules"]), Some(&again["rules"]));
        Ok(())
    }

    async fn people_are_identified_by_their_person_tokens(server: Server) -> Result<()> {
        let (owner, project) = create_shop_project(&server).await?;
        let policy = json!({"sentences": [
            "Signed-in people may read, insert, update and delete rows where owner is the signed-in person.",
            "People with the role auditor may read every row.",
            "Signed-in people may read rows where title is their claim team.",
        ]});
        project.set_policy("items", &policy).await?.assert_status(200);
        let (secret, key) = (project.create_key("secret").await?, project.create_key("publishable").await?);
        let rows = json!([{"id": "a", "owner": "ann", "title": "x"}, {"id": "b", "owner": "bob", "title": "red"}]);
        let visitor = server.client();
        let add = project.rest_request(&visitor, (&secret, None), Method::POST, "items")?.json(&rows)?;
        add.send().await?.assert_status(201);
        let list = async |person: Option<&str>| {
            project.rest_request(&visitor, (&key, person), Method::GET, "items?order=id")?.send().await
        };
        let ann = person_token("ann", json!({}))?;
        // Person tokens are rejected until the settings name an issuer.
        list(Some(&ann)).await?.assert_error(401, "unauthorized");
        owner.patch(&project.console_path("/settings"), &json!({"identity": identity_settings()})).await?.assert_status(200);
        assert_eq!(joined_ids(&list(Some(&ann)).await?)?, "a");
        assert_eq!(joined_ids(&list(Some(&person_token("eve", json!({"role": "auditor"}))?)).await?)?, "ab");
        assert_eq!(joined_ids(&list(Some(&person_token("eve", json!({"role": ["x", "auditor"]}))?)).await?)?, "ab");
        assert_eq!(joined_ids(&list(Some(&person_token("eve", json!({"team": "red"}))?)).await?)?, "b");
        assert_eq!(joined_ids(&list(Some(&person_token("eve", json!({"team": 7}))?)).await?)?, "");
        // A project key as a bearer token is not a person.
        list(Some(&key)).await?.assert_error(404, "table_not_found");
        list(None).await?.assert_error(404, "table_not_found");
        for bad in [
            person_token("ann", json!({"exp": 1}))?,
            person_token("ann", json!({"iss": "https://else.example"}))?,
            person_token("ann", json!({"aud": "else"}))?,
            person_token("  ", json!({}))?,
            format!("{ann}x"),
            "qat_x".to_owned(),
        ] {
            list(Some(&bad)).await?.assert_error(401, "unauthorized");
        }
        let with_secret = project.rest_request(&visitor, (&secret, Some(&ann)), Method::GET, "items")?.send().await?;
        with_secret.assert_error(401, "unauthorized");
        let theirs = json!({"owner": "bob"});
        let add = project.rest_request(&visitor, (&key, Some(&ann)), Method::POST, "items")?.json(&theirs)?;
        add.send().await?.assert_error(403, "forbidden");
        Ok(())
    }

    async fn trying_rules_changes_nothing(server: Server) -> Result<()> {
        let (owner, project) = create_shop_project(&server).await?;
        let sentence = "Signed-in people may read, insert and update rows where owner is the signed-in person.";
        project.set_policy("items", &json!({"sentences": [sentence]})).await?.assert_status(200);
        let path = project.console_path("/tables/items/policy/test");
        let ann = json!({"kind": "person", "claims": {"sub": "ann"}});
        let trial = owner.post(&path, &json!({"as": ann, "action": "insert", "row": {"owner": "ann"}})).await?.ok()?;
        assert_eq!((&trial["decision"], &trial["rule"]), (&json!("allow"), &json!("rule_1")));
        let trial = owner.post(&path, &json!({"as": {"kind": "visitor"}, "action": "read"})).await?.ok()?;
        let reason = json!("its audience does not include this caller");
        assert_eq!((&trial["decision"], &trial["rules"][0]["reason"]), (&json!("deny"), &reason));
        let reader = json!({"kind": "secret", "name": "K", "scopes": ["rows:read"]});
        let key = owner.post(&project.console_path("/keys"), &reader).await?.string_at("/key/id")?;
        let as_key = json!({"kind": "key", "keyId": key});
        let trial = owner.post(&path, &json!({"as": as_key, "action": "insert", "row": {"qty": 1}})).await?.ok()?;
        assert_eq!(trial["decision"], "deny");
        let nobody = json!({"kind": "key", "keyId": "pkey_none"});
        owner.post(&path, &json!({"as": nobody, "action": "read"})).await?.assert_error(404, "key_not_found");
        owner.post(&path, &json!({"as": ann, "action": "insert"})).await?.assert_error(400, "invalid_request");
        let rows = owner.get(&project.console_path("/tables/items/rows")).await?.ok()?;
        assert_eq!(rows, json!([]));
        Ok(())
    }

    async fn settings_take_effect_at_once(server: Server) -> Result<()> {
        let (owner, project) = create_shop_project(&server).await?;
        let key = project.create_key("publishable").await?;
        let path = project.console_path("/settings");
        let visitor = server.client();
        let list = async || {
            let request = project.rest_request(&visitor, (&key, None), Method::GET, "items")?;
            request.header(header::ORIGIN, "https://shop.example")?.send().await
        };
        let before = list().await?;
        before.assert_error(404, "table_not_found");
        assert_eq!(before.header("access-control-allow-origin"), None);
        owner.patch(&path, &json!({"publicReadTables": ["items"]})).await?.assert_error(400, "invalid_request");
        let change = json!({"allowedOrigins": ["https://shop.example/"], "maxBodyKb": 1, "rateLimitPerMin": 10,
            "publicReadTables": ["items"], "confirmPublicRead": ["items"]});
        let changed = owner.patch(&path, &change).await?.ok()?;
        assert_eq!(changed["settings"]["allowedOrigins"], json!(["https://shop.example"]));
        assert_eq!(changed["settings"]["ipRatePerMin"], 3000);
        let after = list().await?;
        after.assert_status(200);
        assert_eq!(after.header("access-control-allow-origin"), Some("https://shop.example"));
        let secret = project.create_key("secret").await?;
        let large = json!({"title": "x".repeat(2000)});
        let add = project.rest_request(&visitor, (&secret, None), Method::POST, "items")?.json(&large)?.send().await?;
        add.assert_error(413, "too_large");
        for bad in [json!({"rateLimitPerMin": 1}), json!({"allowedOrigins": ["*"]}), json!({"identity": {"issuer": "x"}}),
            json!({"publicReadTables": ["nope"]}), json!({"surprise": 1})] {
            owner.patch(&path, &bad).await?.check_error(400, None)?;
        }
        let identity = owner.patch(&path, &json!({"identity": identity_settings()})).await?.ok()?;
        assert_eq!(identity["settings"]["identity"]["roleClaim"], "role");
        let kept = owner.patch(&path, &json!({"publicReadTables": []})).await?.ok()?;
        assert_eq!(kept["settings"]["identity"]["issuer"], "https://id.example.test");
        list().await?.assert_error(404, "table_not_found");
        let gone = owner.patch(&path, &json!({"identity": null})).await?.ok()?;
        assert_eq!(gone["settings"]["identity"], Value::Null);
        Ok(())
    }

    async fn projects_are_listed_with_their_rows(server: Server) -> Result<()> {
        let (owner, project) = create_shop_project(&server).await?;
        let rows = json!([{"title": "a"}, {"title": "b"}]);
        owner.post(&project.console_path("/tables/items/rows"), &rows).await?.ok()?;
        let read = owner.get(&project.console_path("")).await?.ok()?;
        assert!(read["rowCountAt"].is_string(), "{read}");
        let list = format!("/v1/workspaces/{}/backend/projects", read["workspaceId"].as_str().unwrap_or_default());
        let list = owner.get(&list).await?.ok()?;
        let items = list["items"].as_array().into_iter().flatten();
        let listed = items.clone().find(|item| item["id"] == read["id"]).unwrap_or(&Value::Null);
        // Nothing was written since, so the last count and a new one are the same.
        assert_eq!(listed["rowCount"], read["rowCount"], "{list}");
        assert!(items.into_iter().all(|item| item["rowCount"].is_number()), "{list}");
        owner.get(&project.console_path("")).await?.ok()?;
        Ok(())
    }

    /// Key sets as issuers publish them, with keys for encryption and of newer types.
    async fn a_key_set_keeps_what_verifies_tokens_and_names_the_rest(server: Server) -> Result<()> {
        let (owner, project) = create_shop_project(&server).await?;
        let path = project.console_path("/settings");
        let set = async |keys: Value| {
            let mut identity = identity_settings();
            identity["keys"] = keys;
            owner.patch(&path, &json!({"identity": identity})).await
        };
        let signing = identity_settings()["keys"][0].clone();
        let others = [
            json!({"kty": "RSA", "kid": "enc", "use": "enc", "alg": "RSA-OAEP", "n": "AQAB", "e": "AQAB", "x5c": ["MIIC"]}),
            json!({"kty": "EC", "kid": "p384", "crv": "P-384", "x": "AA", "y": "AA"}),
            json!({"kty": "AKP", "kid": "next", "pub": "AA"}),
            json!({"n": "AQAB", "e": "AQAB"}),
            json!({"kty": 1, "kid": "number"}),
        ];
        let keys: Vec<Value> = others.iter().cloned().chain([signing.clone(), signing.clone()]).collect();
        let changed = set(json!(keys)).await?;
        let tag = changed.header("etag").map(str::to_owned);
        let changed = changed.ok()?;
        assert_eq!(changed["settings"]["identity"]["keys"].as_array().map(Vec::len), Some(1));
        assert_eq!(changed["ignoredKeys"], json!([
            {"kid": "enc", "reason": "other_use"}, {"kid": "p384", "reason": "unsupported"}, {"kid": "next", "reason": "unsupported"},
            {"kid": null, "reason": "malformed"}, {"kid": "number", "reason": "malformed"}, {"kid": null, "reason": "duplicate"},
        ]));
        let read = owner.get(&project.console_path("")).await?;
        assert_eq!(read.header("etag").map(str::to_owned), tag, "what was left out is not part of the project");
        assert!(read.ok()?.get("ignoredKeys").is_none());
        let (key, token) = (project.create_key("publishable").await?, person_token("ann", json!({}))?);
        let client = server.client();
        project.rest_request(&client, (&key, Some(&token)), Method::GET, "items")?.send().await?.assert_error(404, "table_not_found");

        set(json!(others)).await?.assert_error(400, "invalid_request");
        let oct = |number: usize| json!({"kty": "oct", "kid": format!("k{number}"), "k": signing["k"]});
        let nine: Vec<Value> = (0..9).map(oct).collect();
        let refused = set(json!(nine)).await?;
        refused.assert_error(400, "invalid_request");
        let message = refused.to_string();
        assert!((0..9).all(|number| message.contains(&format!("k{number}"))), "{message}");
        set(json!(nine[..8])).await?.ok()?;
        let private = json!({"kty": "RSA", "kid": "private", "n": "AQAB", "e": "AQAB", "d": "AQAB"});
        let refused = set(json!([signing, private])).await?.to_string();
        assert!(refused.contains("private key"), "{refused}");
        Ok(())
    }

    /// Tokens whose roles and claims are inside others, have names of URLs, are lists, or have numbers as text.
    async fn roles_and_claims_of_tokens_are_found_by_their_paths(server: Server) -> Result<()> {
        let (owner, project) = create_shop_project(&server).await?;
        let (key, client) = (project.create_key("publishable").await?, server.client());
        let rows = json!([{"id": "seven", "title": "red", "qty": 7}, {"id": "eight", "title": "blue", "qty": 8}]);
        owner.post(&project.console_path("/tables/items/rows"), &rows).await?.ok()?;
        let claim = |column: &str, name: &str| json!({"t": "cmp", "column": column, "op": "eq", "value": {"k": "claim", "name": name}});
        let rule = |id: &str, audience: Value, condition: Value| json!({"id": id, "audience": audience, "actions": ["read"], "where": condition, "columns": null});
        let policy = json!({"rules": [
            rule("admins", json!({"kind": "role", "role": "admin"}), json!({"t": "all"})),
            rule("teams", json!({"kind": "signed_in"}), claim("title", "team")),
            rule("units", json!({"kind": "signed_in"}), claim("qty", "unit")),
        ]});
        owner.put(&project.console_path("/tables/items/policy"), &policy).await?.ok()?;
        let test = project.console_path("/tables/items/policy/test");
        let read = async |claims: Value| -> Result<Vec<String>> {
            let token = person_token("ann", claims.clone())?;
            let read = project.rest_request(&client, (&key, Some(&token)), Method::GET, "items?select=id&order=id")?.send().await?.ok()?;
            let ids: Vec<String> = read.as_array().into_iter().flatten().map(|row| row["id"].as_str().unwrap_or_default().to_owned()).collect();
            // A test of the policy with the same claims decides alike.
            let mut claims = claims;
            claims["sub"] = json!("ann");
            let tried = owner.post(&test, &json!({"as": {"kind": "person", "claims": claims}, "action": "read"})).await?.ok()?;
            let allowed = tried["rows"].as_array().into_iter().flatten().filter(|row| row["decision"] == "allow");
            let mut allowed: Vec<&str> = allowed.filter_map(|row| row["id"].as_str()).collect();
            allowed.sort_unstable();
            assert_eq!(allowed, ids, "{claims}");
            Ok(ids)
        };
        let set = async |settings: Value| {
            let mut identity = identity_settings();
            for (name, value) in settings.as_object().into_iter().flatten() {
                identity[name] = value.clone();
            }
            owner.patch(&project.console_path("/settings"), &json!({"identity": identity})).await
        };
        set(json!({})).await?.ok()?;
        assert_eq!(read(json!({"role": "admin"})).await?, ["eight", "seven"]);
        assert_eq!(read(json!({"realm_access": {"roles": ["admin"]}})).await?, [""; 0]);
        assert_eq!(read(json!({"team": ["red", "green"]})).await?, ["seven"]);
        assert_eq!(read(json!({"team": ["red", "blue"], "unit": "8"})).await?, ["eight", "seven"]);
        assert_eq!(read(json!({"unit": "8"})).await?, ["eight"]);
        assert_eq!(read(json!({"unit": 8})).await?, ["eight"]);
        assert_eq!(read(json!({"unit": {"a": 8}, "team": 7})).await?, [""; 0]);

        let changed = set(json!({"roleClaim": "realm_access.roles", "claims": {"team": "https://corp.example/teams", "unit": "app_metadata.unit-id"}})).await?.ok()?;
        assert_eq!(changed["settings"]["identity"]["claims"]["unit"], "app_metadata.unit-id");
        assert_eq!(read(json!({"realm_access": {"roles": ["clerk", "admin"]}})).await?, ["eight", "seven"]);
        assert_eq!(read(json!({"https://corp.example/teams": ["blue"]})).await?, ["eight"]);
        assert_eq!(read(json!({"app_metadata": {"unit-id": "7"}})).await?, ["seven"]);
        assert_eq!(read(json!({"team": "red", "unit": 8})).await?, [""; 0], "the settings say what these names are");

        let claims = json!({"sub": "ann", "https://corp.example/teams": ["a", "b", "c"]});
        let tried = owner.post(&test, &json!({"as": {"kind": "person", "claims": claims}, "action": "read"})).await?.ok()?;
        assert_eq!(tried["rules"][1]["conditions"], json!([{"column": "title", "finding": "a list of 3"}]));
        assert_eq!(tried["rules"][2]["conditions"], json!([{"column": "qty", "finding": "the token has no claim unit"}]));
        assert_eq!(tried["rules"][2]["reason"], "its condition does not hold: the token has no claim unit");
        for bad in [json!({"claims": {"Team": "a"}}), json!({"claims": {"team": ""}}), json!({"claims": {"team": 7}}), json!({"roleClaim": ""})] {
            set(bad).await?.assert_error(400, "invalid_request");
        }
        Ok(())
    }

    async fn rows_are_exported_and_imported_as_files(server: Server) -> Result<()> {
        let (owner, project) = create_shop_project(&server).await?;
        let rows: Vec<String> = (0..1_234).map(|n| format!("r{n:04},\"title, {n}\",{n}")).collect();
        let file = format!("id,title,qty\n{}\n", rows.join("\n"));
        let import = async |query: &str, body: String| {
            let path = project.console_path(&format!("/tables/items/import{query}"));
            owner.request(Method::POST, &path).body("text/csv", body)?.send().await
        };
        assert_eq!(import("?check=true", file.clone()).await?.ok()?, json!({"rows": 1234, "imported": 0, "skippedLines": 0, "ignoredColumns": []}));
        assert_eq!(import("", file.clone()).await?.ok()?, json!({"rows": 1234, "imported": 1234, "skippedLines": 0, "ignoredColumns": []}));
        import("", file).await?.assert_error(409, "row_exists");
        import("", "qty\n1\nx\n".into()).await?.assert_error(400, "invalid_value");
        let csv = owner.get(&project.console_path("/tables/items/export")).await?;
        csv.assert_status(200);
        assert_eq!(csv.header("content-range"), Some("0-1233/1234"));
        let text = String::from_utf8(csv.body.to_vec())?;
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 1_235);
        assert!(lines[1].starts_with("r0000,") && lines[1_234].starts_with("r1233,"), "{}", lines[1]);
        let all = owner.get(&project.console_path("/tables/items/export?format=json")).await?.ok()?;
        assert_eq!(all.as_array().map(Vec::len), Some(1_234));
        owner.get(&project.console_path("/tables/nope/export")).await?.assert_error(404, "table_not_found");
        Ok(())
    }

    async fn requests_are_logged_and_counted(server: Server) -> Result<()> {
        let (owner, project) = create_shop_project(&server).await?;
        let secret = project.create_key("secret").await?;
        let client = server.client();
        let request = |method, rest: &str| project.rest_request(&client, (&secret, None), method, rest);
        request(Method::POST, "items")?.json(&json!([{"qty": 1}, {"qty": 2}]))?.send().await?.assert_status(201);
        request(Method::GET, "items?qty=eq.1")?.send().await?.assert_status(200);
        request(Method::GET, "items?nope=eq.1")?.send().await?.assert_status(400);
        request(Method::GET, "nothing")?.send().await?.assert_status(404);
        let log = owner.get(&project.console_path("/logs?limit=3")).await?.ok()?;
        let logs = log["logs"].as_array().cloned().unwrap_or_default();
        let seen: Vec<_> = logs.iter().map(|log| (&log["table"], &log["status"], &log["rows"], &log["errorCode"])).collect();
        let (null, one) = (Value::Null, json!(1));
        assert_eq!(
            seen,
            [
                (&json!("nothing"), &json!(404), &null, &json!("table_not_found")),
                (&json!("items"), &json!(400), &null, &json!("column_not_found")),
                (&json!("items"), &json!(200), &one, &null),
            ]
        );
        assert_eq!((&logs[2]["keyName"], &logs[2]["keyKind"]), (&json!("Tests"), &json!("secret")));
        let path = logs[2]["path"].as_str().unwrap_or_default();
        assert!(path.ends_with("/rest/items") && logs[2]["durationMs"].as_f64() > Some(0.0), "{}", logs[2]);
        let metrics = &log["metrics"];
        assert_eq!((&metrics["total"], &metrics["errors"], &metrics["windowMinutes"]), (&json!(4), &json!(2), &json!(60)));
        let minutes: u64 = metrics["perMinute"].as_array().into_iter().flatten().filter_map(Value::as_u64).sum();
        assert_eq!(minutes, 4);
        assert!(metrics["p50Ms"].as_f64() <= metrics["p95Ms"].as_f64() && metrics["p50Ms"].is_number());
        assert!(metrics["lastRequestAt"].is_string());
        let shown = owner.get(&project.console_path("")).await?.ok()?;
        assert!(shown["requestsPerMin"].as_f64() > Some(0.0));
        owner.get(&project.console_path("/logs?limit=0")).await?.assert_error(400, "invalid_request");
        Ok(())
    }

    async fn a_batch_is_one_transaction(server: Server) -> Result<()> {
        let (_, project) = create_shop_project(&server).await?;
        let secret = project.create_key("secret").await?;
        let client = server.client();
        let batch = async |operations: Value| {
            let request = project.rest_request(&client, (&secret, None), Method::POST, "_batch")?;
            request.json(&json!({"operations": operations}))?.send().await
        };
        let done = batch(json!([
            {"method": "POST", "table": "items", "body": {"id": "a", "qty": 1}, "query": "select=id"},
            {"method": "PATCH", "table": "items", "id": "a", "body": {"qty": 2}, "prefer": "return=minimal"},
            {"method": "DELETE", "table": "items", "query": "qty=eq.2&select=id"},
        ]));
        let wanted = json!({"results": [
            {"status": 201, "rows": 1, "body": [{"id": "a"}]}, {"status": 204, "rows": 1, "body": null},
            {"status": 200, "rows": 1, "body": [{"id": "a"}]}]});
        assert_eq!(done.await?.ok()?, wanted);
        let done = batch(json!([
            {"method": "PUT", "table": "items", "body": {"qty": 1}, "query": "id=eq.p&select=id,qty"},
            {"method": "PUT", "table": "items", "id": "p", "body": {"qty": 2}, "query": "select=qty"},
            {"method": "PUT", "table": "items", "id": "p", "body": {"qty": 3}, "prefer": "return=minimal"},
            {"method": "PUT", "table": "items", "id": "q", "body": {}, "prefer": "return=minimal"},
            {"method": "POST", "table": "items", "body": [{"id": "s", "qty": 1}, {"id": "r", "qty": 2}], "query": "select=id&order=qty.desc"},
            {"method": "DELETE", "table": "items", "query": "id=not.is.null&order=id.desc&limit=4", "prefer": "return=minimal"},
        ]));
        let results = done.await?.ok()?;
        assert_eq!(results["results"][0], json!({"status": 201, "rows": 1, "body": [{"id": "p", "qty": 1}]}));
        assert_eq!(results["results"][1]["body"], json!({"qty": 2}));
        assert_eq!(results["results"][2]["body"], Value::Null);
        assert_eq!(results["results"][3]["status"], 201);
        assert_eq!(results["results"][4]["body"], json!([{"id": "r"}, {"id": "s"}]));
        let nothing = batch(json!([{"method": "PUT", "table": "items", "id": "a"}])).await?;
        nothing.assert_error(400, "invalid_request");
        let failed = batch(json!([
            {"method": "POST", "table": "items", "body": {"id": "b"}},
            {"method": "POST", "table": "items", "body": {"id": "b"}},
        ]));
        let failed = failed.await?;
        failed.assert_error(409, "row_exists");
        let rows = project.rest_request(&client, (&secret, None), Method::GET, "items")?.send().await?;
        assert_eq!(rows.ok()?, json!([]));
        Ok(())
    }

    async fn responses_have_the_requested_form(server: Server) -> Result<()> {
        let (owner, project) = create_shop_project(&server).await?;
        let secret = project.create_key("secret").await?;
        let client = server.client();
        let request = |method, rest: &str| project.rest_request(&client, (&secret, None), method, rest);
        let created = request(Method::POST, "items")?.header(PREFER, "return=headers-only")?.json(&json!({"id": "a b", "qty": 1}))?;
        let created = created.send().await?;
        created.assert_status(201);
        assert!(created.header("location").is_some_and(|location| location.ends_with("/rest/items?id=eq.a%20b")), "{created}");
        assert_eq!(created.header("preference-applied"), Some("return=headers-only"));
        let created = request(Method::POST, "items?select=qty")?.header(PREFER, "return=headers-only")?.json(&json!({"id": "z"}))?;
        assert!(created.send().await?.header("location").is_some_and(|location| location.ends_with("?id=eq.z")));
        let gone = request(Method::DELETE, "items?id=eq.z")?.send().await?;
        assert_eq!(gone.header("content-range"), Some("*/*"));
        let changed = request(Method::PATCH, "items?id=eq.a%20b")?.header(PREFER, "count=exact")?.json(&json!({"qty": 1}))?;
        assert_eq!(changed.send().await?.header("content-range"), Some("0-0/1"));
        let beyond = request(Method::GET, "items?offset=5")?.header(PREFER, "count=exact")?.send().await?;
        beyond.assert_status(416);
        assert_eq!(beyond.header("content-range"), Some("*/1"));
        let lenient = request(Method::GET, "items")?.header(PREFER, "handling=lenient")?.send().await?;
        assert_eq!(lenient.header("preference-applied"), Some("handling=lenient"));
        // Unknown routes of the data API are rejected in its own error format.
        for (method, path, status) in [(Method::PUT, "_batch", 405), (Method::POST, "rpc/x/y", 404), (Method::POST, "v1/rpc/x", 404), (Method::GET, "a/b/c", 404)] {
            let refused = request(method, path)?.send().await?;
            refused.assert_status(status);
            let body: Value = serde_json::from_slice(&refused.body)?;
            for member in ["/code", "/message", "/error/code", "/requestId"] {
                assert!(body.pointer(member).is_some(), "{path} {member} {refused}");
            }
        }
        // Pages on an allowed origin may read the error and pass the preflight request; others may not.
        owner.patch(&project.console_path("/settings"), &json!({"allowedOrigins": ["https://shop.example"]})).await?.assert_status(200);
        for (method, path, status) in [(Method::PUT, "_batch", 405), (Method::GET, "_batch", 405), (Method::POST, "v1/rpc/x", 404), (Method::GET, "a/b/c", 404)] {
            for (origin, allowed) in [("https://shop.example", Some("https://shop.example")), ("https://else.example", None)] {
                let refused = request(method.clone(), path)?.header(header::ORIGIN, origin)?.send().await?;
                refused.assert_status(status);
                assert_eq!(refused.header("access-control-allow-origin"), allowed, "{method} {path} {origin}");
                assert_eq!(refused.header("vary").map(|vary| vary.contains("Origin")), Some(true));
                let preflight = client.request(Method::OPTIONS, &project.rest_path(path)).header(header::ORIGIN, origin)?.send().await?;
                preflight.assert_status(204);
                assert_eq!(preflight.header("access-control-allow-origin"), allowed, "{path} {origin}");
                assert!(preflight.header("access-control-allow-methods").is_some_and(|methods| methods.contains("PUT")));
            }
        }
        let nowhere = client.request(Method::OPTIONS, "/v1/projects/proj_none/rest/a/b/c").header(header::ORIGIN, "https://shop.example")?;
        assert_eq!(nowhere.send().await?.header("access-control-allow-origin"), None);
        // One row is created and updated by its id.
        let put = async |query: &str, body: Value, prefer: &'static str| {
            request(Method::PUT, &format!("items?{query}"))?.header(PREFER, prefer)?.json(&body)?.send().await
        };
        let created = put("id=eq.put&select=id,qty", json!({"qty": 1}), "count=exact").await?;
        assert_eq!((created.status.as_u16(), created.header("content-range"), created.ok()?), (201, Some("0-0/1"), json!([{"id": "put", "qty": 1}])));
        let again = put("id=eq.put&select=qty", json!({"id": "put", "qty": 2}), "return=representation").await?;
        assert_eq!((again.status.as_u16(), again.ok()?), (200, json!([{"qty": 2}])));
        assert_eq!(put("id=eq.put", json!({"qty": 3}), "return=minimal").await?.assert_status(204).body.len(), 0);
        assert_eq!(put("id=eq.other", json!({}), "return=minimal").await?.assert_status(201).body.len(), 0);
        put("id=neq.put", json!({"qty": 3}), "").await?.assert_error(400, "invalid_request");
        put("id=eq.put", json!({"id": "x"}), "").await?.assert_error(400, "invalid_body");
        let gone = request(Method::DELETE, "items?id=in.(put,other)&order=id.desc&limit=5&select=id")?.send().await?;
        assert_eq!(gone.ok()?, json!([{"id": "put"}, {"id": "other"}]));
        let limited = request(Method::DELETE, "items?id=not.is.null&limit=1")?.send().await?;
        limited.assert_error(400, "order_required");
        let merge = |body: Value| request(Method::POST, "items")?.header(PREFER, "resolution=merge-duplicates")?.json(&body);
        merge(json!({"id": "a b", "qty": 2}))?.send().await?.assert_status(200);
        merge(json!([{"id": "a b", "qty": 3}, {"id": "c", "qty": 4}]))?.send().await?.assert_status(201);
        let csv = request(Method::POST, "items?select=id,qty")?.body("text/csv", "id,qty\nd,5\n")?;
        let csv = csv.header(header::ACCEPT, "text/csv")?.send().await?;
        csv.assert_status(201);
        assert_eq!(&csv.body[..], b"id,qty\r\nd,5\r\n");
        let page = request(Method::GET, "items?order=qty.desc&limit=2&select=id&cursor=")?.send().await?;
        assert_eq!(joined_ids(&page)?, "dc");
        let cursor = page.header("next-cursor").unwrap_or_default();
        let next = format!("items?order=qty.desc&limit=2&select=id&cursor={cursor}");
        let next = request(Method::GET, &next)?.send().await?;
        assert_eq!((joined_ids(&next)?.as_str(), next.header("next-cursor")), ("a b", None));
        let strict = request(Method::GET, "items")?.header(PREFER, "handling=strict, timezone=Mars")?.send().await?;
        strict.assert_error(400, "invalid_preference");
        let utc = request(Method::GET, "items")?.header(PREFER, "timezone=UTC")?.send().await?;
        assert_eq!(utc.header("preference-applied"), Some("timezone=UTC"));
        request(Method::GET, "items")?.header(header::ACCEPT, "text/html")?.send().await?.assert_status(406);
        Ok(())
    }
    async fn indexes_are_created_and_dropped_by_those_who_may_change_the_schema(server: Server) -> Result<()> {
        let (owner, project) = create_shop_project(&server).await?;
        let scoped = async |scope: &str| -> Result<Client> {
            let key = json!({"kind": "secret", "name": "Tests", "scopes": [scope]});
            Ok(server.client().with_bearer(&owner.post(&project.console_path("/keys"), &key).await?.string_at("/secret")?))
        };
        let (builder, writer) = (scoped("schema:write").await?, scoped("rows:write").await?);
        let visitor = server.client().with_bearer(&project.create_key("publishable").await?);
        let indexes = format!("/v1/projects/{}/schema/tables/items/indexes", project.id);
        let first = format!("{indexes}/ix1");

        let by_qty = json!({"columns": ["qty"]});
        let created = builder.post(&indexes, &by_qty).await?;
        created.assert_status(201);
        assert_eq!(created.ok()?["indexes"], json!([{"name": "ix1", "columns": ["qty"]}]));
        assert_eq!(created.ok()?["rules"], json!([]), "rules must be shown only in the console");
        builder.post(&indexes, &by_qty).await?.assert_error(409, "index_exists");
        for (columns, status, code) in [
            (json!([]), 400, "invalid_request"),
            (json!(["qty", "title", "owner", "id", "created_at"]), 400, "invalid_request"),
            (json!(["meta"]), 400, "invalid_request"),
            (json!(["nothing"]), 400, "column_not_found"),
            (json!(["qty\"; DROP TABLE items"]), 400, "column_not_found"),
            (json!("qty"), 400, "invalid_request"),
        ] {
            builder.post(&indexes, &json!({"columns": columns})).await?.assert_error(status, code);
        }
        builder.post(&indexes, &json!({"columns": ["owner"], "only": true})).await?.assert_error(400, "invalid_request");
        let with_id = json!({"columns": ["owner", "id"], "unique": true});
        builder.post(&indexes, &with_id).await?.assert_error(400, "invalid_request");
        let elsewhere = indexes.replace("items", "nothing");
        builder.post(&elsewhere, &by_qty).await?.assert_error(404, "table_not_found");
        for other in [&writer, &visitor] {
            other.post(&indexes, &json!({"columns": ["owner"]})).await?.assert_error(403, "insufficient_scope");
            other.delete(&first).await?.assert_error(403, "insufficient_scope");
        }
        server.client().post(&indexes, &by_qty).await?.assert_error(401, "unauthorized");

        // The same in the console, and the audit entries of both.
        let console = project.console_path("/tables/items/indexes");
        let created = owner.post(&console, &json!({"columns": ["owner", "created_at"]})).await?.ok()?;
        assert_eq!(created["indexes"][1]["name"], "ix2");
        owner.delete(&format!("{console}/ix2")).await?.assert_status(200);
        owner.delete(&format!("{console}/ix2")).await?.assert_error(404, "index_not_found");
        builder.delete(&first).await?.assert_status(200);
        builder.delete(&first).await?.assert_error(404, "index_not_found");
        Ok(())
    }
}
