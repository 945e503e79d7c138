//! Templates: each is filled in, created and run as its `test.json` says, and its code is checked against the types of the
//! runtime.
//!
//! A `test.json` has the choices, and calls in their order: `run` starts the automation with an input, `request` calls the app
//! over HTTP, `insert` adds rows, `rows` compares those of a table, `outside` scripts the pages of another host, whose address is
//! `OUTSIDE`. `TOMORROW` is the date of tomorrow.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use chrono::{DateTime, TimeDelta};
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::{Method, StatusCode, header};
use serde_json::{Map, Value, json};
use sha2::Sha256;
use tests::{Client, Database, ECHO_HOST, EchoService, Server, ServerOptions, eventually, unix_time};
use tokio::process::Command;

use crate::description::{install_node_tools, run_command};

const SERVICES: [&str; 7] = ["slack", "telegram", "discord", "resend", "postmark", "sendgrid", "brevo"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/apps/templates")
}

fn options(database: Database, echo: &EchoService) -> Result<ServerOptions> {
    let fakes = SERVICES.map(|service| format!("{service}={}", echo.plain_url())).join(",");
    let options =
        Server::with(database).args(["--allowed-hosts", &echo.allowed_hosts(), "--connector-base", &fakes]);
    Ok(options.arg("--no-rate-limits").env("SSL_CERT_FILE", echo.authority()?))
}

/// An app that was created from a template.
struct Created<'a> {
    owner: &'a Client,
    echo: &'a EchoService,
    app: Value,
    automation: Option<String>,
    rows: String,
    secrets: Map<String, Value>,
}

/// Replaces the placeholders of a test.
fn fill(text: &str, echo: &EchoService) -> Result<String> {
    let now = DateTime::from_timestamp(i64::try_from(unix_time())?, 0).context("no time")?;
    let tomorrow = (now + TimeDelta::days(1)).format("%Y-%m-%d").to_string();
    Ok(text.replace("OUTSIDE", &echo.url()).replace("TOMORROW", &tomorrow))
}

fn text<'a>(value: &'a Value, member: &str) -> Result<&'a str> {
    value[member].as_str().with_context(|| format!("no {member} in {value}"))
}

/// Returns true if each member of `expected` is in `found`.
fn has(found: &Value, expected: &Value) -> bool {
    expected.as_object().is_some_and(|members| members.iter().all(|(name, value)| &found[name] == value))
}

impl<'a> Created<'a> {
    /// Creates an app from a template, with the choices of its test.
    async fn create(
        owner: &'a Client,
        workspace: &str,
        echo: &'a EchoService,
        template: &Value,
        test: &Value,
    ) -> Result<Self> {
        // Each has a project of its own, so that each creates its tables.
        let projects = format!("/v1/workspaces/{workspace}/backend/projects");
        let project =
            owner.post(&projects, &json!({"name": text(template, "id")?})).await?.string_at("/id")?;
        let mut body = json!({"name": text(template, "name")?, "templateId": template["id"]});
        if template["tables"].as_array().is_some_and(|tables| !tables.is_empty()) {
            body["projectId"] = json!(project);
        }
        let mut connections = Map::new();
        for (name, service) in test["connections"].as_object().into_iter().flatten() {
            let service = service.as_str().context("no service")?;
            let connectors = format!("/v1/workspaces/{workspace}/connectors/{service}");
            let secret = json!({"displayName": format!("{service} of {}", template["id"]), "secret": "123456:AA-secret-of-a-test-0123456789abcdefg"});
            connections
                .insert(name.clone(), json!(owner.post(&connectors, &secret).await?.string_at("/id")?));
        }
        body["connections"] = Value::Object(connections);
        // A setting has no port; the service of the test has one.
        let settings = test["settings"].to_string().replace(&echo.url(), &format!("https://{ECHO_HOST}"));
        body["settings"] = match serde_json::from_str(&settings)? {
            Value::Null => json!({}),
            settings => settings,
        };
        let app = owner.post(&format!("/v1/workspaces/{workspace}/apps"), &body).await?.ok()?;
        ensure!(app["needsConsole"] == json!([]), "{app}");
        let id = text(&app, "id")?;
        if settings.contains(ECHO_HOST) {
            let path = format!("/v1/apps/{id}/versions/{}", text(&app, "currentVersionId")?);
            let mut version = owner.get(&path).await?.ok()?;
            let settings =
                text(&version["files"], "settings.js")?.replace(&format!("https://{ECHO_HOST}"), &echo.url());
            version["files"]["settings.js"] = json!(settings);
            owner
                .post(&format!("/v1/apps/{id}/versions"), &json!({"files": version["files"]}))
                .await?
                .ok()?;
        }
        let secrets = test["secrets"].as_object().cloned().unwrap_or_default();
        for (name, value) in &secrets {
            owner.put(&format!("/v1/apps/{id}/secrets/{name}"), &json!({"value": value})).await?.ok()?;
        }
        let all = owner.get(&format!("/v1/workspaces/{workspace}/automations")).await?.ok()?;
        let own =
            all["items"].as_array().context("no automations")?.iter().filter(|it| it["appId"] == app["id"]);
        let own: Vec<&Value> = own.collect();
        let wanted = template["automations"].as_array().context("no automations")?;
        ensure!(own.len() == wanted.len(), "{own:?} are not {wanted:?}");
        for (made, wanted) in own.iter().zip(wanted) {
            ensure!(made["trigger"]["type"] == wanted["trigger"] && made["name"] == wanted["name"], "{made}");
        }
        let automation = own.first().map(|it| text(it, "id").map(str::to_owned)).transpose()?;
        let rows = format!("/v1/backend/projects/{project}/tables");
        Ok(Self { owner, echo, app, automation, rows, secrets })
    }

