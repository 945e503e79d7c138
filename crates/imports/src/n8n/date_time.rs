//! The Date & Time node.

use super::{data::each, node::Node};
use crate::{Sentence, javascript, workflow::Translation};

pub(super) fn translate(node: &Node<'_>) -> Option<Translation> {
    (node.kind == "dateTime").then(|| date_time(node))
}

fn date_time(node: &Node<'_>) -> Translation {
    let into = |default: &str| node.code_or("outputFieldName", default);
    if node.version < 2.0 {
        let (value, name) = (node.code("value"), node.code_or("dataPropertyName", "'data'"));
        let action = node.text("action").unwrap_or("format");
        let date = match action {
            "format" => format!(
                "flow.dates.read({value}).toFormat({}, 'moment')",
                node.code_or("toFormat", "'MM/DD/YYYY'")
            ),
            _ => {
                let method = if node.text("operation") == Some("subtract") { "minus" } else { "plus" };
                let unit = node.code_or("timeUnit", "'days'");
                format!(
                    "flow.dates.read({value}).{method}({{ [{unit}]: {} }}).toUTC().toISO()",
                    node.code_or("duration", "0")
                )
            }
        };
        let mut translation = each([
            "const json = { ...item.json };".to_owned(),
            format!("setMember(json, {name}, {date});"),
            "return json;".to_owned(),
        ]);
        if action == "format" {
            // An item without a date is left out.
            let dated = format!("const dated = items.filter((item, index) => ({value}) !== undefined);");
            if let Some(first) = translation.body.first_mut() {
                *first = "return each(dated, (item, index) => {".to_owned();
            }
            translation.body.insert(0, dated);
        } else {
            let first = format!("if (({value}) === undefined) throw new Error('there is no date');");
            translation.body.insert(1, format!("  {first}"));
        }
        return translation;
    }
    // Alone, unless the fields of the item are asked for.
    let start = if node.flag("options.includeInputFields", false) { "{ ...item.json }" } else { "{}" };
    let value = match node.text("operation").unwrap_or("getCurrentDate") {
        "getCurrentDate" => {
            let source = if node.flag("includeTime", true) { "now" } else { "today" };
            let name = node.code_or("outputFieldName", "'currentDate'");
            return each([
                format!("const json = {start};"),
                format!("set(json, {name}, flow.dates.{source}().toISO());"),
                "return json;".to_owned(),
            ]);
        }
        "addToDate" | "subtractFromDate" => {
            let method = if node.text("operation") == Some("subtractFromDate") { "minus" } else { "plus" };
            let unit = node.code_or("timeUnit", "'days'");
            format!(
                "flow.dates.read({}).{method}({{ [{unit}]: {} }}).toISO()",
                node.code("magnitude"),
                node.code_or("duration", "0")
            )
        }
        "formatDate" => {
            let format = match node.text("format") {
                None | Some("custom") => node.code_or("customFormat", "'MM/dd/yyyy'"),
                Some(format) => javascript::string(format),
            };
            format!("flow.dates.formatted({}, {format})", node.code("date"))
        }
        _ => return Translation::unsupported(Sentence::Option("operation")),
    };
    let default = if node.text("operation") == Some("formatDate") { "'formattedDate'" } else { "'newDate'" };
    each([
        format!("const json = {start};"),
        format!("set(json, {}, {value});", into(default)),
        "return json;".to_owned(),
    ])
}
