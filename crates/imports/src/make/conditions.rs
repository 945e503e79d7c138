//! Filters of modules, and conditions of branches.

use serde_json::Value;

use super::module::Module;
use crate::javascript;

pub(super) fn filter(module: &Module<'_>) -> Option<String> {
    let conditions = module.get("filter.conditions")?;
    test_of(module, conditions)
}

/// Translates conditions: a list of alternatives, each a list of what must hold together.
pub(super) fn test_of(module: &Module<'_>, conditions: &Value) -> Option<String> {
    let mut any = Vec::new();
    for alternative in conditions.as_array()? {
        let all: Vec<String> =
            alternative.as_array()?.iter().map(|condition| condition_of(module, condition)).collect();
        any.push(if all.is_empty() { "true".to_owned() } else { all.join(" && ") });
    }
    match any.as_slice() {
        [] => None,
        [only] => Some(only.clone()),
        _ => Some(any.iter().map(|all| format!("({all})")).collect::<Vec<_>>().join(" || ")),
    }
}

fn condition_of(module: &Module<'_>, condition: &Value) -> String {
    let side =
        |name: &str| condition.get(name).map_or_else(|| "undefined".to_owned(), |value| module.code(value));
    let operator = condition.get("o").and_then(Value::as_str).unwrap_or("exist");
    let (left, right) = (side("a"), side("b"));
    let mut parts = operator.split(':');
    let (kind, mut name, mut fold) =
        (parts.next().unwrap_or_default(), parts.next().unwrap_or_default(), parts.next());
    if name == "ci" {
        (name, fold) = ("", Some("ci"));
    }
    let test = match (kind, name) {
        ("exist", _) => "string:exists",
        ("notexist", _) => "string:notExists",
        ("text", "equal") => "string:equals",
        ("text", "notequal") => "string:notEquals",
        ("text", "contain") => "string:contains",
        ("text", "notcontain") => "string:notContains",
        ("text", "startwith") => "string:startsWith",
        ("text", "notstartwith") => "string:notStartsWith",
        ("text", "endwith") => "string:endsWith",
        ("text", "notendwith") => "string:notEndsWith",
        ("text", "pattern") => "string:regex",
        ("text", "notpattern") => "string:notRegex",
        ("number", "equal") => "number:equals",
        ("number", "notequal") => "number:notEquals",
        ("number", "greater") => "number:gt",
        ("number", "less") => "number:lt",
        ("number", "greaterorequal") => "number:gte",
        ("number", "lessorequal") => "number:lte",
        ("boolean", "equal") => "boolean:equals",
        ("boolean", "notequal") => "boolean:notEquals",
        ("date", "equal") => "dateTime:equals",
        ("date", "greater") => "dateTime:after",
        ("date", "less") => "dateTime:before",
        ("date", "greaterorequal") => "dateTime:afterOrEquals",
        ("date", "lessorequal") => "dateTime:beforeOrEquals",
        ("array", "contain") => "array:contains",
        ("array", "notcontain") => "array:notContains",
        ("array", "equal") => "array:lengthEquals",
        ("array", "greater") => "array:lengthGt",
        ("array", "less") => "array:lengthLt",
        _ => {
            module.refuse(operator);
            return format!("notTranslated({})", javascript::string(operator));
        }
    };
    let ignores_case = if fold == Some("ci") { "ignoreCase: true, " } else { "" };
    format!("holds({left}, '{test}', {right}, {{ {ignores_case}loose: true }})")
}