    async fn call(&self, call: &Value) -> Result<()> {
        if let Some(pages) = call["outside"].as_object() {
            for (path, page) in pages {
                let status = u16::try_from(page["status"].as_u64().context("no status")?)?;
                self.echo.respond_with(path, StatusCode::from_u16(status)?, text(page, "body")?);
            }
        } else if let Some(table) = call["insert"].as_str() {
            for row in call["rows"].as_array().context("no rows")? {
                self.owner.post(&format!("{}/{table}/rows", self.rows), row).await?.ok()?;
            }
        } else if let Some(table) = call["rows"].as_str() {
            let found =
                self.owner.get(&format!("{}/{table}/rows?order=created_at,id", self.rows)).await?.ok()?;
            let found = found.as_array().or(found["rows"].as_array()).context("no rows")?;
            let expected = call["are"].as_array().context("nothing expected")?;
            // Rows of one statement are created at the same time, so their order is not that of the test.
            let missing: Vec<&Value> =
                expected.iter().filter(|row| !found.iter().any(|found| has(found, row))).collect();
            ensure!(found.len() == expected.len() && missing.is_empty(), "{found:?} have no {missing:?}");
        } else if call["request"].is_object() {
            self.request(call).await?;
        } else {
            self.run(call).await?;
        }
        Ok(())
    }

    async fn run(&self, call: &Value) -> Result<()> {
        drop(self.echo.take_received());
        let automation = self.automation.as_deref().context("no automation")?;
        let run = self.owner.start_run(automation, call["run"].clone()).await?;
        if let Some(answer) = call["answer"].as_bool() {
            let approvals = format!("/v1/runs/{run}/approvals");
            let question = eventually("the run asks", async || {
                let question = self.owner.get(&approvals).await?.ok()?["items"][0].clone();
                ensure!(question.is_object(), "no question");
                Ok(question)
            });
            let question = question.await?;
            let body = json!({"approvalId": question["id"], "approved": answer});
            self.owner.post(&approvals, &body).await?.ok()?;
        }
        let ended = self.owner.wait_for_run(&run).await?;
        if let Some(reason) = call["fails"].as_str() {
            ensure!(ended["status"] == "failed" && ended.to_string().contains(reason), "{ended}");
            return Ok(());
        }
        ensure!(
            ended["status"] == "succeeded",
            "{ended} {:?}",
            self.owner.app_log(text(&self.app, "id")?, Some(&run)).await?
        );
        if let Some(result) = call.get("result") {
            ensure!(&ended["result"] == result, "the result is {}", ended["result"]);
        }
        if let Some(expected) = call["sent"].as_array() {
            let sent: Vec<String> = self
                .echo
                .take_received()
                .into_iter()
                .filter(|request| request.starts_with("POST "))
                .collect();
            ensure!(sent.len() == expected.len(), "sent {sent:?}");
            for (sent, expected) in sent.iter().zip(expected) {
                let (head, body) = sent.split_once("\n\n").context("no body")?;
                ensure!(
                    head.starts_with(&format!("POST {} ", text(expected, "path")?))
                        || head.starts_with(&format!("POST {}\n", text(expected, "path")?)),
                    "{head}"
                );
                ensure!(serde_json::from_str::<Value>(body)? == expected["body"], "{body}");
            }
        }
        Ok(())
    }

