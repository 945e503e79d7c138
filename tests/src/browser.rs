//! A real browser: headless Chromium, driven over WebDriver (W3C). Needs the packages `chromium` and
//! `chromium-driver`.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::spawn_blocking;

use crate::{Client, eventually};

/// The web element identifier of WebDriver.
const ELEMENT_KEY: &str = "element-6066-11e4-a52e-4f735466cecf";

/// Line with which the driver ends if a port is taken.
const PORT_TAKEN: &str = "port not available";
/// Ports that the driver tries.
const PORT_ATTEMPTS: usize = 5;

/// A browser with a fresh profile. Dropping it ends the process.
#[derive(Debug)]
pub struct Browser {
    driver: Child,
    http: Client,
    session: String,
    _profile: TempDir,
}

impl Browser {
    pub async fn start() -> Result<Self> {
        Self::launch(true).await
    }

    /// Starts Chromium with JavaScript turned off.
    pub async fn start_without_javascript() -> Result<Self> {
        Self::launch(false).await
    }

    async fn launch(javascript: bool) -> Result<Self> {
        let profile = TempDir::new()?;
        let (driver, port) = start_driver(&profile).await?;
        let http = Client::new(format!("http://127.0.0.1:{port}"));
        let mut browser = Self { driver, http, session: String::new(), _profile: profile };
        let folder = format!("--user-data-dir={}", browser._profile.path().join("profile").display());
        let args = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-dev-shm-usage",
            &folder,
        ];
        let javascript_setting = if javascript { 1 } else { 2 };
        let capabilities = json!({"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": {
                "args": args,
                "prefs": {"profile.managed_default_content_settings.javascript": javascript_setting},
            },
            "goog:loggingPrefs": {"browser": "ALL"},
        }}});
        let response = browser.http.post("/session", &capabilities).await?;
        browser.session = response.string_at("/value/sessionId").context("is chromium installed?")?;
        Ok(browser)
    }

    async fn post(&self, path: &str, body: &Value) -> Result<Value> {
        let reply = self.http.post(&format!("/session/{}{path}", self.session), body).await?;
        Ok(reply.ok()?["value"].clone())
    }

    /// Opens a URL, as if it were typed into the address bar.
    pub async fn navigate_to(&self, address: &str) -> Result<()> {
        self.post("/url", &json!({"url": address})).await?;
        Ok(())
    }

    /// Waits for the first element that matches a CSS selector, and types into it.
    pub async fn type_into(&self, selector: &str, text: &str) -> Result<()> {
        let element = self.find_element(selector).await?;
        self.post(&format!("/element/{element}/value"), &json!({"text": text})).await?;
        Ok(())
    }

    /// Waits for the first element that matches a CSS selector, and clicks it.
    pub async fn click(&self, selector: &str) -> Result<()> {
        let element = self.find_element(selector).await?;
        self.post(&format!("/element/{element}/click"), &json!({})).await?;
        Ok(())
    }

    /// Clicks an element that leads to another page, such as a form's button, and waits for that page.
    ///
    /// A click alone returns before the form is sent: what is read next may come from the old page, and opening a URL
    /// next would cancel the form.
    pub async fn submit(&self, selector: &str) -> Result<()> {
        let page = self.find_element(":root").await?;
        self.click(selector).await?;
        eventually("the next page loads", async || {
            ensure!(self.find_element(":root").await? != page, "the page is still the previous one");
            Ok(())
        })
        .await
    }

    /// Waits for the first element that matches a CSS selector, and returns its rendered text.
    pub async fn element_text(&self, selector: &str) -> Result<String> {
        let element = self.find_element(selector).await?;
        let reply = self.http.get(&format!("/session/{}/element/{element}/text", self.session)).await?;
        reply.string_at("/value")
    }

    pub async fn current_url(&self) -> Result<String> {
        self.http.get(&format!("/session/{}/url", self.session)).await?.string_at("/value")
    }

    pub async fn title(&self) -> Result<String> {
        self.http.get(&format!("/session/{}/title", self.session)).await?.string_at("/value")
    }

    /// Returns the console's warnings and errors since the last call, such as violations of the content security
    /// policy.
    pub async fn console_errors(&self) -> Result<Vec<String>> {
        let entries = self.post("/se/log", &json!({"type": "browser"})).await?;
        let entries = entries.as_array().context("the log is no list")?;
        let messages =
            entries.iter().filter(|entry| matches!(entry["level"].as_str(), Some("SEVERE" | "WARNING")));
        Ok(messages.filter_map(|entry| entry["message"].as_str().map(str::to_owned)).collect())
    }

    async fn find_element(&self, selector: &str) -> Result<String> {
        eventually(&format!("the page shows {selector}"), async || {
            let found = self.post("/element", &json!({"using": "css selector", "value": selector})).await?;
            found[ELEMENT_KEY].as_str().map(str::to_owned).context("no element")
        })
        .await
    }

    /// Runs a script on the page and returns its result.
    pub async fn execute_script(&self, script: &str) -> Result<Value> {
        self.post("/execute/sync", &json!({"script": script, "args": []})).await
    }

    /// Sets a cookie, `name=value`, for the page's host.
    pub async fn set_cookie(&self, cookie: &str) -> Result<()> {
        let (name, value) = cookie.split_once('=').context("the cookie is not `name=value`")?;
        self.post("/cookie", &json!({"cookie": {"name": name, "value": value, "path": "/"}})).await?;
        Ok(())
    }

    /// Ends the session, so that the browser quits cleanly.
    pub async fn close(self) -> Result<()> {
        self.http.delete(&format!("/session/{}", self.session)).await?.ok()?;
        Ok(())
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Chromium ends with its driver.
        let _killed = self.driver.kill();
        let _ended = self.driver.wait();
    }
}

