//! The examples of `docs/backend-data.md`, sent in order: the responses must be as shown.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use http::{HeaderName, Method};
use serde_json::{Value, json};
use tests::BackendProject;

/// A request of the page with its response.
struct Example {
    method: Method,
    path: String,
    prefer: Option<String>,
    body: String,
    status: u16,
    expected_body: String,
}

fn read_examples() -> Result<Vec<Example>> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/backend-data.md");
    let page = std::fs::read_to_string(page)?;
    let blocks = page.split("```http\n").skip(1).filter_map(|rest| rest.split_once("\n```"));
    blocks.map(|(block, _)| parse_example(block).with_context(|| block.to_owned())).collect()
}

fn parse_example(block: &str) -> Result<Example> {
    let (request, response) = block.split_once("→ ").context("no response")?;
    let (first, body) = request.split_once('\n').context("no request")?;
    let (method, path) = first.split_once(' ').context("no path")?;
    let (status, response) = response.split_once(' ').unwrap_or((response, ""));
    let (prefer, body) = match body.split_once('\n') {
        Some((line, body)) if line.starts_with("Prefer: ") => (line.strip_prefix("Prefer: "), body),
        _ => (None, body),
    };
    let path = path.strip_prefix("/rest/").context("not a path of the data API")?;
    Ok(Example {
        method: method.parse()?,
        // A client would percent-encode these.
        path: path.replace('>', "%3E").replace('^', "%5E").replace('|', "%7C"),
        prefer: prefer.map(str::to_owned),
        body: body.trim().to_owned(),
        status: status.trim().parse()?,
        expected_body: response.trim().to_owned(),
    })
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn the_examples_of_the_page_work(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?;
        let project = BackendProject::create(&owner, &workspace.id).await?;
        let columns = [("name", "text"), ("price", "real"), ("stock", "integer"), ("meta", "json")];
        project.create_table("products", &columns).await?;
        let unit = json!({"name": "unit", "type": "text", "default": "piece"});
        owner.post(&project.console_path("/tables/products/columns"), &unit).await?.ok()?;
        let unique = json!({"columns": ["name"], "unique": true});
        owner.post(&project.console_path("/tables/products/indexes"), &unique).await?.ok()?;
        let key = project.create_key("secret").await?;
        let client = server.client();
        let examples = read_examples()?;
        ensure!(examples.len() >= 11, "the page has too few examples");
        for example in examples {
            let Example { method, path, prefer, body, status, expected_body } = example;
            let mut request = project.rest_request(&client, (&key, None), method.clone(), &path)?;
            if let Some(prefer) = prefer {
                request = request.header(HeaderName::from_static("prefer"), &prefer)?;
            }
            if !body.is_empty() {
                request = request.body("application/json", body)?;
            }
            let reply = request.send().await?;
            reply.assert_status(status);
            if !expected_body.is_empty() {
                let wanted: Value = serde_json::from_str(&expected_body)?;
                assert_eq!(reply.json::<Value>()?, wanted, "{method} {path}");
            }
        }
        Ok(())
    }
}