    async fn request(&self, call: &Value) -> Result<()> {
        let request = &call["request"];
        let url = format!("{}{}", text(&self.app, "url")?, text(request, "path")?);
        let method: Method = text(request, "method")?.parse()?;
        let visitor = self.owner.signed_out().with_base_url("");
        let mut sent = visitor.request(method, &url);
        for (name, value) in request["headers"].as_object().into_iter().flatten() {
            sent = sent.header(name.parse::<header::HeaderName>()?, value.as_str().context("no text")?)?;
        }
        if let Some(form) = request["form"].as_str() {
            sent = sent.body("application/x-www-form-urlencoded", form.to_owned())?;
        }
        if let Some(body) = request["body"].as_str() {
            if let Some(secret) = request["stripe"].as_str() {
                let secret = self.secrets[secret].as_str().context("no secret")?;
                let time = unix_time();
                let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes())?;
                mac.update(format!("{time}.{body}").as_bytes());
                let signature: String =
                    mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
                let value = format!("t={time},v1={signature}");
                sent = sent.header(header::HeaderName::from_static("stripe-signature"), &value)?;
            }
            sent = sent.body("application/json", body.to_owned())?;
        }
        let reply = sent.send().await?;
        ensure!(call["status"] == json!(reply.status.as_u16()), "{reply}");
        if let Some(part) = call["contains"].as_str() {
            ensure!(String::from_utf8_lossy(&reply.body).contains(part), "{reply}");
        }
        if let [name, value] = call["header"].as_array().map_or(&[][..], Vec::as_slice) {
            ensure!(reply.header(name.as_str().context("no name")?) == value.as_str(), "{reply}");
        }
        Ok(())
    }
}

#[tokio::test]
async fn every_template_does_what_it_says() -> Result<()> {
    for database in [Database::Sqlite, Database::Postgres] {
        let echo = EchoService::start().await?;
        let options = options(database, &echo)?;
        tests::on_server(options, async |server| check_templates(&server, &echo).await).await?;
    }
    Ok(())
}

