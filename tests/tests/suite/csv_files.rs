//! Files of rows as programs write them, mostly CSV: each is taken whole, or refused with the line and the reason.

use anyhow::{Context as _, Result};
use http::Method;
use serde_json::{Value, json};
use tests::{BackendProject, Client, Reply};

const CSV: &str = "text/csv";
const JSON: &str = "application/json";
const LINES: &str = "application/x-ndjson";

/// The rows that every variant of the file has.
const ROWS: [(&str, i64); 4] =
    [("Tea, green", 1), ("Jam \"red\"", 2), ("two\nlines", 3), ("\u{feff}Aru Әсем", 4)];

/// Returns how a field stands in a file.
fn field(text: &str, quote_all: bool) -> String {
    if quote_all || text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// A file with the rows, in one of the forms in which programs write them.
struct Variant {
    name: String,
    text: String,
    skipped: u64,
}

fn variants() -> Vec<Variant> {
    let mut variants = Vec::new();
    for (end_name, end) in [("lf", "\n"), ("crlf", "\r\n"), ("cr", "\r")] {
        for mark in ["", "\u{feff}"] {
            for quote_all in [false, true] {
                for (tail_name, tail, between, skipped) in [
                    ("no line break at the end", "", "", 0),
                    ("a line break at the end", end, "", 0),
                    ("blank lines at the end", &end.repeat(3) as &str, "", 2),
                    ("blank lines between", end, end, 4),
                    ("lines of separators at the end", &format!("{end},{end},{end}"), "", 2),
                    ("unnamed columns", &format!(",,{end}"), "columns", 0),
                ] {
                    let blank = if between == end { end } else { "" };
                    let extra = if between == "columns" { ",," } else { "" };
                    let mut lines =
                        vec![format!("{},{}{extra}", field("title", quote_all), field("qty", quote_all))];
                    for (title, qty) in ROWS {
                        let (title, qty) = (field(title, quote_all), field(&qty.to_string(), quote_all));
                        lines.push(format!("{blank}{title},{qty}{extra}"));
                    }
                    let tail = if between == "columns" { end } else { tail };
                    variants.push(Variant {
                        name: format!(
                            "{end_name}, mark {}, quotes {quote_all}, {tail_name}",
                            !mark.is_empty()
                        ),
                        text: format!("{mark}{}{tail}", lines.join(end)),
                        skipped,
                    });
                }
            }
        }
    }
    variants
}

async fn import(
    owner: &Client,
    project: &BackendProject,
    body: impl Into<Vec<u8>>,
    query: &str,
) -> Result<Reply> {
    import_as(CSV, owner, project, body, query).await
}

async fn import_as(
    media_type: &str,
    owner: &Client,
    project: &BackendProject,
    body: impl Into<Vec<u8>>,
    query: &str,
) -> Result<Reply> {
    let path = project.console_path(&format!("/tables/items/import{query}"));
    owner.request(Method::POST, &path).body(media_type, body.into())?.send().await
}

async fn read_rows(owner: &Client, project: &BackendProject) -> Result<Vec<(String, i64)>> {
    let found =
        owner.get(&project.console_path("/tables/items/rows?select=title,qty&order=qty")).await?.ok()?;
    let rows = found.as_array().or_else(|| found["rows"].as_array()).context("no rows")?;
    rows.iter()
        .map(|row| {
            let title = row["title"].as_str().context("no title")?.to_owned();
            Ok((title, row["qty"].as_i64().context("no number")?))
        })
        .collect()
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn files_of_many_programs_are_taken_whole(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Shop").await?.id;
        let variants = variants();
        assert!(variants.len() >= 70, "{}", variants.len());
        let project = BackendProject::create(&owner, &workspace).await?;
        for variant in variants {
            project.create_table("items", &[("title", "text"), ("qty", "integer")]).await?;
            let reply = import(&owner, &project, variant.text.clone(), "").await?;
            let report = reply.ok().with_context(|| format!("{}: {:?}", variant.name, variant.text))?;
            let expected = json!({"rows": 4, "imported": 4, "skippedLines": variant.skipped, "ignoredColumns": []});
            assert_eq!(report, expected, "{}: {:?}", variant.name, variant.text);
            let read = read_rows(&owner, &project).await?;
            let expected: Vec<_> = ROWS.iter().map(|(title, qty)| ((*title).to_owned(), *qty)).collect();
            assert_eq!(read, expected, "{}", variant.name);
            let dropped = owner.request(Method::DELETE, &project.console_path("/tables/items"));
            dropped.json(&json!({"confirmName": "items"}))?.send().await?.ok()?;
        }
        Ok(())
    }

    async fn files_in_unusual_forms_are_taken_whole(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Shop").await?.id;
        // Each has the rows (Tea, 1) and (Jam, 2), then the skipped lines and the columns that were left out.
        let files = [
            (
                "JSON with a mark",
                JSON,
                "\u{feff}[{\"title\":\"Tea\",\"qty\":1},{\"title\":\"Jam\",\"qty\":2}]",
                0,
                json!([]),
            ),
            (
                "lines of JSON with a mark",
                LINES,
                "\u{feff}{\"title\":\"Tea\",\"qty\":1}\n{\"title\":\"Jam\",\"qty\":2}\n",
                0,
                json!([]),
            ),
            ("a value without a name", CSV, "title,,qty\nTea,x,1\nJam,,2\n", 0, json!(["column 2"])),
            ("a value behind the names", CSV, "title,qty,\nTea,1\nJam,2,x\n", 0, json!(["column 3"])),
            (
                "a time of creation and a value without a name",
                CSV,
                "title,created_at,,qty\nTea,2020-01-01T00:00:00Z,,1\nJam,,x,2\n",
                0,
                json!(["created_at", "column 3"]),
            ),
            (
                "a time of creation in a later object",
                JSON,
                "[{\"title\":\"Tea\",\"qty\":1},{\"title\":\"Jam\",\"qty\":2,\"created_at\":\"2020-01-01T00:00:00Z\"}]",
                0,
                json!(["created_at"]),
            ),
            ("lines of blanks", CSV, "title,qty\nTea,1\n   \n\t\nJam,2\n ", 3, json!([])),
            ("a line of blanks before the names", CSV, " \r\ntitle,qty\r\nTea,1\r\nJam,2\r\n", 1, json!([])),
            ("rows without trailing separators", CSV, "title,qty,\nTea,1\nJam,2,\n", 0, json!([])),
            ("more trailing separators than names", CSV, "title,qty,,\nTea,1\nJam,2,,,,\n", 0, json!([])),
            ("a mark before a blank line", CSV, "\u{feff}\ntitle,qty\nTea,1\nJam,2\n", 1, json!([])),
        ];
        for (name, media_type, file, skipped, ignored) in files {
            let project = BackendProject::create(&owner, &workspace).await?;
            project.create_table("items", &[("title", "text"), ("qty", "integer")]).await?;
            for (query, imported) in [("?check=true", 0), ("", 2)] {
                let reply = import_as(media_type, &owner, &project, file, query).await?;
                let report = reply.ok().with_context(|| format!("{name}: {file:?}"))?;
                let expected =
                    json!({"rows": 2, "imported": imported, "skippedLines": skipped, "ignoredColumns": ignored});
                assert_eq!(report, expected, "{name}{query}: {file:?}");
            }
            let expected = [("Tea".to_owned(), 1), ("Jam".to_owned(), 2)];
            assert_eq!(read_rows(&owner, &project).await?, expected, "{name}");
        }
        // In a file of one column, blanks may be a value.
        let project = BackendProject::create(&owner, &workspace).await?;
        project.create_table("items", &[("title", "text"), ("qty", "integer")]).await?;
        let report = import(&owner, &project, "title\nTea\n \n\n", "").await?.ok()?;
        assert_eq!(report, json!({"rows": 2, "imported": 2, "skippedLines": 1, "ignoredColumns": []}));
        Ok(())
    }

    async fn other_files_are_refused_with_line_and_reason(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Shop").await?.id;
        let project = BackendProject::create(&owner, &workspace).await?;
        project.create_table("items", &[("title", "text"), ("qty", "integer")]).await?;
        let utf16 = |text: &str, little: bool| -> Vec<u8> {
            let unit = |unit: u16| if little { unit.to_le_bytes() } else { unit.to_be_bytes() };
            std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(unit).collect()
        };
        let files: Vec<(&str, Vec<u8>, &str)> = vec![
            ("nothing", b"".to_vec(), "name the columns"),
            ("a mark only", b"\xef\xbb\xbf".to_vec(), "name the columns"),
            ("blank lines only", b"\n\r\n,,\n".to_vec(), "name the columns"),
            ("semicolons", b"title;qty\nTea;1\n".to_vec(), "separated by `;`"),
            ("semicolons and a mark", b"\xef\xbb\xbftitle;qty\r\nTea;1\r\n".to_vec(), "separated by `;`"),
            ("tabs", b"title\tqty\nTea\t1\n".to_vec(), "separated by tabs"),
            ("bars", b"title|qty\nTea|1\n".to_vec(), "separated by `|`"),
            ("semicolons and quotes", b"\"title\";\"qty\"\n\"Tea\";\"1\"\n".to_vec(), "separated by `;`"),
            ("tabs and quotes", b"\xef\xbb\xbf\"title\"\t\"qty\"\r\n\"Tea\"\t\"1\"\r\n".to_vec(), "separated by tabs"),
            ("bars and quotes", b"\"title\"|\"qty\"\n\"Tea\"|\"1\"\n".to_vec(), "separated by `|`"),
            ("semicolons in a row only", b"title,qty\n\"Tea\";1\n".to_vec(), "follows the closing quote"),
            ("windows-1251", b"title,qty\n\xd7\xe0\xe9,1\n".to_vec(), "UTF-8"),
            ("latin-1", b"title,qty\nCaf\xe9,1\n".to_vec(), "UTF-8"),
            ("UTF-16 LE", utf16("title,qty\nTea,1\n", true), ""),
            ("UTF-16 BE", utf16("title,qty\nTea,1\n", false), ""),
            ("an open quote", b"title,qty\n\"Tea,1\n".to_vec(), "quote is not closed"),
            ("text after a quote", b"title,qty\n\"Tea\"x,1\n".to_vec(), "follows the closing quote"),
            ("too few fields", b"title,qty\nTea\n".to_vec(), "1 fields instead of 2"),
            ("a quoted blank", b"title,qty\nTea,1\n\" \"\n".to_vec(), "1 fields instead of 2"),
            ("too few fields before an unnamed column", b"title,qty,\nTea\n".to_vec(), "1 fields instead of 2"),
            ("too few fields around an unnamed column", b"title,,qty\nTea,1\n".to_vec(), "2 fields instead of 3"),
            ("too many fields", b"title,qty\nTea,1,x\n".to_vec(), "3 fields instead of 2"),
            ("a column twice", b"title,title\nTea,Jam\n".to_vec(), "appears twice"),
            ("an unknown column", b"title,price\nTea,1\n".to_vec(), "price"),
            ("a name with a blank", b"title, qty\nTea,1\n".to_vec(), "qty"),
            ("names in capitals", b"Title,Qty\nTea,1\n".to_vec(), "Title"),
            ("a decimal comma", b"title,qty\nTea,\"1,5\"\n".to_vec(), ""),
            ("a thousands separator", b"title,qty\nTea,1 000\n".to_vec(), ""),
            ("a text as a number", b"title,qty\nTea,many\n".to_vec(), ""),
            ("a number beyond 64 bits", b"title,qty\nTea,9223372036854775808\n".to_vec(), ""),
            ("a blank number", b"title,qty\nTea, \n".to_vec(), ""),
            ("a separator line of a spreadsheet", b"sep=,\ntitle,qty\nTea,1\n".to_vec(), "sep="),
            ("a zero byte", b"title,qty\nT\0a,1\n".to_vec(), ""),
            ("a page of HTML", b"<!DOCTYPE html><html></html>".to_vec(), ""),
            ("JSON", b"[{\"title\":\"Tea\"}]".to_vec(), ""),
        ];
        for (name, file, message) in &files {
            for query in ["?check=true", ""] {
                let reply = import(&owner, &project, file.clone(), query).await?;
                assert_eq!(reply.status.as_u16(), 400, "{name}: {reply}");
                let error = reply.json::<Value>()?["error"].clone();
                let text = format!("{} {}", error["message"], error["hint"]);
                assert!(text.contains(message), "{name}: {text}");
                let is_of_a_row = file.iter().filter(|byte| **byte == b'\n').count() > 1;
                let says_line = text.contains("In line ") || text.contains("name the columns");
                assert!(!is_of_a_row || says_line, "{name} names no line: {text}");
            }
        }
        assert_eq!(read_rows(&owner, &project).await?, [], "nothing of a refused file stays");
        Ok(())
    }

    async fn a_row_that_is_refused_is_named_by_its_position(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Shop").await?.id;
        let project = BackendProject::create(&owner, &workspace).await?;
        project.create_table("items", &[("title", "text"), ("qty", "integer")]).await?;
        import(&owner, &project, "id,title\nold,Tea\n", "").await?.ok()?;
        let open_quote = format!("title,qty\n\nTea,1\n\"{}", "x".repeat(5 << 20));
        let files = [
            (CSV, "title,qty\n\nTea,x\n", 400, "invalid_value", "In line 3."),
            (LINES, "{\"qty\":1}\r\n\r\n{\"qty\":\"x\"}\r\n", 400, "invalid_value", "In line 3."),
            (JSON, "[{\"qty\":1},{\"qty\":\"x\"}]", 400, "invalid_value", "In line 1, row 2."),
            (JSON, "[\n{\"qty\":1},\n{\"qty\":\"x\"}\n]", 400, "invalid_value", "In line 3, row 2."),
            // The database does not say which of the rows of a batch it refused.
            (CSV, "id,title\nnew,Jam\n\nold,Tea\n", 409, "row_exists", "It is among the lines 2 to 4. No row was inserted."),
            (CSV, "id,title\n\nold,Tea\n", 409, "row_exists", "In line 3. No row was inserted."),
            (LINES, "{\"id\":\"new\"}\n{\"id\":\"old\"}\n", 409, "row_exists", "It is among the lines 1 to 2. No row was inserted."),
            (JSON, "[{\"id\":\"new\"},{\"id\":\"old\"}]", 409, "row_exists", "It is among the rows 1 to 2. No row was inserted."),
            (CSV, open_quote.as_str(), 413, "too_large", "In line 4. A quote in it may not be closed."),
        ];
        for (media_type, file, status, code, hint) in files {
            let reply = import_as(media_type, &owner, &project, file, "").await?;
            reply.assert_error(status, code);
            let error = reply.json::<Value>()?["error"].clone();
            assert_eq!(error["hint"], hint, "{}", file.chars().take(100).collect::<String>());
        }
        let rows = owner.get(&project.console_path("/tables/items/rows?select=id")).await?.ok()?;
        let rows = rows.as_array().or_else(|| rows["rows"].as_array()).context("no rows")?;
        assert_eq!(rows, &[json!({"id": "old"})]);
        Ok(())
    }

    async fn what_was_exported_is_imported_again(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Shop").await?.id;
        let project = BackendProject::create(&owner, &workspace).await?;
        project.create_table("items", &[("title", "text"), ("qty", "integer")]).await?;
        import(&owner, &project, "id,title,qty\na,Чай,1\nb,,\n", "").await?.ok()?;
        for (query, mark) in [("?format=csv", false), ("?format=csv&bom=true", true)] {
            let file = owner.get(&project.console_path(&format!("/tables/items/export{query}"))).await?;
            file.assert_status(200);
            assert_eq!(file.body.starts_with(b"\xef\xbb\xbf"), mark, "{query}");
            let again = import(&owner, &project, file.body.to_vec(), "").await?;
            again.assert_error(409, "row_exists");
            let copy = BackendProject::create(&owner, &workspace).await?;
            copy.create_table("items", &[("title", "text"), ("qty", "integer")]).await?;
            let report = import(&owner, &copy, file.body.to_vec(), "").await?.ok()?;
            let expected = json!({"rows": 2, "imported": 2, "skippedLines": 0, "ignoredColumns": ["created_at"]});
            assert_eq!(report, expected, "{query}");
            let ids = owner.get(&copy.console_path("/tables/items/rows?select=id&order=id")).await?.ok()?;
            let ids = ids.as_array().or_else(|| ids["rows"].as_array()).context("no rows")?.clone();
            assert_eq!(ids, [json!({"id": "a"}), json!({"id": "b"})], "ids are kept");
        }
        Ok(())
    }
}
