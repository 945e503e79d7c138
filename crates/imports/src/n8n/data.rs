//! Nodes that change items.

use serde_json::Value;

use super::node::Node;
use crate::{Sentence, javascript, workflow::Translation};

pub(super) fn translate(node: &Node<'_>) -> Option<Translation> {
    Some(match node.kind {
        "set" => set(node),
        "splitOut" => split_out(node, &node.code_or("fieldToSplitOut", "''"), node.text("include")),
        "aggregate" => aggregate(node),
        "limit" => limit(node),
        "sort" => sort(node),
        "removeDuplicates" => remove_duplicates(node),
        "itemLists" => item_lists(node),
        "renameKeys" => rename_keys(node),
        "summarize" => summarize(node),
        "html" | "htmlExtract" => html(node),
        "markdown" => markdown(node),
        "extractFromFile" => extract_from_file(node),
        "convertToFile" => convert_to_file(node),
        "crypto" => crypto(node),
        "moveBinaryData" | "spreadsheetFile" | "editImage" | "compression" | "readWriteFile"
        | "readBinaryFile" | "writeBinaryFile" | "readPDF" => Translation::unsupported(Sentence::Files),
        _ => return None,
    })
}

/// A function of an item that gives the members of the new one.
pub(super) fn each(lines: impl IntoIterator<Item = String>) -> Translation {
    let mut body = vec!["return each(items, (item, index) => {".to_owned()];
    body.extend(lines.into_iter().map(|line| format!("  {line}")));
    body.push("});".to_owned());
    Translation::exact(body)
}

fn set(node: &Node<'_>) -> Translation {
    let mut lines = Vec::new();
    let is_raw = node.text("mode") == Some("raw") || node.text("mode") == Some("json");
    let keeps = if node.version < 3.0 {
        !node.flag("keepOnlySet", false)
    } else if node.version < 3.3 {
        !matches!(node.text("include"), Some("none" | "selected" | "except"))
    } else {
        node.flag("includeOtherFields", false)
    };
    let include = node
        .text("include")
        .filter(|_| node.version >= 3.0 && (node.version < 3.3 || node.flag("includeOtherFields", false)));
    let start = match include {
        Some("selected") => {
            let flat = if node.flag("options.dotNotation", true) { "" } else { ", true" };
            format!("pickLast(item.json, {}{flat})", node.code_or("includeFields", "''"))
        }
        Some("except") => format!("omit(item.json, {})", node.code_or("excludeFields", "''")),
        _ if keeps => "{ ...item.json }".to_owned(),
        _ => "{}".to_owned(),
    };
    if is_raw {
        let raw = node.json_text_code("jsonOutput").unwrap_or_else(|| "{}".to_owned());
        return each([format!("return {{ ...{start}, ...writtenObject({raw}) }};").replace("...{}, ", "")]);
    }
    let dotted = node.flag("options.dotNotation", true);
    let setter = if dotted { "set" } else { "setMember" };
    lines.push(format!("const json = {start};"));
    let mut push = |name: &Value, value: String| {
        lines.push(format!("{setter}(json, {}, {value});", node.value_code(name)));
    };
    let none = Value::Null;
    if let Some(assignments) = node.get("assignments.assignments").and_then(Value::as_array) {
        for assignment in assignments {
            node.expect_members("assignments", assignment, &["id", "name", "type", "value"]);
            let kind = assignment.get("type").and_then(Value::as_str).unwrap_or("string");
            let value = assignment.get("value").unwrap_or(&none);
            push(assignment.get("name").unwrap_or(&none), typed(node, kind, value));
        }
    }
    for field in node.list("fields.values") {
        let kind = field.get("type").and_then(Value::as_str).unwrap_or("stringValue");
        let value = field.get(kind).unwrap_or(&none);
        push(field.get("name").unwrap_or(&none), typed(node, kind.trim_end_matches("Value"), value));
    }
    for kind in ["string", "number", "boolean"] {
        for field in node.list(&format!("values.{kind}")) {
            let value = match field.get("value") {
                Some(value @ Value::String(_)) if kind == "boolean" => {
                    format!("({}) ?? false", node.value_code(value))
                }
                Some(value) => node.value_code(value),
                None => match kind {
                    "string" => "''".to_owned(),
                    "number" => "0".to_owned(),
                    _ => "false".to_owned(),
                },
            };
            // An export leaves the default out.
            let default = Value::from("propertyName");
            push(field.get("name").unwrap_or(&default), value);
        }
    }
    lines.push("return json;".to_owned());
    let translation = each(lines);
    if node.has_option("duplicateItem") {
        translation.partial(Sentence::Option("duplicateItem"))
    } else {
        translation
    }
}

