//! Node-RED, with a flow that checks the signature in a function and then responds.

use std::{fs, path::Path};

use anyhow::Result;
use serde_json::{Value, json};

use super::{
    BenchTarget, Characteristics, HUB_SIGNATURE, SECRET, TargetKind,
    process::{self, PeerProcess},
    signed_calls,
};

/// Settings that turn off the editor, the admin API and traffic to other hosts.
const SETTINGS: &str = "\
module.exports = {
    flowFile: 'flows.json',
    credentialSecret: false,
    httpAdminRoot: false,
    disableEditor: true,
    functionExternalModules: true,
    telemetry: { enabled: false, updateNotification: false },
    logging: { console: { level: 'warn', metrics: false, audit: false } },
};
";

pub(super) async fn start(program: &Path) -> Result<BenchTarget> {
    let folder = tempfile::tempdir()?;
    let name = format!("Node-RED {}", process::version(program, folder.path()).await?);
    fs::write(folder.path().join("settings.js"), SETTINGS)?;
    fs::write(folder.path().join("flows.json"), flow().to_string())?;
    let port = process::free_port()?;
    let mut command = process::isolated_command(program, folder.path());
    command.arg("--userDir").arg(folder.path()).arg("--settings").arg(folder.path().join("settings.js"));
    command.args(["--port", &port.to_string(), "-D", "uiHost=127.0.0.1"]);
    let process = PeerProcess::start(&mut command, folder)?;
    let characteristics = Characteristics {
        authentication: "HMAC of the body",
        durability: "nothing, but it ran",
        execution: "JavaScript, before the response",
    };
    let (address, requests) = (format!("127.0.0.1:{port}"), signed_calls("/bench", None));
    Ok(BenchTarget::new(name, address, &requests, HUB_SIGNATURE, characteristics, TargetKind::Peer(process)))
}

/// Returns the flow. `http in` passes the raw bytes on, because the signature is over them.
fn flow() -> Value {
    let check = format!(
        "const received = Buffer.from(msg.req.get('{HUB_SIGNATURE}') || '');\n\
         const mac = crypto.createHmac('sha256', '{SECRET}').update(msg.payload).digest('hex');\n\
         const expected = Buffer.from('sha256=' + mac);\n\
         const signed = received.length === expected.length && crypto.timingSafeEqual(received, expected);\n\
         msg.statusCode = signed ? 202 : 403;\n\
         msg.payload = signed ? {{ order: JSON.parse(msg.payload).order }} : {{}};\n\
         return msg;"
    );
    json!([
        {"id": "tab", "type": "tab", "label": "Bench"},
        {"id": "in", "type": "http in", "z": "tab", "url": "/bench", "method": "post", "skipBodyParsing": true,
            "wires": [["check"]]},
        {"id": "check", "type": "function", "z": "tab", "func": check, "outputs": 1,
            "libs": [{"var": "crypto", "module": "crypto"}], "wires": [["out"]]},
        {"id": "out", "type": "http response", "z": "tab", "wires": []},
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wire_leads_to_a_node_of_the_flow() {
        let flow = flow();
        let nodes = flow.as_array().unwrap();
        let mut wires = 0;
        for wire in nodes
            .iter()
            .filter_map(|node| node["wires"].as_array())
            .flatten()
            .flat_map(|ends| ends.as_array().unwrap())
        {
            assert!(nodes.iter().any(|node| node["id"] == *wire), "{wire}");
            wires += 1;
        }
        assert_eq!(wires, 2);
    }
}
