//! `webhook` as Debian has it: a rule that looks at the signature, and a command.

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
    let habits = Characteristics {
        authentication: "HMAC of the body",
        durability: "nothing",
        execution: "/bin/true, after the answer",
    };
    let (address, maker) = (format!("127.0.0.1:{port}"), signed_calls("/hooks/bench", None));
    Ok(BenchTarget::new(name, address, &maker, HUB_SIGNATURE, habits, TargetKind::Peer(process)))
}

fn hooks_file() -> Value {
    let signed = json!({
        "type": "payload-hmac-sha256",
        "secret": SECRET,
        "parameter": {"source": "header", "name": HUB_SIGNATURE.as_str()},
    });
    json!([{
        "id": "bench",
        "execute-command": "/bin/true",
        "http-methods": ["POST"],
        "success-http-response-code": 202,
        "trigger-rule": {"match": signed},
        // Otherwise a refusal is answered with 200.
        "trigger-rule-mismatch-http-response-code": 403,
    }])
}