/// Returns the code of a value that n8n converts to a type.
fn typed(node: &Node<'_>, kind: &str, value: &Value) -> String {
    let code = node.value_code(value);
    let is_expression = value.as_str().is_some_and(|text| text.starts_with('='));
    match (kind, value) {
        ("string", Value::String(_)) if !is_expression => code,
        ("number", Value::Number(_)) | ("boolean", Value::Bool(_)) => code,
        ("number", Value::String(text))
            if !is_expression && text.parse::<f64>().is_ok_and(f64::is_finite) =>
        {
            text.trim().to_owned()
        }
        ("string" | "number" | "boolean" | "array" | "object", _) => format!("cast({code}, '{kind}')"),
        _ => code,
    }
}

fn split_out(node: &Node<'_>, field: &str, include: Option<&str>) -> Translation {
    let mut options = Vec::new();
    match include {
        Some("allOtherFields") => options.push("keep: 'all'".to_owned()),
        Some("selectedOtherFields") => {
            options.push(format!("keep: {}", names(node, "fieldsToInclude")));
        }
        _ => {}
    }
    if node.has_option("options.destinationFieldName") {
        options.push(format!("into: {}", node.code("options.destinationFieldName")));
    }
    if node.kind == "itemLists" && node.version < 3.0 {
        options.push("isStrict: true".to_owned());
    }
    let options = if options.is_empty() { String::new() } else { format!(", {{ {} }}", options.join(", ")) };
    Translation::exact_for_all([format!("return [splitOut(items, {field}{options})];")])
}

fn aggregate(node: &Node<'_>) -> Translation {
    let into = node.code_or("destinationFieldName", "'data'");
    if node.text("aggregate") == Some("aggregateAllItemData") {
        let fields = match node.text("include") {
            Some("specifiedFields") => {
                format!(", (json) => pick(json, {})", names(node, "fieldsToInclude"))
            }
            Some("allFieldsExcept") => {
                format!(", (json) => omit(json, {})", names(node, "fieldsToExclude"))
            }
            _ => String::new(),
        };
        return Translation::exact_for_all([format!("return [aggregateAll(items, {into}{fields})];")]);
    }
    let mut fields = Vec::new();
    for field in node.list("fieldsToAggregate.fieldToAggregate") {
        let known = ["fieldToAggregate", "renameField", "outputFieldName"];
        node.expect_members("fieldsToAggregate", field, &known);
        let part =
            |name: &str| field.get(name).map_or_else(|| "''".to_owned(), |value| node.value_code(value));
        let renames = field.get("renameField").and_then(Value::as_bool).unwrap_or(false);
        fields.push(format!(
            "[{}, {}]",
            part("fieldToAggregate"),
            if renames { part("outputFieldName") } else { "null".to_owned() }
        ));
    }
    let mut options = Vec::new();
    for (option, name) in [("options.mergeLists", "mergeLists"), ("options.keepMissing", "keepMissing")] {
        if node.flag(option, false) {
            options.push(format!("{name}: true"));
        }
    }
    let options = if options.is_empty() { String::new() } else { format!(", {{ {} }}", options.join(", ")) };
    Translation::exact_for_all([format!(
        "return [aggregateFields(items, [{}]{options})];",
        fields.join(", ")
    )])
}

fn limit(node: &Node<'_>) -> Translation {
    let most = node.code_or("maxItems", "1");
    let line = if node.text("keep") == Some("lastItems") {
        format!("return [items.slice(-Math.max(0, {most}) || items.length)];")
    } else {
        format!("return [items.slice(0, {most})];")
    };
    Translation::exact_for_all([line])
}

fn sort(node: &Node<'_>) -> Translation {
    match node.text("type").unwrap_or("simple") {
        "random" => Translation::exact(["return [shuffled(items)];"]),
        "simple" => {
            let mut keys = Vec::new();
            for field in node.list("sortFieldsUi.sortField") {
                node.expect_members("sortFieldsUi", field, &["fieldName", "order"]);
                let name =
                    field.get("fieldName").map_or_else(|| "''".to_owned(), |name| node.value_code(name));
                let falls = field.get("order").and_then(Value::as_str) == Some("descending");
                keys.push(format!("[{name}, {falls}]"));
            }
            Translation::exact_for_all([format!("return [sorted(items, [{}])];", keys.join(", "))])
        }
        _ => Translation::unsupported(Sentence::Option("type")),
    }
}

