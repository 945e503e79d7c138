//! Secrets in exports. They are replaced before anything else reads the export, so that none reaches code, a report or the store.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

/// Text in the place of a secret.
pub(crate) const REMOVED: &str = "[secret removed]";

/// A secret that was found, without its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// Members and indices that lead to it.
    pub(crate) path: Vec<String>,
    pub(crate) kind: &'static str,
}

/// Forms that are secrets wherever they stand.
static FORMS: LazyLock<Vec<(&'static str, Regex)>> = LazyLock::new(|| {
    let forms = [
        ("private_key", r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)"),
        ("jwt", r"\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}(\.[A-Za-z0-9_-]*)?"),
        ("bearer", r"(?i)\b(bearer|basic|token|apikey)\s+[A-Za-z0-9+/_.=~-]{16,}"),
        ("api_key", r"\b(sk|pk|rk)[-_](live|test|proj|ant|or|svcacct)?[-_A-Za-z0-9]{16,}"),
        ("api_key", r"\b(xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,})"),
        ("api_key", r"\b(gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,})"),
        ("api_key", r"\b(AKIA|ASIA)[A-Z0-9]{16}\b"),
        ("api_key", r"\bAIza[A-Za-z0-9_-]{30,}"),
        ("api_key", r"\bya29\.[A-Za-z0-9_-]{20,}"),
        (
            "api_key",
            r"\b(SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|key-[0-9a-f]{32}|pat[A-Za-z0-9]{14}\.[0-9a-f]{40,}|(secret|ntn)_[A-Za-z0-9]{30,}|shp(at|ca|pa|ss)_[0-9a-fA-F]{20,}|gsk_[A-Za-z0-9]{20,}|hf_[A-Za-z0-9]{20,}|pplx-[A-Za-z0-9]{20,}|r8_[A-Za-z0-9]{20,}|apify_api_[A-Za-z0-9]{20,}|lin_api_[A-Za-z0-9]{20,}|dop_v1_[0-9a-f]{40,}|npm_[A-Za-z0-9]{30,}|tvly-[A-Za-z0-9]{16,}|fc-[0-9a-f]{28,})",
        ),
        ("bot_token", r"\b[0-9]{8,10}:[A-Za-z0-9_-]{35}\b"),
        ("webhook_url", r"https://hooks\.slack\.com/(services|workflows)/[A-Za-z0-9/_-]+"),
        ("webhook_url", r"https://(canary\.|ptb\.)?discord(app)?\.com/api/webhooks/[0-9]+/[A-Za-z0-9_-]+"),
        ("webhook_url", r"https://hook\.[a-z0-9.]*make\.com/[A-Za-z0-9]{20,}"),
        ("password", r"\b[a-z][a-z0-9+.-]*://[^\s/:@?#\x22'{}]+:[^\s/@\x22'{}]+@"),
        (
            "api_key",
            r"(?i)[?&](api[-_]?key|access[-_]?token|auth[-_]?token|token|secret|password|client[-_]?secret|sig|signature|appid|key)=[^&\s\x22'{}$<>]{6,}",
        ),
        (
            "api_key",
            r#"(?i)\b[A-Za-z0-9_]*(api[-_]?key|access[-_]?token|auth[-_]?token|secret|passw(or)?d|client[-_]?secret|private[-_]?key)[A-Za-z0-9_]*["'`]?\s*[:=]\s*["'`][^"'`\s{}$]{6,}["'`]"#,
        ),
    ];
    // A test compiles every form, so that none is left out here.
    forms.into_iter().filter_map(|(kind, form)| Regex::new(form).ok().map(|form| (kind, form))).collect()
});

/// Members whose value is a secret whatever its form.
static NAMES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)(^|[-_. ])?(passw(or)?d|passphrase|secret|api[-_ ]?key|apikey|access[-_ ]?token|auth[-_ ]?token|refresh[-_ ]?token|bot[-_ ]?token|client[-_ ]?secret|private[-_ ]?key|authorization|x-api-key|x-auth-token|credential_?secret|session[-_ ]?key|subscription-key|^token$|^key$)",
    )
    .ok()
});

