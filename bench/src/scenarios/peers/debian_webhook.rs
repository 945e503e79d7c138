//! Debian's `webhook`, with a rule that checks the signature and a command.

use std::{fs, path::Path};

use anyhow::Result;
use serde_json::{Value, json};

use super::{
    BenchTarget, Characteristics, HUB_SIGNATURE, SECRET, TargetKind,
    process::{self, PeerProcess},
    signed_calls,
};

pub(super) async fn start(program: &Path) -> Result<BenchTarget> {
    let folder = tempfile::tempdir()?;
    let name = format!("webhook {}", process::version(program, folder.path()).await?);
    let hooks = folder.path().join("hooks.json");
    fs::write(&hooks, hooks_file().to_string())?;
    let port = process::free_port()?;
    let mut command = process::isolated_command(program, folder.path());
    command.args(["-ip", "127.0.0.1", "-port", &port.to_string(), "-hooks"]).arg(&hooks);
    let process = PeerProcess::start(&mut command, folder)?;
    let characteristics = Characteristics {
        authentication: "HMAC of the body",
        durability: "nothing",
        execution: "/bin/true, after the response",
    };
    let (address, requests) = (format!("127.0.0.1:{port}"), signed_calls("/hooks/bench", None));
    Ok(BenchTarget::new(name, address, &requests, HUB_SIGNATURE, characteristics, TargetKind::Peer(process)))
}

fn hooks_file() -> Value {
    let signature_rule = json!({
        "type": "payload-hmac-sha256",
        "secret": SECRET,
        "parameter": {"source": "header", "name": HUB_SIGNATURE.as_str()},
    });
    json!([{
        "id": "bench",
        "execute-command": "/bin/true",
        "http-methods": ["POST"],
        "success-http-response-code": 202,
        "trigger-rule": {"match": signature_rule},
        // By default a rejected call gets 200.
        "trigger-rule-mismatch-http-response-code": 403,
    }])
}
