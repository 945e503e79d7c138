//! Names of members, variables, headers and parameters that hold secrets.

/// Likelihood that what a name holds is a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Suspicion {
    /// Anything that is no placeholder.
    Certain,
    /// Only a text that looks random: `key` is also the name of a column, and `auth` of a way to sign in.
    Possible,
}

/// Longest name; longer texts name nothing.
const MAX_NAME: usize = 64;

/// Last words of names that hold secrets.
const CERTAIN: &[&str] = &[
    "password",
    "passwd",
    "passwort",
    "passphrase",
    "passcode",
    "pwd",
    "secret",
    "token",
    "cookie",
    "credential",
    "credentials",
    "authorization",
    "bearer",
    "jwt",
    // Names that people write in lower case throughout.
    "apikey",
    "apitoken",
    "accesskey",
    "accesstoken",
    "accountkey",
    "authkey",
    "authtoken",
    "bottoken",
    "clientsecret",
    "masterkey",
    "privatekey",
    "refreshtoken",
    "secretkey",
    "sessionkey",
    "sharedkey",
    "usertoken",
    "userpass",
    "userpassword",
];

/// Last words of names that hold secrets or something else.
const POSSIBLE: &[&str] = &["key", "auth", "pass", "signature", "sig", "pin", "tokens", "secrets", "keys"];

/// Words before `key` or `pass` that make the name certain.
const QUALIFIERS: &[&str] = &[
    "access",
    "account",
    "admin",
    "aes",
    "api",
    "app",
    "auth",
    "client",
    "consumer",
    "db",
    "decryption",
    "encryption",
    "ftp",
    "hmac",
    "licence",
    "license",
    "login",
    "mail",
    "master",
    "mysql",
    "private",
    "root",
    "secret",
    "service",
    "session",
    "shared",
    "signing",
    "smtp",
    "ssh",
    "storage",
    "subscription",
    "user",
    "webhook",
];

/// Last words that say nothing of what the name holds.
const SUFFIXES: &[&str] = &[
    "base64",
    "current",
    "default",
    "dev",
    "encoded",
    "env",
    "live",
    "new",
    "old",
    "plain",
    "prod",
    "production",
    "raw",
    "str",
    "string",
    "test",
    "val",
    "value",
];

/// Words of code before a name that is declared.
const KEYWORDS: &[&str] =
    &["const", "def", "export", "let", "my", "our", "readonly", "self", "static", "the", "this", "var"];

/// Returns the likelihood that what a name holds is a secret; `None` if it is none.
pub(super) fn suspicion(name: &str) -> Option<Suspicion> {
    if name.len() > MAX_NAME {
        return None;
    }
    let mut words = words(name);
    words.retain(|word| !KEYWORDS.contains(&word.as_str()));
    let end = words.iter().rposition(|word| !SUFFIXES.contains(&word.as_str()))?;
    let (head, before) = words.get(..=end)?.split_last()?;
    let is_qualified = before.last().is_some_and(|word| QUALIFIERS.contains(&word.as_str()));
    match head.as_str() {
        head if CERTAIN.contains(&head) => Some(Suspicion::Certain),
        "pass" if before.is_empty() => Some(Suspicion::Certain),
        "key" | "pass" if is_qualified => Some(Suspicion::Certain),
        // One that is meant to be known.
        "key" | "keys" if before.iter().any(|word| word == "public") => None,
        head if POSSIBLE.contains(&head) => Some(Suspicion::Possible),
        _ => None,
    }
}

/// Splits a name into its words, in lower case and without digits: `X-Api_key2` and `xAPIKey` are `x`, `api`, `key`.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut letters = name.chars().peekable();
    let mut before: Option<char> = None;
    while let Some(letter) = letters.next() {
        let is_start = letter.is_uppercase()
            && (before.is_some_and(char::is_lowercase)
                || before.is_some_and(char::is_uppercase)
                    && letters.peek().is_some_and(|next| next.is_lowercase()));
        if (is_start || !letter.is_alphabetic()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if letter.is_alphabetic() {
            word.extend(letter.to_lowercase());
        }
        before = Some(letter);
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_into_words() {
        assert_eq!(words("X-Api_key2"), ["x", "api", "key"]);
        assert_eq!(words("xAPIKey"), ["x", "api", "key"]);
        assert_eq!(words("={{ $json.accessToken }}"), ["json", "access", "token"]);
        assert!(words("12-34").is_empty());
    }

    #[test]
    fn the_last_word_says_what_a_name_holds() {
        for name in [
            "password",
            "db_password",
            "PGPASSWORD",
            "apiKey",
            "X-API-Key",
            "netbox_token",
            "apitoken",
            "pwd",
            "pass",
            "smtpPass",
            "clientSecret",
            "Authorization",
            "Cookie",
            "AccountKey",
            "tokenValue",
            "API key",
            "token2",
        ] {
            // PGPASSWORD is one word; the form of an assignment finds it.
            let expected = (name != "PGPASSWORD").then_some(Suspicion::Certain);
            assert_eq!(suspicion(name), expected, "{name}");
        }
        for name in ["key", "X-Auth", "primaryKey", "boardingPass", "signature", "idempotencyKey"] {
            assert_eq!(suspicion(name), Some(Suspicion::Possible), "{name}");
        }
        for name in [
            "tokenCount",
            "maxTokenLength",
            "passengers",
            "keyword",
            "secretary",
            "monkey",
            "bypass",
            "cookieConsent",
            "apiKeyName",
            "tokenUrl",
            "passwordPolicy",
            "publicKey",
            "author",
            "authType",
            "",
        ] {
            assert_eq!(suspicion(name), None, "{name}");
        }
    }
}
