//! Checks the requests and JSON in the pages of `docs/` against the description: methods and paths, names in the query,
//! bodies and responses. An ellipsis stands for what a page leaves out.

use std::path::PathBuf;

use super::*;

/// The schema of each JSON block in the pages, in order; `None` if no operation has such a body or response.
const JSON_BLOCKS: [(&str, Option<&str>); 37] = [
    ("agent-tools.md", Some("PublishAgentTool")),
    ("agent-tools.md", Some("AgentTool")),
    ("agent-tools.md", Some("AgentToolRun")),
    ("api-conventions.md", Some("ErrorEnvelope")),
    ("apps.md", Some("Manifest")),
    ("apps.md", Some("DraftInvocation")),
    ("apps.md", Some("DraftRun")),
    ("apps.md", Some("Gate")),
    ("apps.md", Some("Permissions")),
    ("backend-data.md", Some("ChangeColumn")),
    ("backend-data.md", Some("NewIndex")),
    ("backend-data.md", Some("DataErrorEnvelope")),
    ("changes.md", Some("Instruction")),
    ("changes.md", Some("ChangePlan")),
    ("changes.md", Some("OpenChangeList")),
    ("connections.md", Some("DescribeHttpConnection")),
    ("connections.md", Some("Connection")),
    ("connections.md", Some("NewAuthorization")),
    ("connections.md", Some("StartedAuthorization")),
    ("imports.md", Some("ImportSource")),
    ("imports.md", Some("AnalyzedImport")),
    ("imports.md", Some("NewImport")),
    ("imports.md", Some("EnableImport")),
    ("notifications.md", Some("Notifications")),
    ("notifications.md", Some("UpdateNotificationSettings")),
    ("notifications.md", Some("NotificationSettings")),
    ("overview.md", Some("Overview")),
    ("overview.md", Some("SearchResults")),
    ("runs.md", Some("RunHistogram")),
    ("runs.md", Some("LatestRunsList")),
    // The event that an app receives when a run has ended.
    ("runs.md", None),
    ("secrets.md", Some("Manifest")),
    ("secrets.md", Some("NewAppSecret")),
    ("secrets.md", Some("AppSecret")),
    ("templates.md", Some("NewApp")),
    ("templates.md", Some("MadeApp")),
    ("versions.md", Some("RolledBack")),
];

const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/// Returns names and texts of the pages, sorted by name.
fn read_pages() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let mut files: Vec<PathBuf> =
        files.filter(|file| file.extension().is_some_and(|it| it == "md")).collect();
    files.sort();
    let name = |file: &Path| file.file_name().unwrap().to_string_lossy().into_owned();
    files.iter().map(|file| (name(file), std::fs::read_to_string(file).unwrap())).collect()
}

/// Returns the code blocks of a page, each with the language after its fence.
fn code_blocks(page: &str) -> impl Iterator<Item = (&str, &str)> {
    let fenced = page.split("\n```").skip(1).step_by(2);
    fenced.map(|block| block.split_once('\n').unwrap_or((block, "")))
}

/// Replaces the ellipses of ids and times with values that schemas allow.
fn fill_ellipses(value: Value) -> Value {
    match value {
        Value::String(text) => match text.strip_suffix("_…") {
            Some(prefix) => format!("{prefix}_01h455vb4pex5vsknk084sn02q").into(),
            None => text.into(),
        },
        Value::Array(items) => items.into_iter().map(fill_ellipses).collect(),
        Value::Object(members) => {
            let time = |name: &str, value: &Value| value == "…" && (name == "at" || name.ends_with("At"));
            let member = |(name, value): (String, Value)| match time(&name, &value) {
                true => (name, json!("2026-01-01T00:00:00Z")),
                false => (name, fill_ellipses(value)),
            };
            members.into_iter().map(member).collect()
        }
        other => other,
    }
}

/// Parses the JSON at the start of a text. A bare ellipsis stands for any value, `{…}` and `[…]` for any content.
fn parse_leading_json(text: &str) -> Result<Value> {
    let text = text.replace("{…}", "{}").replace("[…]", "[\"…\"]").replace(": …", ": null");
    let value = serde_json::Deserializer::from_str(&text).into_iter::<Value>().next();
    Ok(fill_ellipses(value.context("no JSON")?.with_context(|| text.clone())?))
}

/// Returns the methods and paths below `/v1` in a text, each with the rest of its line and the next line.
fn find_requests(text: &str) -> Vec<(&str, &str, &str, &str)> {
    let mut found = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let next = lines.peek().copied().unwrap_or_default();
        for method in METHODS {
            for (at, _) in line.match_indices(method) {
                let starts_span = at == 0 || line[..at].ends_with('`');
                let rest = line[at + method.len()..].trim_start_matches(' ');
                let end = rest.find([' ', '`']).unwrap_or(rest.len());
                let (path, behind) = rest.split_at(end);
                if starts_span && (path.starts_with("/v1/") || path.starts_with("…/")) {
                    found.push((method, path, behind.trim_start(), next));
                }
            }
        }
    }
    found
}

