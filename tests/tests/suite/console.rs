//! The web console in Chromium: what people do in it, on both databases, as each role. The journeys are JavaScript, beside the
//! console's own (`crates/console/web/e2e`), because the library that drives the browser is.

use std::{path::Path, process::Stdio};

use anyhow::{Context as _, Result, bail};
use tests::Server;
use tokio::process::Command;

/// Journeys that run at the same time. Most of their time is the browser's, so more would only make each slower.
const AT_ONCE: &str = "3";

tests::on_both! {
    async fn journeys_work_without_an_error_a_violation_or_a_request_elsewhere(server: Server) -> Result<()> {
        let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/console/web");
        let output = Command::new("node")
            .args(["e2e/run.mjs", "--base", server.base_url(), "--at-once", AT_ONCE])
            .current_dir(web)
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output()
            .await
            .context("the journeys need Node.js")?;
        let text = format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        println!("{text}");
        if !output.status.success() {
            bail!("the journeys ended with {}:\n{text}", output.status);
        }
        Ok(())
    }
}