/// Members whose value is long and random, and no secret: ids of documents and of what the tool keeps.
static IDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)(ids?|guid|uuid|hash|digest|documents?|folders?\w*|files?|source|version|features|cursor|etag|url)$").ok()
});

/// Replaces every secret in a value, and names where each was.
pub(crate) fn remove(value: &mut Value) -> Vec<Found> {
    let mut found = Vec::new();
    walk(value, &mut Vec::new(), None, &mut found);
    found
}

fn walk(value: &mut Value, path: &mut Vec<String>, name: Option<&str>, found: &mut Vec<Found>) {
    match value {
        Value::String(text) => {
            if let Some(kind) = clean(text, name) {
                found.push(Found { path: path.clone(), kind });
            }
        }
        Value::Array(values) => {
            for (index, value) in values.iter_mut().enumerate() {
                path.push(index.to_string());
                walk(value, path, name, found);
                path.pop();
            }
        }
        Value::Object(members) => {
            // Lists of parameters name what the neighbour holds: `{"name": "Authorization", "value": "…"}`.
            let named = ["name", "key", "h", "displayName"]
                .iter()
                .find_map(|key| members.get(*key)?.as_str().map(str::to_owned));
            let names: Vec<String> = members.keys().cloned().collect();
            for member in names {
                let mut clean_name = member.clone();
                let was_secret = clean(&mut clean_name, None);
                if let Some(kind) = was_secret
                    && let Some(value) = members.remove(&member)
                {
                    found.push(Found { path: path.clone(), kind });
                    members.insert(clean_name.clone(), value);
                }
                let Some(inner) = members.get_mut(&clean_name) else { continue };
                let name = match member.as_str() {
                    "value" | "v" | "rightValue" | "value2" | "content" => named.as_deref().or(name),
                    "name" | "key" | "id" | "type" | "description" | "notes" | "resource" | "operation"
                    | "displayName" => None,
                    other => Some(other),
                };
                path.push(clean_name);
                walk(inner, path, name, found);
                path.pop();
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Replaces what is secret in a text; returns its kind. A known form says more than the name of the member.
fn clean(text: &mut String, name: Option<&str>) -> Option<&'static str> {
    if text.len() < 6 {
        return None;
    }
    let mut kind = None;
    for (of, form) in FORMS.iter() {
        if form.is_match(text) {
            *text = form.replace_all(text, REMOVED).into_owned();
            kind = kind.or(Some(*of));
        }
    }
    let is_named = |name: &str| name.len() <= 64 && NAMES.as_ref().is_some_and(|names| names.is_match(name));
    if kind.is_none() && is_opaque(text) && name.is_some_and(is_named) {
        REMOVED.clone_into(text);
        return Some("password");
    }
    let is_id = |name: &str| IDS.as_ref().is_some_and(|ids| ids.is_match(name));
    if kind.is_none() && is_random(text) && !name.is_some_and(is_id) {
        REMOVED.clone_into(text);
        return Some("random");
    }
    kind
}

/// Words of types and placeholders, which members that are called like secrets have as well.
const PLACEHOLDERS: &[&str] = &[
    "auth",
    "token",
    "apikey",
    "api_key",
    "api-key",
    "credential",
    "password",
    "secret",
    "bearer",
    "header",
    "string",
    "application/",
    "your",
    "xxx",
];

/// Returns `true` if a text could be a credential: one or two words, and no expression, placeholder or name of a type.
fn is_opaque(text: &str) -> bool {
    let is_expression = text.starts_with(['=', '<', '[']) || text.contains("{{");
    if is_expression || text.len() < 8 || text.len() > 4096 || text.split_whitespace().count() > 2 {
        return false;
    }
    let lower = text.to_ascii_lowercase();
    let is_placeholder = PLACEHOLDERS.iter().any(|word| lower.contains(word));
    let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
    has_digit || !is_placeholder && !text.contains(char::is_whitespace)
}

/// Returns `true` if a text is one long word of random letters and digits, as keys are. Ids in UUID form and hexadecimal digests of 32 are not.
fn is_random(text: &str) -> bool {
    if !(36..=512).contains(&text.len())
        || !text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-+/=.".contains(&byte))
    {
        return false;
    }
    if text.contains("://")
        || text.matches('/').count() > 2
        || text.matches('.').count() > 2
        || text.matches('-').count() > 3
    {
        return false;
    }
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let upper = text.bytes().filter(u8::is_ascii_uppercase).count();
    let lower = text.bytes().filter(u8::is_ascii_lowercase).count();
    let is_mixed = digits * 10 >= text.len() && upper * 8 >= text.len() && lower * 8 >= text.len();
    let is_hexadecimal =
        text.len() >= 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) && digits * 4 >= text.len();
    (is_mixed || is_hexadecimal) && entropy(text) > 3.3
}

/// Bits of information per byte.
fn entropy(text: &str) -> f64 {
    let mut counts = [0u32; 256];
    for byte in text.bytes() {
        counts[usize::from(byte)] += 1;
    }
    #[expect(clippy::cast_precision_loss, reason = "a text of at most 512 bytes")]
    let length = text.len() as f64;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / length)
        .map(|share| -share * share.log2())
        .sum()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_form_compiles() {
        assert_eq!(FORMS.len(), 17);
        assert!(NAMES.is_some() && IDS.is_some());
    }

    #[test]
    fn secrets_are_removed_wherever_they_stand() {
        // Assembled, so that no scanner takes the test for a leak.
        let token = |prefix: &str| format!("{prefix}{}", "a1B2c3D4e5F6g7H8i9J0".repeat(2));
        let secrets = [
            json!({"parameters": {"headerParameters": {"parameters": [{"name": "Authorization", "value": format!("Bearer {}", token(""))}]}}}),
            json!({"url": format!("https://api.example.com/x?api_key={}", token(""))}),
            json!({"url": "https://someone:hunter22@example.com/"}),
            json!({"jsCode": format!("const key = '{}';", token("sk-proj-"))}),
            json!({"jsCode": "const apiKey = 'hunter2hunter2';"}),
            json!({"password": "hunter2-hunter2"}),
            json!({"notes": format!("use {}", token("ghp_"))}),
            json!({"name": format!("x {}", token("xoxb-"))}),
            json!({token("ghp_"): 1}),
            json!({"deep": [[{"x": format!("{}:{}", "1234567890", "A".repeat(20) + "b1C2d3E4f5G6h7I")}]]}),
            json!({"body": format!("-----BEGIN {} KEY-----\nabc\n-----END {} KEY-----", "PRIVATE", "PRIVATE")}),
            json!({"value": token("")}),
        ];
        for mut secret in secrets {
            let before = secret.to_string();
            let found = remove(&mut secret);
            assert_eq!(found.len(), 1, "{before} became {secret}");
            let after = secret.to_string();
            assert!(after.contains(REMOVED), "{after}");
            for part in ["a1B2c3", "hunter2", "A".repeat(20).as_str(), "abc"] {
                assert!(!after.contains(part), "{after}");
            }
        }
    }

    #[test]
    fn what_is_no_secret_stays() {
        let plain = [
            json!({"name": "Authorization", "value": "={{ $json.token }}"}),
            json!({"authentication": "genericCredentialType", "nodeCredentialType": "slackApi", "genericAuthType": "httpHeaderAuth"}),
            json!({"id": "7c2f8f0e-31c0-4f0c-9f0e-7d2a51c1b001", "webhookId": "2f0c8a5e9b1d4c7fa3e6b8d0c1f2a3b4"}),
            json!({"url": "https://docs.google.com/spreadsheets/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit"}),
            json!({"documentId": {"__rl": true, "mode": "list", "value": "1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms"}}),
            json!({"text": "Please reset your password with this link."}),
            json!({"url": "https://api.example.com/v1/items?limit=100"}),
        ];
        for mut value in plain {
            let before = value.clone();
            assert_eq!(remove(&mut value), [], "{before}");
            assert_eq!(value, before);
        }
    }
}
