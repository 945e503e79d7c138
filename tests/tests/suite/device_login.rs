//! The device login with the shell script of `docs/sign-in.md`, which needs only `curl`, and with the page in a real
//! browser.

use std::process::Stdio;

use anyhow::{Context as _, Result};
use tests::Browser;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::Command,
};

/// Returns the first `sh` block of the page.
fn documented_script() -> Result<&'static str> {
    let page = include_str!("../../../docs/sign-in.md");
    let (_, rest) = page.split_once("```sh\n").context("no script in docs/sign-in.md")?;
    Ok(rest.split_once("```").context("the script does not end")?.0)
}

tests::on_both! {
    async fn a_shell_script_is_signed_in_by_a_browser(server: Server) -> Result<()> {
        let email = "aigerim@example.test";
        let person = server.sign_in(email).await?;
        let workspace = person.create_workspace("Tulpar").await?;

        let mut shell = Command::new("bash");
        shell.args(["-euo", "pipefail", "-c", documented_script()?]).env("URL", server.base_url());
        shell.stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut shell = shell.spawn().context("bash is required")?;
        let mut lines = BufReader::new(shell.stdout.take().context("no standard output")?).lines();
        let line = lines.next_line().await?.context("the script printed no URL")?;
        let address = line.split_whitespace().find(|word| word.starts_with("http")).context(line.clone())?;
        let code = address.split_once("user_code=").context("no code")?.1;

        let browser = Browser::start_without_javascript().await?;
        browser.navigate_to(address).await?;
        // The person has to sign in first, and is sent back to the page.
        browser.type_into("form[action='/sign-in/start'] input[type=email]", email).await?;
        browser.submit("button[formaction='/sign-in/dev']").await?;
        assert_eq!(browser.element_text("#user-code").await?, code);
        assert_eq!(browser.element_text("#client").await?, "shell");
        assert_eq!(browser.element_text("#address").await?, "127.0.0.1");
        browser.submit("#approve").await?;
        assert_eq!(browser.element_text("#outcome").await?, "shell is connected. You can close this page.");
        browser.close().await?;

        let token = lines.next_line().await?.context("the script printed no token")?;
        assert!(shell.wait().await?.success());
        let own = server.client().with_bearer(&token).get("/v1/tokens/self").await?.ok()?;
        assert_eq!((&own["user"]["email"], &own["workspace"]["id"]), (&email.into(), &workspace.id.into()));
        Ok(())
    }
}
