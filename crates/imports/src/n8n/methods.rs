//! The methods that expressions may call.

/// Way in which a method is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    /// A method of the language.
    Standard,
    /// A function of `extend.js`, which does what n8n documents for its method.
    Helper(&'static str),
    /// A method that makes a date.
    ToDate,
}

const STANDARD: &[&str] = &[
    "at",
    "charAt",
    "charCodeAt",
    "codePointAt",
    "concat",
    "endsWith",
    "entries",
    "every",
    "fill",
    "filter",
    "find",
    "findIndex",
    "findLast",
    "flat",
    "flatMap",
    "forEach",
    "getDate",
    "getDay",
    "getFullYear",
    "getHours",
    "getMilliseconds",
    "getMinutes",
    "getMonth",
    "getSeconds",
    "getTime",
    "getTimezoneOffset",
    "getUTCDate",
    "getUTCDay",
    "getUTCFullYear",
    "getUTCHours",
    "getUTCMinutes",
    "getUTCMonth",
    "has",
    "hasOwnProperty",
    "includes",
    "indexOf",
    "join",
    "lastIndexOf",
    "localeCompare",
    "map",
    "match",
    "matchAll",
    "normalize",
    "padEnd",
    "padStart",
    "pop",
    "push",
    "reduce",
    "reduceRight",
    "repeat",
    "replace",
    "replaceAll",
    "reverse",
    "search",
    "shift",
    "slice",
    "some",
    "sort",
    "splice",
    "split",
    "startsWith",
    "substr",
    "substring",
    "test",
    "toFixed",
    "toISOString",
    "toJSON",
    "toLocaleString",
    "toLowerCase",
    "toPrecision",
    "toSorted",
    "toReversed",
    "toString",
    "toUpperCase",
    "trim",
    "trimEnd",
    "trimStart",
    "unshift",
    "valueOf",
    "get",
    "exec",
];

/// Methods of n8n's data transformation functions, by name and the most arguments.
const HELPERS: &[(&str, usize)] = &[
    ("average", 0),
    ("base64Decode", 0),
    ("base64Encode", 0),
    ("capitalize", 0),
    ("ceil", 0),
    ("chunk", 1),
    ("compact", 0),
    ("extractDomain", 0),
    ("extractEmail", 0),
    ("extractUrl", 0),
    ("first", 0),
    ("floor", 0),
    ("hasField", 1),
    ("isEmail", 0),
    ("isEmpty", 0),
    ("isNotEmpty", 0),
    ("isNumeric", 0),
    ("isUrl", 0),
    ("last", 0),
    ("max", 0),
    ("merge", 1),
    ("min", 0),
    ("pluck", 1),
    ("removeDuplicates", 1),
    ("removeTags", 0),
    ("round", 1),
    ("sum", 0),
    ("toBoolean", 0),
    ("toFloat", 0),
    ("toInt", 1),
    ("toJsonString", 0),
    ("toNumber", 0),
    ("toSnakeCase", 0),
    ("toTitleCase", 0),
    ("toCamelCase", 0),
    ("toDashCase", 0),
    ("toSentenceCase", 0),
    ("trunc", 0),
    ("unique", 1),
    ("urlDecode", 1),
    ("urlEncode", 1),
    ("keys", 0),
    ("values", 0),
    ("parseJson", 0),
    ("union", 1),
    ("difference", 1),
    ("intersection", 1),
    ("isOdd", 0),
    ("isEven", 0),
];

/// Returns how a method of a value is called with that many arguments.
pub(super) fn method(name: &str, arguments: usize) -> Option<Method> {
    if name == "toDateTime" && arguments == 0 {
        return Some(Method::ToDate);
    }
    if STANDARD.contains(&name) {
        return Some(Method::Standard);
    }
    let helper = HELPERS.iter().find(|(helper, most)| *helper == name && arguments <= *most);
    helper.map(|(helper, _)| Method::Helper(helper))
}

/// Returns whether a method of a date gives a date; none for a method that dates do not have here.
pub(super) fn date_method(name: &str) -> Option<bool> {
    match name {
        "plus" | "minus" | "startOf" | "endOf" | "set" | "setZone" | "toUTC" | "toLocal" => Some(true),
        "toISO" | "toISODate" | "toISOTime" | "toFormat" | "format" | "toMillis" | "toSeconds"
        | "toUnixInteger" | "toJSDate" | "toString" | "toJSON" | "valueOf" | "getTime" | "toISOString" => {
            Some(false)
        }
        _ => None,
    }
}

/// Returns whether a date has a member of that name.
pub(super) fn is_date_member(name: &str) -> bool {
    matches!(
        name,
        "year"
            | "month"
            | "day"
            | "hour"
            | "minute"
            | "second"
            | "millisecond"
            | "weekday"
            | "weekNumber"
            | "isValid"
            | "zoneName"
    )
}

/// Returns the function that makes a date as a static method of `DateTime` does.
pub(super) fn date_source(name: &str) -> Option<&'static str> {
    Some(match name {
        "now" | "local" => "now",
        "fromISO" => "from",
        "fromMillis" => "fromMillis",
        "fromSeconds" => "fromSeconds",
        "fromJSDate" => "from",
        _ => return None,
    })
}

/// Returns whether a static method may be called.
pub(super) fn is_static(global: &str, name: &str) -> bool {
    match global {
        "Math" => !matches!(name, "constructor"),
        "JSON" => matches!(name, "parse" | "stringify"),
        "Object" => matches!(name, "keys" | "values" | "entries" | "fromEntries" | "assign"),
        "Array" => matches!(name, "isArray" | "from" | "of"),
        "Number" => matches!(name, "isInteger" | "isNaN" | "isFinite" | "parseFloat" | "parseInt"),
        "String" => matches!(name, "fromCharCode" | "fromCodePoint"),
        "Date" => matches!(name, "now" | "parse" | "UTC"),
        _ => false,
    }
}

/// Returns whether a static member may be read.
pub(super) fn is_constant(global: &str, name: &str) -> bool {
    match global {
        "Math" => matches!(name, "PI" | "E" | "LN2" | "LN10" | "SQRT2"),
        "Number" => matches!(name, "MAX_SAFE_INTEGER" | "MIN_SAFE_INTEGER" | "EPSILON" | "MAX_VALUE"),
        _ => false,
    }
}
