//! A real browser without a screen: Chromium, driven over WebDriver (W3C).

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::spawn_blocking;

use crate::{Client, eventually};

/// What WebDriver calls an element.
const ELEMENT_KEY: &str = "element-6066-11e4-a52e-4f735466cecf";

/// One browser with a fresh profile. Dropping it ends it.
#[derive(Debug)]
pub struct Browser {
    driver: Child,
    http: Client,
    session: String,
    _profile: TempDir,
}

impl Browser {
    /// Starts Chromium.
    ///
    /// # Errors
    ///
    /// When `chromedriver` or Chromium is not there: the test that needs them fails.
    pub async fn start() -> Result<Self> {
        Self::launch(true).await
    }

    /// Starts Chromium as for somebody who lets no page run script.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start).
    pub async fn start_without_javascript() -> Result<Self> {
        Self::launch(false).await
    }

    async fn launch(script: bool) -> Result<Self> {
        let profile = TempDir::new()?;
        let mut command = Command::new("chromedriver");
        command.arg("--port=0").env("TMPDIR", profile.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut driver = command
            .spawn()
            .context("chromedriver is needed: install the packages chromium and chromium-driver")?;
        let output = driver.stdout.take().context("chromedriver has a standard output")?;
        let port = spawn_blocking(move || -> Result<String> {
            for line in BufReader::new(output).lines() {
                if let Some((_, port)) = line?.split_once("started successfully on port ") {
                    return Ok(port.trim_end_matches('.').to_owned());
                }
            }
            bail!("chromedriver ended before it listened")
        });
        let http = Client::new(format!("http://127.0.0.1:{}", port.await??));
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
        let allowed = if script { 1 } else { 2 };
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": {
                "args": args,
                "prefs": {"profile.managed_default_content_settings.javascript": allowed},
            },
            "goog:loggingPrefs": {"browser": "ALL"},
        }}});
        let made = browser.http.post("/session", &wanted).await?;
        browser.session = made.string_at("/value/sessionId").context("is chromium installed?")?;
        Ok(browser)
    }

    async fn post(&self, path: &str, body: &Value) -> Result<Value> {
        let reply = self.http.post(&format!("/session/{}{path}", self.session), body).await?;
        Ok(reply.ok()?["value"].clone())
    }

    /// Goes to an address, as if it was typed.
    ///
    /// # Errors
    ///
    /// When the page does not load.
    pub async fn navigate_to(&self, address: &str) -> Result<()> {
        self.post("/url", &json!({"url": address})).await?;
        Ok(())
    }

    /// Types into the one element that a selector finds.
    ///
    /// # Errors
    ///
    /// When there is none after a while.
    pub async fn type_into(&self, selector: &str, text: &str) -> Result<()> {
        let element = self.find_element(selector).await?;
        self.post(&format!("/element/{element}/value"), &json!({"text": text})).await?;
        Ok(())
    }

    /// Clicks the one element that a selector finds.
    ///
    /// # Errors
    ///
    /// When there is none after a while.
    pub async fn click(&self, selector: &str) -> Result<()> {
        let element = self.find_element(selector).await?;
        self.post(&format!("/element/{element}/click"), &json!({})).await?;
        Ok(())
    }

    /// Clicks what leads to another page, such as a form's button, and waits until the browser is there.
    ///
    /// A click alone returns before the form is sent: what is read next may be of the page that is being left, and an
    /// address opened next cancels the form.
    ///
    /// # Errors
    ///
    /// When there is no such element, or no other page after a while.
    pub async fn submit(&self, selector: &str) -> Result<()> {
        let page = self.find_element(":root").await?;
        self.click(selector).await?;
        eventually("the next page comes", async || {
            ensure!(self.find_element(":root").await? != page, "the page is the one before");
            Ok(())
        })
        .await
    }

    /// The text a person reads in the one element that a selector finds.
    ///
    /// # Errors
    ///
    /// When there is none after a while.
    pub async fn element_text(&self, selector: &str) -> Result<String> {
        let element = self.find_element(selector).await?;
        let reply = self.http.get(&format!("/session/{}/element/{element}/text", self.session)).await?;
        reply.string_at("/value")
    }

    /// Where the browser is now.
    ///
    /// # Errors
    ///
    /// When it does not answer.
    pub async fn current_url(&self) -> Result<String> {
        self.http.get(&format!("/session/{}/url", self.session)).await?.string_at("/value")
    }

    /// The page's title.
    ///
    /// # Errors
    ///
    /// When it does not answer.
    pub async fn title(&self) -> Result<String> {
        self.http.get(&format!("/session/{}/title", self.session)).await?.string_at("/value")
    }

    /// What the browser found wrong with pages since this was last asked, such as what their policy forbade them.
    ///
    /// # Errors
    ///
    /// When it does not answer.
    pub async fn console_errors(&self) -> Result<Vec<String>> {
        let entries = self.post("/se/log", &json!({"type": "browser"})).await?;
        let entries = entries.as_array().context("a list of entries")?;
        let wrong =
            entries.iter().filter(|entry| matches!(entry["level"].as_str(), Some("SEVERE" | "WARNING")));
        Ok(wrong.filter_map(|entry| entry["message"].as_str().map(str::to_owned)).collect())
    }

    async fn find_element(&self, selector: &str) -> Result<String> {
        eventually(&format!("the page shows {selector}"), async || {
            let found = self.post("/element", &json!({"using": "css selector", "value": selector})).await?;
            found[ELEMENT_KEY].as_str().map(str::to_owned).context("no element")
        })
        .await
    }

    /// Runs a script on the page; what it returns.
    ///
    /// # Errors
    ///
    /// When it throws.
    pub async fn execute_script(&self, script: &str) -> Result<Value> {
        self.post("/execute/sync", &json!({"script": script, "args": []})).await
    }

    /// Gives the browser a cookie of the page's host, as `name=value`.
    ///
    /// # Errors
    ///
    /// When it does not take it.
    pub async fn set_cookie(&self, cookie: &str) -> Result<()> {
        let (name, value) = cookie.split_once('=').context("a name and a value")?;
        self.post("/cookie", &json!({"cookie": {"name": name, "value": value, "path": "/"}})).await?;
        Ok(())
    }

    /// Ends the browser.
    ///
    /// # Errors
    ///
    /// When it does not answer.
    pub async fn close(self) -> Result<()> {
        self.http.delete(&format!("/session/{}", self.session)).await?.ok()?;
        Ok(())
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Whatever is left of the browser ends with its driver.
        let _killed = self.driver.kill();
        let _ended = self.driver.wait();
    }
}