fn remove_duplicates(node: &Node<'_>) -> Translation {
    if !matches!(node.text("operation"), None | Some("removeDuplicateInputItems" | "removeDuplicates")) {
        return Translation::unsupported(Sentence::Context);
    }
    let fields = match node.text("compare") {
        Some("selectedFields") => Some(format!("fields: {}", names(node, "fieldsToCompare"))),
        Some("allFieldsExcept") => Some(format!("except: {}", names(node, "fieldsToExclude"))),
        _ => None,
    };
    let skips_null = (node.version > 1.0).then(|| "skipsNull: true".to_owned());
    let options: Vec<String> = fields.into_iter().chain(skips_null).collect();
    let options = if options.is_empty() { String::new() } else { format!(", {{ {} }}", options.join(", ")) };
    Translation::exact_for_all([format!("return [withoutDuplicates(items{options})];")])
}

/// Returns names of fields, which older versions have as a list of objects.
fn names(node: &Node<'_>, path: &str) -> String {
    match node.get(path) {
        Some(Value::Object(members)) => {
            let fields = members.get("fields").and_then(Value::as_array).into_iter().flatten();
            let names: Vec<&str> = fields.filter_map(|field| field.get("fieldName")?.as_str()).collect();
            javascript::string(&names.join(","))
        }
        Some(value) => node.value_code(value),
        None => "''".to_owned(),
    }
}

/// The older node that had several of the others in one.
fn item_lists(node: &Node<'_>) -> Translation {
    match node.text("operation").unwrap_or("splitOutItems") {
        "splitOutItems" => split_out(node, &node.code_or("fieldToSplitOut", "''"), node.text("include")),
        "limit" => limit(node),
        "sort" => sort(node),
        "removeDuplicates" => remove_duplicates(node),
        "aggregateItems" | "concatenateItems" => aggregate(node),
        "summarize" => summarize(node),
        _ => Translation::unsupported(Sentence::Option("operation")),
    }
}

fn rename_keys(node: &Node<'_>) -> Translation {
    let mut lines = vec!["const json = { ...item.json };".to_owned()];
    for key in node.list("keys.key") {
        node.expect_members("keys", key, &["currentKey", "newKey"]);
        let part = |name: &str| key.get(name).map_or_else(|| "''".to_owned(), |value| node.value_code(value));
        lines.push(format!("rename(json, {}, {});", part("currentKey"), part("newKey")));
    }
    lines.push("return json;".to_owned());
    let translation = each(lines);
    if node.has_option("additionalOptions.regexReplacement.replacements") {
        translation.partial(Sentence::Option("regexReplacement"))
    } else {
        translation
    }
}

fn summarize(node: &Node<'_>) -> Translation {
    let mut fields = Vec::new();
    for field in node.list("fieldsToSummarize.values") {
        let known = ["field", "aggregation", "customSeparator", "separateBy"];
        node.expect_members("fieldsToSummarize", field, &known);
        let text = |name: &str, default: &str| {
            field.get(name).map_or_else(|| default.to_owned(), |value| node.value_code(value))
        };
        let chosen = field.get("separateBy").filter(|chosen| chosen.as_str() != Some("other"));
        let separator = chosen.or_else(|| field.get("customSeparator"));
        let separator = separator.map_or_else(|| "','".to_owned(), |value| node.value_code(value));
        fields.push(format!("[{}, {}, {separator}]", text("field", "''"), text("aggregation", "'count'")));
    }
    let options = if node.version > 1.0 { "" } else { ", { isText: true }" };
    Translation::exact_for_all([format!(
        "return [summarized(items, [{}], {}{options})];",
        fields.join(", "),
        node.code_or("fieldsToSplitBy", "''")
    )])
}

fn html(node: &Node<'_>) -> Translation {
    match node.text("operation") {
        Some("extractHtmlContent") => extract_html(node),
        None if node.kind == "htmlExtract" => extract_html(node),
        None | Some("generateHtmlTemplate") => {
            each([format!("return {{ html: text({}) }};", template(node))]).partial(Sentence::Option("html"))
        }
        _ => Translation::unsupported(Sentence::Option("operation")),
    }
}

fn extract_html(node: &Node<'_>) -> Translation {
    if node.text("sourceData") == Some("binary") {
        return Translation::unsupported(Sentence::Files);
    }
    let trims = node.flag("options.trimValues", true);
    let cleans = node.flag("options.cleanUpText", node.version >= 1.2);
    let mut lines = vec![
        format!(
            "const source = [get(item.json, {})].flat().join('');",
            node.code_or("dataPropertyName", "'data'")
        ),
        "const json = {};".to_owned(),
    ];
    for value in node.list("extractionValues.values") {
        let text =
            |name: &str| value.get(name).map_or_else(|| "''".to_owned(), |value| node.value_code(value));
        let gives = value.get("returnValue").and_then(Value::as_str).unwrap_or("text");
        let is_list = value.get("returnArray").and_then(Value::as_bool).unwrap_or(false);
        let mut options = vec![
            format!("selector: {}", text("cssSelector")),
            format!("gives: {}", javascript::string(gives)),
        ];
        if gives == "attribute" {
            options.push(format!("attribute: {}", text("attribute")));
        }
        options.push(format!("isList: {is_list}, isTrimmed: {trims}, isClean: {cleans}"));
        lines.push(format!(
            "setMember(json, {}, extract(source, {{ {} }}));",
            text("key"),
            options.join(", ")
        ));
    }
    lines.push("return json;".to_owned());
    each(lines).partial(Sentence::Option("selectors"))
}