/// Starts a driver, and returns it with its port. The driver takes a free port of IPv4 and then the same one of IPv6, which
/// another program may have taken meanwhile.
async fn start_driver(profile: &TempDir) -> Result<(Child, String)> {
    for _ in 0..PORT_ATTEMPTS {
        let mut command = Command::new("chromedriver");
        command.arg("--port=0").env("TMPDIR", profile.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut driver = command
            .spawn()
            .context("chromedriver is needed: install the packages chromium and chromium-driver")?;
        let output = driver.stdout.take().context("chromedriver has no standard output")?;
        let printed = spawn_blocking(move || read_port(BufReader::new(output))).await??;
        match printed {
            DriverStart::Listens(port) => return Ok((driver, port)),
            DriverStart::Ended(printed) => {
                driver.wait()?;
                ensure!(printed.contains(PORT_TAKEN), "chromedriver ended before it listened:\n{printed}");
            }
        }
    }
    bail!("chromedriver found no free port in {PORT_ATTEMPTS} attempts")
}

#[derive(Debug, PartialEq)]
enum DriverStart {
    /// On this port.
    Listens(String),
    /// After it has printed this.
    Ended(String),
}

fn read_port(output: impl BufRead) -> Result<DriverStart> {
    let mut printed = String::new();
    for line in output.lines() {
        let line = line?;
        if let Some((_, port)) = line.split_once("started successfully on port ") {
            return Ok(DriverStart::Listens(port.trim_end_matches('.').to_owned()));
        }
        printed.push_str(&line);
        printed.push('\n');
    }
    Ok(DriverStart::Ended(printed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_says_where_it_listens_or_why_it_ended() {
        let listens = "Starting ChromeDriver 1\nChromeDriver was started successfully on port 4321.\n";
        assert_eq!(read_port(listens.as_bytes()).unwrap(), DriverStart::Listens("4321".to_owned()));
        let ended = "Starting ChromeDriver 1\nIPv6 port not available. Exiting...\n";
        assert_eq!(read_port(ended.as_bytes()).unwrap(), DriverStart::Ended(ended.to_owned()));
    }
}
