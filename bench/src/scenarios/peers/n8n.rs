//! n8n, with a workflow of a webhook that responds at once and a Code node, and executions stored in SQLite.

use std::{fs, path::Path};

use anyhow::{Result, ensure};
use http::{HeaderName, HeaderValue};
use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};
use tokio::process::Command;

use super::{
    BenchTarget, Characteristics, SECRET, TargetKind,
    process::{self, PeerProcess},
    signed_calls,
};

const TOKEN: HeaderName = HeaderName::from_static("x-bench-token");
const WORKFLOW: &str = "benchWorkflow001";
const CREDENTIAL: &str = "benchCredential1";

/// Settings that turn off all traffic except with the caller. Executions are stored as by default.
const SETTINGS: [(&str, &str); 12] = [
    ("GENERIC_TIMEZONE", "UTC"),
    ("N8N_COMMUNITY_PACKAGES_ENABLED", "false"),
    ("N8N_DIAGNOSTICS_ENABLED", "false"),
    ("N8N_HIRING_BANNER_ENABLED", "false"),
    ("N8N_LICENSE_AUTO_RENEW_ENABLED", "false"),
    ("N8N_LISTEN_ADDRESS", "127.0.0.1"),
    ("N8N_LOG_LEVEL", "warn"),
    ("N8N_PERSONALIZATION_ENABLED", "false"),
    ("N8N_PUBLIC_API_DISABLED", "true"),
    ("N8N_TEMPLATES_ENABLED", "false"),
    ("N8N_VERSION_NOTIFICATIONS_ENABLED", "false"),
    ("DB_TYPE", "sqlite"),
];

pub(super) async fn start(program: &Path) -> Result<BenchTarget> {
    let folder = tempfile::tempdir()?;
    let command = |args: &[&str]| -> Command {
        let mut command = process::isolated_command(program, folder.path());
        command.env("N8N_USER_FOLDER", folder.path()).envs(SETTINGS).args(args);
        command
    };
    let name = format!("n8n {}", process::version(program, folder.path()).await?);
    fs::write(folder.path().join("credentials.json"), credentials().to_string())?;
    fs::write(folder.path().join("workflow.json"), workflow().to_string())?;
    process::run_to_output(&mut command(&["import:credentials", "--input=credentials.json"])).await?;
    process::run_to_output(&mut command(&["import:workflow", "--input=workflow.json"])).await?;
    process::run_to_output(&mut command(&["publish:workflow", &format!("--id={WORKFLOW}")])).await?;
    let (port, broker) = (process::free_port()?, process::free_port()?);
    let mut serve = command(&["start"]);
    serve.env("N8N_PORT", port.to_string()).env("N8N_RUNNERS_BROKER_PORT", broker.to_string());
    let process = PeerProcess::start(&mut serve, folder)?;
    let characteristics = Characteristics {
        authentication: "a token, no signature",
        durability: "not measured",
        execution: "JavaScript, after the response",
    };
    let requests = signed_calls("/webhook/bench", Some((TOKEN, HeaderValue::from_static(SECRET))));
    Ok(BenchTarget::new(
        name,
        format!("127.0.0.1:{port}"),
        &requests,
        TOKEN,
        characteristics,
        TargetKind::N8n(process),
    ))
}

/// Returns a credential for the header that the webhook checks. Webhooks of n8n cannot check signatures.
fn credentials() -> Value {
    let token = json!({"name": TOKEN.as_str(), "value": SECRET});
    json!([{"id": CREDENTIAL, "name": "Bench", "type": "httpHeaderAuth", "data": token}])
}

fn workflow() -> Value {
    let webhook = json!({
        "id": "webhook", "name": "Webhook", "type": "n8n-nodes-base.webhook", "typeVersion": 2, "position": [0, 0],
        "webhookId": "bench",
        "parameters": {
            "httpMethod": "POST", "path": "bench", "authentication": "headerAuth", "responseMode": "onReceived",
            "options": {},
        },
        "credentials": {"httpHeaderAuth": {"id": CREDENTIAL, "name": "Bench"}},
    });
    let code = json!({
        "id": "code", "name": "Code", "type": "n8n-nodes-base.code", "typeVersion": 2, "position": [200, 0],
        "parameters": {"jsCode": "return [{ json: { order: $input.first().json.body.order } }];"},
    });
    json!([{
        "id": WORKFLOW,
        "name": "Bench",
        "active": false,
        "nodes": [webhook, code],
        "connections": {"Webhook": {"main": [[{"node": "Code", "type": "main", "index": 0}]]}},
        "settings": {"executionOrder": "v1"},
    }])
}

/// Fails unless there are as many executions as accepted calls and all of them succeeded.
pub(super) fn check_executions(folder: &Path, accepted: u64) -> Result<()> {
    let database = folder.join(".n8n").join("database.sqlite");
    let database = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut count = database.prepare("SELECT status, count(*) FROM execution_entity GROUP BY status")?;
    let counts: Vec<(String, u64)> = count
        .query_map([], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned())))?
        .collect::<Result<_, _>>()?;
    ensure!(
        counts == [("success".to_owned(), accepted)],
        "{accepted} calls were accepted, but n8n has {counts:?}"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_and_credentials_refer_to_existing_entries() {
        let (workflow, credentials) = (&workflow()[0], &credentials()[0]);
        let names: Vec<&Value> =
            workflow["nodes"].as_array().unwrap().iter().map(|node| &node["name"]).collect();
        let next = workflow.pointer("/connections/Webhook/main/0/0/node").unwrap();
        assert!(names.contains(&next) && names.contains(&&json!("Webhook")));
        let used = workflow.pointer("/nodes/0/credentials/httpHeaderAuth").unwrap();
        assert_eq!((&used["id"], &used["name"]), (&credentials["id"], &credentials["name"]));
    }

    #[test]
    fn there_must_be_as_many_successful_executions_as_calls() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(".n8n")).unwrap();
        let database = Connection::open(folder.path().join(".n8n/database.sqlite")).unwrap();
        database.execute_batch("CREATE TABLE execution_entity (status TEXT)").unwrap();
        let add =
            |status: &str| database.execute("INSERT INTO execution_entity VALUES (?1)", [status]).unwrap();
        add("success");
        add("success");
        assert!(check_executions(folder.path(), 2).is_ok());
        assert!(check_executions(folder.path(), 3).is_err());
        add("error");
        assert!(check_executions(folder.path(), 2).is_err());
        assert!(check_executions(folder.path(), 3).is_err());
    }
}