/// An HTML template has expressions without a leading `=`.
fn template(node: &Node<'_>) -> String {
    match node.get("html") {
        Some(Value::String(text)) if !text.starts_with('=') => {
            node.value_code(&Value::String(format!("={text}")))
        }
        Some(value) => node.value_code(value),
        None => "''".to_owned(),
    }
}

fn markdown(node: &Node<'_>) -> Translation {
    if node.text("mode") == Some("markdownToHtml") {
        let name = node.code_or("destinationKey", "'data'");
        let lines = [
            "const json = { ...item.json };".to_owned(),
            format!("set(json, {name}, markdownToHtml(text({})));", node.code("markdown")),
            "return json;".to_owned(),
        ];
        return each(lines).partial(Sentence::Option("options"));
    }
    let name = node.code_or("destinationKey", "'data'");
    let lines = [
        "const json = { ...item.json };".to_owned(),
        format!("set(json, {name}, htmlToText(text({})));", node.code("html")),
        "return json;".to_owned(),
    ];
    each(lines).partial(Sentence::Option("markdown"))
}

fn extract_from_file(node: &Node<'_>) -> Translation {
    let field = node.code_or("binaryPropertyName", "'data'");
    let into = node.code_or("destinationKey", "'data'");
    match node.text("operation").unwrap_or("csv") {
        "fromJson" => each([format!("return {{ [{into}]: JSON.parse(fileText(item, {field})) }};")])
            .partial(Sentence::Files),
        "text" => each([format!("return {{ [{into}]: fileText(item, {field}) }};")]).partial(Sentence::Files),
        "csv" => {
            let line = format!(
                "return [items.flatMap((item) => csvRows(fileText(item, {field})).map((json) => ({{ json, origin: item }})))];"
            );
            Translation::exact([line]).partial(Sentence::Files)
        }
        _ => Translation::unsupported(Sentence::Files),
    }
}

fn convert_to_file(node: &Node<'_>) -> Translation {
    let into = node.code_or("binaryPropertyName", "'data'");
    match node.text("operation").unwrap_or("csv") {
        "toJson" => Translation::exact_for_all([format!(
            "return [fileOf({into}, JSON.stringify(items.map((item) => item.json)), items)];"
        )])
        .partial(Sentence::Files),
        "csv" => Translation::exact_for_all([format!(
            "return [fileOf({into}, csvText(items.map((item) => item.json)), items)];"
        )])
        .partial(Sentence::Files),
        "toText" => {
            let source = node.code_or("sourceProperty", "''");
            Translation::exact([format!(
                "return [items.flatMap((item) => fileOf({into}, text(get(item.json, {source})), [item]))];"
            )])
            .partial(Sentence::Files)
        }
        _ => Translation::unsupported(Sentence::Files),
    }
}

fn crypto(node: &Node<'_>) -> Translation {
    let name = node.code_or("dataPropertyName", "'data'");
    let algorithm = match node.text("type").unwrap_or("MD5") {
        "SHA256" => "SHA-256",
        "SHA384" => "SHA-384",
        "SHA512" => "SHA-512",
        _ => return Translation::unsupported(Sentence::Option("type")),
    };
    let encoding = node.code_or("encoding", "'hex'");
    match node.text("action").unwrap_or("hash") {
        "generate" if node.text("encodingType").unwrap_or("uuid") == "uuid" => each([
            "const json = { ...item.json };".to_owned(),
            format!("set(json, {name}, crypto.randomUUID());"),
            "return json;".to_owned(),
        ]),
        "hash" if !node.flag("binaryData", false) => Translation::exact([
            "return eachAsync(items, async (item, index) => {".to_owned(),
            "  const json = { ...item.json };".to_owned(),
            format!(
                "  set(json, {name}, await digest('{algorithm}', text({}), {encoding}));",
                node.code("value")
            ),
            "  return json;".to_owned(),
            "});".to_owned(),
        ]),
        _ => Translation::unsupported(Sentence::Option("action")),
    }
}