async fn check_templates(server: &Server, echo: &EchoService) -> Result<()> {
    let owner = server.sign_in("owner@example.test").await?;
    let workspace = owner.create_workspace("Tulpar").await?.id;
    let templates = owner.get("/v1/templates").await?.ok()?;
    let templates = templates["items"].as_array().context("no templates")?;
    ensure!(templates.len() >= 12, "only {} templates", templates.len());
    for template in templates {
        let id = text(template, "id")?;
        let test = std::fs::read_to_string(folder().join(id).join("test.json"))?;
        let test: Value = serde_json::from_str(&fill(&test, echo)?).with_context(|| id.to_owned())?;
        let created = Created::create(&owner, &workspace, echo, template, &test)
            .await
            .with_context(|| id.to_owned())?;
        let calls = test["calls"].as_array().context("no calls")?;
        ensure!(!calls.is_empty(), "{id} has no calls");
        for call in calls {
            created.call(call).await.with_context(|| format!("{id}: {call}"))?;
        }
    }
    Ok(())
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn the_code_of_templates_has_the_types_of_the_runtime(server: Server) -> Result<()> {
        let tools = install_node_tools().await?;
        let port = server.base_url().rsplit(':').next().context("no port")?;
        let folder = tools.join(format!("templates-{port}"));
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join("qala.d.ts"), &server.client().get("/types/qala.d.ts").await?.body)?;
        let owner = server.sign_in("owner@example.test").await?;
        let templates = owner.get("/v1/templates").await?.ok()?;
        for template in templates["items"].as_array().context("no templates")? {
            let own = folder.join(text(template, "id")?);
            std::fs::create_dir_all(&own)?;
            for (path, source) in template["files"].as_object().context("no files")? {
                std::fs::write(own.join(path), source.as_str().context("no source")?)?;
            }
            let mut settings = Map::new();
            for setting in template["settings"].as_array().context("no settings")? {
                settings.insert(text(setting, "name")?.to_owned(), setting["example"].clone());
            }
            let connections = template["connections"].as_array().context("no connections")?;
            let services = connections.iter().map(|it| Ok((text(it, "name")?.to_owned(), it["connectors"][0].clone())));
            settings.insert("services".to_owned(), Value::Object(services.collect::<Result<_>>()?));
            std::fs::write(own.join("settings.js"), format!("export default {};\n", Value::Object(settings)))?;
        }
        let project = json!({
            "compilerOptions": {
                "target": "es2023", "module": "esnext", "moduleResolution": "bundler", "lib": ["es2023"], "types": [], "strict": true,
                "allowJs": true, "checkJs": true, "noEmit": true,
            },
            "include": ["qala.d.ts", "*/*.js"],
        });
        let file = folder.join("tsconfig.json");
        std::fs::write(&file, project.to_string())?;
        let check = ["--no-install", "tsc", "--project"];
        run_command(Command::new("npx").args(check).arg(&file).current_dir(tools)).await?;
        // A mistake is found.
        std::fs::write(folder.join("short-links/main.js"), "/** @type {Qala.App} */ export default { fetch: () => 1 };")?;
        let wrong = run_command(Command::new("npx").args(check).arg(&file).current_dir(tools)).await;
        ensure!(wrong.is_err(), "the check accepts mistakes");
        Ok(std::fs::remove_dir_all(folder)?)
    }

    async fn bad_choices_are_refused_and_create_nothing(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let apps = format!("/v1/workspaces/{workspace}/apps");
        let projects = format!("/v1/workspaces/{workspace}/backend/projects");
        let project = owner.post(&projects, &json!({"name": "Rows"})).await?.string_at("/id")?;
        let rows = format!("/v1/backend/projects/{project}");
        let tables = async || anyhow::Ok(owner.get(&rows).await?.ok()?["tables"].clone());
        let before = owner.get(&apps).await?.ok()?["items"].as_array().map(Vec::len);
        let links = |change: &dyn Fn(&mut Value)| {
            let mut body = json!({"name": "Links", "templateId": "short-links", "projectId": project});
            change(&mut body);
            body
        };
        for (body, member) in [
            (links(&|body| body["templateId"] = json!("nothing")), "templateId"),
            (links(&|body| body["templateId"] = json!("../short-links")), "templateId"),
            (links(&|body| body["projectId"] = Value::Null), "projectId"),
            (links(&|body| body["files"] = json!({"main.js": ""})), "files"),
            (links(&|body| body["archetype"] = json!("tower")), "archetype"),
            (links(&|body| body["settings"] = json!({"a": 1})), "settings.a"),
            (links(&|body| body["connections"] = json!({"a": "conn_01h455vb4pex5vsknk084sn02q"})), "connection"),
            (links(&|body| body["name"] = json!("x")), "name"),
            (json!({"name": "Links", "projectId": project}), "projectId"),
            (json!({"name": "Links", "settings": {}}), "settings"),
            (json!({"name": "Board", "templateId": "status-board", "projectId": project, "settings": {"title": ""}}), "settings.title"),
            (json!({"name": "Chat", "templateId": "github-issues-to-chat", "settings": {"channel": "#a"}}), "connections.chat"),
        ] {
            let refused = owner.post(&apps, &body).await?;
            ensure!(refused.status.is_client_error() && refused.to_string().contains(member), "{body}: {refused}");
        }
        let left = tables().await?;
        ensure!(left[0]["name"] == "notes" && left[1].is_null(), "a refused app has tables: {left}");

        // A token creates no tables, and uses those that are there; without the scope admin it gives an app no rows at all.
        let writer = owner.with_bearer(&owner.create_token(&workspace, &["read", "write"]).await?);
        let token = owner.with_bearer(&owner.create_token(&workspace, &["read", "write", "admin"]).await?);
        for token in [&writer, &token] {
            token.post(&apps, &links(&|_| ())).await?.assert_error(403, "approval_needs_console");
        }
        ensure!(owner.get(&apps).await?.ok()?["items"].as_array().map(Vec::len) == before, "a refused app exists");
        owner.post(&apps, &links(&|_| ())).await?.ok()?;
        writer.post(&apps, &links(&|_| ())).await?.assert_error(403, "approval_needs_console");
        token.post(&apps, &links(&|body| body["name"] = json!("More links"))).await?.ok()?;

        // A viewer creates no app, and a builder none in another's project.
        owner.add_member(&workspace, "viewer").await?.post(&apps, &links(&|_| ())).await?.assert_error(403, "forbidden");
        let stranger = server.sign_in("stranger@example.test").await?;
        stranger.post(&apps, &links(&|_| ())).await?.assert_status(404);
        let other = stranger.create_workspace("Other").await?.id;
        let elsewhere = stranger.post(&format!("/v1/workspaces/{other}/apps"), &links(&|_| ())).await?;
        ensure!(elsewhere.status.is_client_error(), "{elsewhere}");

        // A table of the name with other columns is left alone.
        let clash = owner.post(&projects, &json!({"name": "Clash"})).await?.string_at("/id")?;
        let table = json!({"name": "links", "columns": [{"name": "code", "type": "integer"}]});
        owner.post(&format!("/v1/backend/projects/{clash}/tables"), &table).await?;
        owner.post(&apps, &links(&|body| body["projectId"] = json!(clash))).await?.assert_error(409, "table_differs");
        Ok(())
    }

    async fn templates_are_in_three_languages(server: Server) -> Result<()> {
        let visitor = server.client();
        visitor.get("/v1/templates").await?.assert_status(401);
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let reader = owner.with_bearer(&owner.create_token(&workspace, &["read"]).await?);
        let mut names = Vec::new();
        for language in ["en", "ru", "kk"] {
            let list = reader.request(Method::GET, "/v1/templates").header(header::ACCEPT_LANGUAGE, language)?.send().await?.ok()?;
            names.push(text(&list["items"][0], "name")?.to_owned());
        }
        names.dedup();
        if names.len() != 3 {
            bail!("{names:?}");
        }
        Ok(())
    }
}