/// Returns the JSON pointer to the operation of a method and a path. A path that begins with an ellipsis matches the
/// end of a described path.
fn find_operation(description: &ApiDescription, method: &str, path: &str) -> Option<String> {
    let (path, is_suffix) = path.strip_prefix('…').map_or((path, false), |rest| (rest, true));
    let method = method.to_lowercase();
    let matches = |template: &&String| {
        let (named, described): (Vec<_>, Vec<_>) =
            (path.rsplit('/').collect(), template.rsplit('/').collect());
        let named = if is_suffix { &named[..named.len() - 1] } else { &named[..] };
        let is_match = |(named, described): (&&str, &&str)| described.starts_with('{') || named == described;
        (named.len() == described.len() || is_suffix && named.len() < described.len())
            && named.iter().zip(&described).all(is_match)
            // A parameter matches any segment, so at least one segment must match literally.
            && named.iter().zip(&described).any(|(named, described)| named == described)
            && description.document["paths"][template.as_str()].get(&method).is_some()
    };
    let template = description.paths.iter().find(matches)?;
    Some(format!("/paths/{}/{method}", escape_pointer_token(template)))
}

/// Checks one request that a page shows.
fn check_request_example(
    description: &ApiDescription,
    named: (&str, &str, &str, &str),
    in_block: bool,
) -> Result<()> {
    let (method, path, behind, next) = named;
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let at = find_operation(description, method, path).context("no such operation is described")?;
    let described = description.document.pointer(&at).context("the operation is described")?;
    let parameters = described["parameters"].as_array().into_iter().flatten();
    let names: Vec<&Value> =
        parameters.filter(|it| it["in"] == "query").map(|parameter| &parameter["name"]).collect();
    for (name, _) in url::form_urlencoded::parse(query.as_bytes()) {
        ensure!(names.iter().any(|known| **known == *name), "{name:?} is not a described parameter");
    }
    let content = "content/application~1json/schema";
    if in_block && method != "GET" && behind.starts_with('{') {
        description.validate(&format!("{at}/requestBody/{content}"), &parse_leading_json(behind)?)?;
    }
    if in_block && method == "GET" && next.starts_with('{') {
        description.validate(&format!("{at}/responses/200/{content}"), &parse_leading_json(next)?)?;
    }
    Ok(())
}

#[test]
fn requests_in_pages_are_described() {
    let description = DESCRIPTION.as_ref().unwrap();
    let (mut checked, mut found) = (0, Vec::new());
    for (name, page) in read_pages() {
        let blocks: String = code_blocks(&page)
            // Other tests run these blocks.
            .filter(|(kind, _)| !matches!(*kind, "http" | "sh"))
            .flat_map(|(_, block)| [block, "\n\n"])
            .collect();
        let spans: String = page.split('`').map(|part| format!("`{part}\n")).collect();
        for (text, in_block) in [(blocks.as_str(), true), (spans.as_str(), false)] {
            for named in find_requests(text) {
                checked += 1;
                if let Err(difference) = check_request_example(description, named, in_block) {
                    found.push(format!("{name}: {} {}: {difference:#}", named.0, named.1));
                }
            }
        }
    }
    assert!(
        found.is_empty(),
        "{} of {checked} requests differ from the description:\n{}",
        found.len(),
        found.join("\n")
    );
    assert!(checked > 50, "only {checked} requests were checked");
}

#[test]
fn json_in_pages_conforms_to_its_schema() {
    let description = DESCRIPTION.as_ref().unwrap();
    let pages = read_pages();
    let json =
        pages.iter().flat_map(|(name, page)| code_blocks(page).map(move |block| (name.as_str(), block)));
    let json: Vec<(&str, &str)> =
        json.filter(|(_, (kind, _))| *kind == "json").map(|(name, (_, block))| (name, block)).collect();
    let names: Vec<&str> = json.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, JSON_BLOCKS.map(|(name, _)| name), "JSON_BLOCKS does not list the blocks of the pages");
    for ((name, block), (_, schema)) in json.into_iter().zip(JSON_BLOCKS) {
        let value: Value =
            serde_json::from_str(block).unwrap_or_else(|error| panic!("{name}: {error}: {block}"));
        let Some(schema) = schema else { continue };
        let result = description.validate(&format!("/components/schemas/{schema}"), &fill_ellipses(value));
        result.unwrap_or_else(|error| panic!("{name}: {error:#}: {block}"));
    }
}

#[test]
fn requests_are_found_in_blocks_and_spans() {
    let text =
        "GET  /v1/a?b=1   {\"c\": …} and more\n{\"d\": 1}\nsee `POST …/e`, POST /v1/no and `GETS /v1/no`";
    let found = find_requests(text);
    assert_eq!(found[0], ("GET", "/v1/a?b=1", "{\"c\": …} and more", "{\"d\": 1}"));
    assert_eq!((found.len(), found[1].0, found[1].1), (2, "POST", "…/e"));
    assert_eq!(parse_leading_json(found[0].2).unwrap(), json!({"c": null}));
    assert_eq!(fill_ellipses(json!({"id": "ws_…", "at": "…"}))["at"], "2026-01-01T00:00:00Z");
}
