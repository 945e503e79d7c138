//! Consent to an agent in a real browser, with JavaScript and without, and the policies that the browser enforces.

use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use tests::{
    Agent, Browser, CODE_CHALLENGE, CODE_VERIFIER, Client, LoopbackListener, Server, TokenPair, encode_form,
    query_parameter,
};

const EMAIL: &str = "aigerim@example.test";

/// A client on the person's machine, with a loopback redirect listener.
struct NativeApp {
    agent: Agent,
    listener: LoopbackListener,
}

impl NativeApp {
    async fn start(visitor: &Client) -> Result<Self> {
        let body = json!({"client_name": "Desk", "redirect_uris": ["http://127.0.0.1/callback"]});
        let agent = visitor.registered_agent(&visitor.post("/oauth/register", &body).await?)?;
        Ok(Self { agent, listener: LoopbackListener::start("<p id=back>Back</p>").await? })
    }

    fn redirect_uri(&self) -> String {
        format!("{}/callback", self.listener.base_url())
    }

    /// Returns the URL that the program opens in the browser.
    fn authorization_url(&self, server: &Server, scope: &str) -> String {
        let query = encode_form(&[
            ("response_type", "code"),
            ("client_id", &self.agent.id),
            ("redirect_uri", &self.redirect_uri()),
            ("code_challenge", CODE_CHALLENGE),
            ("code_challenge_method", "S256"),
            ("state", "a state"),
            ("scope", scope),
        ]);
        format!("{}/oauth/authorize?{query}", server.base_url())
    }

    /// Waits for the redirect and returns one of its parameters.
    async fn redirect_parameter(&mut self, name: &str) -> Result<String> {
        let address = self.listener.next_redirect().await?;
        ensure!(address.starts_with(&self.redirect_uri()), "{address}");
        ensure!(query_parameter(&address, "state")?.as_deref() == Some("a state"), "{address}");
        query_parameter(&address, name)?.with_context(|| format!("no {name}: {address}"))
    }

    async fn exchange(&self, code: &str) -> Result<tests::Reply> {
        let redirect = self.redirect_uri();
        let form = [
            ("grant_type", "authorization_code"),
            ("client_id", &self.agent.id),
            ("code", code),
            ("redirect_uri", &redirect),
            ("code_verifier", CODE_VERIFIER),
        ];
        self.agent.post_token(&form).await
    }
}

async fn sign_in(browser: &Browser) -> Result<()> {
    browser.type_into("form[action='/sign-in/start'] input[type=email]", EMAIL).await?;
    browser.submit("button[formaction='/sign-in/dev']").await
}

/// Checks the flow of one browser: sign-in, consent to less than was requested, then a denial.
async fn check_consent_flow(server: &Server, browser: &Browser) -> Result<()> {
    let person = server.sign_in(EMAIL).await?;
    person.create_workspace("Tulpar").await?;
    let second = person.create_workspace("Second").await?;
    let mut program = NativeApp::start(&server.client()).await?;

    browser.navigate_to(&program.authorization_url(server, "read write")).await?;
    sign_in(browser).await?;
    assert!(browser.element_text("h1").await?.ends_with("to act for you?"));
    let facts = browser.element_text("dl").await?;
    assert!(
        facts.contains("127.0.0.1") && facts.contains(EMAIL) && facts.contains("Not verified"),
        "{facts}"
    );
    assert!(browser.element_text(".alarm").await?.contains("a program on this device"));
    browser.click(&format!("select[name=workspaceId] option[value='{}']", second.id)).await?;
    browser.click("input[name=access][value=read]").await?;
    browser.submit("button[name=decision][value=allow]").await?;
    let code = program.redirect_parameter("code").await?;
    assert_eq!(browser.element_text("#back").await?, "Back");
    let response = program.exchange(&code).await?;
    assert_eq!(response.string_at("/scope")?, "read");
    let bearer = server.client().with_bearer(&TokenPair::from_reply(&response)?.access);
    assert_eq!(bearer.get("/v1/tokens/self").await?.string_at("/workspace/id")?, second.id);

    // The person is signed in now and is asked again, and may deny.
    browser.navigate_to(&program.authorization_url(server, "read")).await?;
    browser.submit("button[name=decision][value=deny]").await?;
    assert_eq!(program.redirect_parameter("error").await?, "access_denied");
    assert_eq!(browser.console_errors().await?, Vec::<String>::new());
    Ok(())
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn a_person_consents_in_a_browser_without_javascript(server: Server) -> Result<()> {
        let browser = Browser::start_without_javascript().await?;
        browser.navigate_to("data:text/html,<title>off</title><script>document.title='on'</script>").await?;
        assert_eq!(browser.title().await?, "off", "JavaScript must be off");
        check_consent_flow(&server, &browser).await?;
        browser.close().await
    }

    async fn an_invalid_request_is_reported_only_after_sign_in(server: Server) -> Result<()> {
        let browser = Browser::start_without_javascript().await?;
        let mut program = NativeApp::start(&server.client()).await?;
        browser.navigate_to(&program.authorization_url(&server, "root")).await?;
        assert!(browser.current_url().await?.contains("/sign-in?next="), "the browser must not be redirected before");
        sign_in(&browser).await?;
        assert_eq!(program.redirect_parameter("error").await?, "invalid_scope");
        assert_eq!(browser.console_errors().await?, Vec::<String>::new());
        browser.close().await
    }

    async fn the_consent_page_cannot_be_framed_by_another_site(server: Server) -> Result<()> {
        let browser = Browser::start_without_javascript().await?;
        let program = NativeApp::start(&server.client()).await?;
        browser.navigate_to(&format!("{}/sign-in", server.base_url())).await?;
        sign_in(&browser).await?;
        // The consent page could be framed, and the person is signed in.
        browser.navigate_to(&program.authorization_url(&server, "read")).await?;
        let consent = browser.current_url().await?;
        assert!(browser.element_text("h1").await?.ends_with("to act for you?"));
        let framing = LoopbackListener::start(&format!("<iframe src='{consent}'></iframe>")).await?;
        browser.navigate_to(framing.base_url()).await?;
        // The browser reports the frame that it did not show after the page around it has loaded.
        let mut complaints = Vec::new();
        tests::eventually("the browser refuses the frame", async || {
            complaints.extend(browser.console_errors().await?);
            let is_refused = complaints.iter().any(|text: &String| text.contains("frame-ancestors 'none'"));
            ensure!(is_refused, "{complaints:?}");
            Ok(())
        })
        .await?;
        browser.close().await
    }
}
