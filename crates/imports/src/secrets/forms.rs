//! Forms that are secrets wherever they stand. Of what a form finds only the group `s` is replaced, if it has one, so that what
//! surrounds a secret still parses.

use std::sync::LazyLock;

use regex::{Regex, RegexSet};

/// A form of secrets.
pub(super) struct Form {
    pub(super) kind: &'static str,
    pub(super) expression: Regex,
    /// `true` if it also finds words: these have no digit.
    needs_digit: bool,
}

impl Form {
    /// Returns `true` if what was found is a secret.
    pub(super) fn accepts(&self, found: &str) -> bool {
        !self.needs_digit || found.bytes().any(|byte| byte.is_ascii_digit())
    }
}

/// Forms, with whether what they find must have a digit.
const FORMS: &[(&str, bool, &str)] = &[
    (
        "private_key",
        false,
        r#"-----BEGIN [A-Z ]*PRIVATE KEY-----(?P<s>[^"'`]*?)-----END [A-Z ]*PRIVATE KEY-----"#,
    ),
    // One that is cut off or put together: as far as its letters go.
    ("private_key", false, r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?P<s>[A-Za-z0-9+/=\s\\]+)"),
    ("jwt", false, r"\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}(\.[A-Za-z0-9_-]*)?"),
    ("bearer", true, r"(?i)\b(bearer|basic|token|apikey|bot)\s+(?P<s>[A-Za-z0-9+/_.=~-]{16,})"),
    ("api_key", false, r"\b(sk|pk|rk)[-_](live|test|proj|ant|or|svcacct)?[-_A-Za-z0-9]{16,}"),
    ("api_key", false, r"\b(xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,})"),
    (
        "api_key",
        false,
        r"\b(gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,})",
    ),
    ("api_key", false, r"\b(AKIA|ASIA)[A-Z0-9]{16}\b"),
    ("api_key", false, r"\bAIza[A-Za-z0-9_-]{30,}"),
    ("api_key", false, r"\bya29\.[A-Za-z0-9_-]{20,}"),
    ("api_key", false, r"\bGOCSPX-[A-Za-z0-9_-]{20,}"),
    ("api_key", false, r"\bq(at|ao|ar|k_sec|k_pub|ws|wt)_[A-Za-z0-9_-]{20,}"),
    (
        "api_key",
        false,
        r"\b(SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|key-[0-9a-f]{32}|pat[A-Za-z0-9]{14}\.[0-9a-f]{40,}|(secret|ntn)_[A-Za-z0-9]{30,}|shp(at|ca|pa|ss)_[0-9a-fA-F]{20,}|gsk_[A-Za-z0-9]{20,}|hf_[A-Za-z0-9]{20,}|pplx-[A-Za-z0-9]{20,}|r8_[A-Za-z0-9]{20,}|apify_api_[A-Za-z0-9]{20,}|lin_api_[A-Za-z0-9]{20,}|dop_v1_[0-9a-f]{40,}|npm_[A-Za-z0-9]{30,}|tvly-[A-Za-z0-9]{16,}|fc-[0-9a-f]{28,}|whsec_[A-Za-z0-9+/=]{16,}|[a-z]{2,4}_live_[A-Za-z0-9]{16,})",
    ),
    // In `https://api.telegram.org/bot…/sendMessage` letters come before.
    ("bot_token", false, r"(?:^|[^0-9])(?P<s>[0-9]{8,10}:[A-Za-z0-9_-]{35})(?:$|[^A-Za-z0-9_-])"),
    (
        "webhook_url",
        false,
        r"https://hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/(?P<s>[A-Za-z0-9/_-]+)",
    ),
    (
        "webhook_url",
        false,
        r"https://(?:canary\.|ptb\.)?discord(?:app)?\.com/api/(?:v[0-9]+/)?webhooks/[0-9]+/(?P<s>[A-Za-z0-9_-]+)",
    ),
    ("webhook_url", false, r"https://hook\.[a-z0-9.]*make\.com/(?P<s>[A-Za-z0-9]{20,})"),
    ("webhook_url", false, r"https://hooks\.zapier\.com/hooks/catch/(?P<s>[A-Za-z0-9/]+[A-Za-z0-9])"),
    (
        "webhook_url",
        false,
        r"https://[a-z0-9.-]*\.?(?:outlook\.office(?:365)?|webhook\.office)\.com/webhook(?:b2)?/(?P<s>[A-Za-z0-9@/-]+)",
    ),
    (
        "webhook_url",
        false,
        r"https://open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook/(?P<s>[A-Za-z0-9-]+)",
    ),
    (
        "webhook_url",
        false,
        r"https://maker\.ifttt\.com/trigger/[^/\s]+/(?:json/)?with/key/(?P<s>[A-Za-z0-9_-]+)",
    ),
    // Mattermost.
    ("webhook_url", false, r"https?://[^\s/@]+/hooks/(?P<s>[a-z0-9]{26})\b"),
    // Bitrix24.
    ("webhook_url", false, r"https?://[^\s/@]+/rest/[0-9]+/(?P<s>[a-z0-9]{12,})\b"),
    ("password", false, r#"\b[a-z][a-z0-9+.-]*://[^\s/:@?#"'{}]*:(?P<s>[^\s/@"'{}]+)@"#),
    (
        "password",
        false,
        r#"\bcurl\b[^\n|;]*?\s(?:-u|--user)[\s=]*(?:\\*["'])?[^\s:"'\\$]+:(?P<s>[^\s"'\\$]+)"#,
    ),
    ("password", false, r#"\bsshpass\s+-p\s*(?:\\*["'])?(?P<s>[^\s"'\\$]+)"#),
    ("password", false, r#"\bmysql(?:dump|admin)?\b[^\n|;]*?\s-p(?P<s>[^\s"'\\$-][^\s"'\\$]{3,})"#),
    (
        "password",
        false,
        r#"\s--?(?:password|passwd|pass|pw|token|secret|api-?key|auth-?token|access-?token)[\s=]+(?:\\*["'])?(?P<s>[^\s"'\\$<{-][^\s"'\\$<{]{3,})"#,
    ),
    ("password", false, r#"\b(?:PGPASSWORD|MYSQL_PWD|REDISCLI_AUTH|SSHPASS)=(?:\\*["'])?(?P<s>[^\s"'\\$]+)"#),
];

/// The forms, in their order. A test compiles every one, so that none is left out here.
static COMPILED: LazyLock<Vec<Form>> = LazyLock::new(|| {
    let compile = |(kind, needs_digit, text): &(&'static str, bool, &str)| {
        let expression = Regex::new(text).ok()?;
        Some(Form { kind, expression, needs_digit: *needs_digit })
    };
    FORMS.iter().filter_map(compile).collect()
});

/// All forms at once.
static ALL: LazyLock<Option<RegexSet>> =
    LazyLock::new(|| RegexSet::new(FORMS.iter().map(|(_, _, text)| text)).ok());

/// Returns the forms that a text may have, which it is read once for.
pub(super) fn found_in(text: &str) -> impl Iterator<Item = &'static Form> + use<> {
    let found = ALL.as_ref().map(|all| all.matches(text));
    COMPILED
        .iter()
        .enumerate()
        .filter(move |(index, _)| found.as_ref().is_none_or(|found| found.matched(*index)))
        .map(|(_, form)| form)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_compiles() {
        assert_eq!(COMPILED.len(), FORMS.len());
        assert_eq!(ALL.as_ref().map(RegexSet::len), Some(FORMS.len()));
    }
}
