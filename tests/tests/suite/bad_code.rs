//! Apps that throw, loop, exhaust memory or flood the log: each run ends with its own reason, and the server keeps
//! working.

use anyhow::{Context as _, Result};
use http::header;
use serde_json::{Value, json};

/// Bodies of a handler that throw values other than errors, with the message of the run.
const NON_ERROR_THROWS: [(&str, &str); 7] = [
    ("throw undefined", "undefined"),
    ("throw null", "null"),
    ("throw 'only text'", "only text"),
    ("throw 42", "42"),
    ("throw { get message() { throw 1 }, get code() { throw 2 }, toString() { throw 3 } }", ""),
    ("throw Object.defineProperty(new Error('x'), 'stack', { get() { throw 1 } })", ""),
    ("throw new Proxy({}, { get() { throw 1 }, ownKeys() { throw 2 }, getPrototypeOf() { throw 3 } })", ""),
];

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn a_run_fails_whatever_value_is_thrown(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?;
        for (body, expected) in NON_ERROR_THROWS {
            for body in [body.to_owned(), format!("await Promise.reject((() => {{ try {{ {body} }} catch (e) {{ return e }} }})())")] {
                let source = format!("export default {{ async scheduled() {{ {body} }} }}");
                let (_, run) = owner.create_and_run_app(&workspace.id, &source).await?;
                let run = owner.wait_for_run(&run).await?;
                assert_eq!((&run["status"], &run["errorCode"]), (&json!("failed"), &json!("app_error")), "{body}: {run}");
                let message = run["errorMessage"].as_str().unwrap_or_default();
                assert!(!message.is_empty() && message.contains(expected) && message.len() <= 8000, "{body}: {message}");
                let explanation = owner.get(&format!("/v1/runs/{}/ask", run["id"].as_str().unwrap_or_default())).await?.ok()?;
                assert_eq!(explanation["failureClass"], "code_error", "{body}");
            }
        }
        Ok(())
    }

    async fn code_that_exceeds_a_limit_ends_with_its_reason(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?;
        for (body, code) in [
            ("await new Promise(() => {})", "never_settled"),
            ("return { then() {} }", "never_settled"),
            ("return 'x'.repeat(10 * 1024 * 1024)", "output_too_large"),
            ("const all = []; try { for (;;) all.push(new Uint8Array(1 << 20).fill(1)) } catch { for (;;) all.push(1) }", "memory_exceeded"),
            ("let text = 'x'; for (;;) text += text", ""),
        ] {
            let source = format!("export default {{ async scheduled() {{ {body} }} }}");
            let (_, run) = owner.create_and_run_app(&workspace.id, &source).await?;
            let run = owner.wait_for_run(&run).await?;
            assert_eq!(run["status"], "failed", "{body}: {run}");
            assert!(code.is_empty() || run["errorCode"] == code, "{body}: {run}");
            assert!(run["explanation"]["why"].is_string(), "{body}: {run}");
        }
        // A flood of log lines is truncated with a notice, and the run succeeds.
        let flood = "export default { async scheduled() { for (let i = 0; i < 5000; i++) console.log('line ' + i, 'x'.repeat(5000)) } }";
        let (app, run) = owner.create_and_run_app(&workspace.id, flood).await?;
        owner.wait_for_success(&run).await?;
        let trace = owner.get(&format!("/v1/runs/{run}/trace")).await?.ok()?;
        let lines = trace["lines"].as_array().context("no lines")?;
        assert_eq!(lines.len(), 100);
        let last = lines[99]["message"].as_str().unwrap_or_default();
        assert!(last.starts_with("at least 870 more log lines were dropped"), "the last line must report the dropped lines: {last}");
        assert!(lines.iter().all(|line| line["message"].as_str().is_some_and(|text| text.chars().count() <= 2000)));
        let log = owner.app_log(&app, Some(&run)).await?;
        assert_eq!(log.len(), 132, "131 lines of 2,000 characters are 256 KiB, and one line reports the rest");
        Ok(())
    }

    async fn visitors_learn_only_that_the_app_failed(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?;
        let visitor = server.client();
        let mut bodies: Vec<&str> = NON_ERROR_THROWS.iter().map(|(body, _)| *body).collect();
        bodies.extend([
            "await new Promise(() => {})", "return undefined", "return 'no response'", "return { status: 200 }",
            "return new Response('x'.repeat(10 * 1024 * 1024))",
            "const all = []; for (;;) all.push(new Uint8Array(1 << 20).fill(1))",
        ]);
        for body in bodies {
            let source = format!("export default {{ async fetch() {{ {body} }} }}");
            let app = owner.create_app(&workspace.id, &source).await?;
            let slug = owner.get(&format!("/v1/apps/{app}")).await?.string_at("/slug")?;
            let shown = visitor.get(&format!("/a/{slug}/")).await?;
            shown.check_error(500, Some("app_failed")).with_context(|| body.to_owned())?;
            assert!(shown.body.len() < 2000 && shown.header(header::SET_COOKIE.as_str()).is_none(), "{body}");
            let body: Value = shown.json()?;
            assert!(!body.to_string().contains("only text"), "{body}");
        }
        // The server and other apps keep working.
        let fine = owner.create_app(&workspace.id, "export default { async fetch() { return new Response('fine') } }").await?;
        let slug = owner.get(&format!("/v1/apps/{fine}")).await?.string_at("/slug")?;
        assert_eq!(visitor.get(&format!("/a/{slug}/")).await?.assert_status(200).body, "fine");
        Ok(())
    }
}
