use secrecy::SecretString;
use serde_json::{Value, json};

use super::*;

fn parse(value: Value) -> Result<Auth, String> {
    let input: AuthInput = serde_json::from_value(value).map_err(|_| "malformed".to_owned())?;
    Auth::parse(input).map_err(|error| error.field.to_string())
}

#[test]
fn every_kind_is_written_as_it_was_read() {
    for value in [
        json!({"type": "none"}),
        json!({"type": "bearer"}),
        json!({"type": "bearer", "prefix": "Bot"}),
        json!({"type": "basic", "username": "api"}),
        json!({"type": "basic", "username": ""}),
        json!({"type": "api_key", "in": "header", "name": "x-api-key"}),
        json!({"type": "api_key", "in": "query", "name": "api_token", "prefix": "v1"}),
        json!({"type": "headers", "names": ["apikey", "authorization"]}),
        json!({"type": "path_token"}),
        json!({"type": "service_account", "tokenUrl": "https://oauth2.googleapis.com/token", "scopes": ["a", "b"],
               "audience": "x", "subject": "a@b.example"}),
        json!({"type": "oauth2_client_credentials", "tokenUrl": "https://a.example/token", "clientId": "c",
               "scopes": [], "style": "body"}),
        json!({"type": "url"}),
        json!({"type": "oauth2_code"}),
    ] {
        let auth = parse(value.clone()).unwrap();
        assert_eq!(serde_json::to_value(&auth).unwrap(), value);
        assert_eq!(auth.kind().as_str(), value["type"]);
        assert_eq!(serde_json::from_value::<Auth>(value).unwrap(), auth);
    }
}

#[test]
fn a_refused_value_is_named() {
    let key = |name: &str| json!({"type": "api_key", "in": "header", "name": name});
    let token = |url: &str| json!({"type": "service_account", "tokenUrl": url, "scopes": []});
    let many: Vec<String> = (0..5).map(|number| format!("x-{number}")).collect();
    for (value, field) in [
        (json!({"type": "bearer", "prefix": "a\r\nb"}), "auth.prefix"),
        (json!({"type": "bearer", "prefix": "жетон"}), "auth.prefix"),
        (json!({"type": "basic", "username": "a:b"}), "auth.username"),
        (json!({"type": "basic", "username": "x".repeat(257)}), "auth.username"),
        (key("a b"), "auth.name"),
        (key(""), "auth.name"),
        (key("host"), "auth.name"),
        (key("Content-Length"), "auth.name"),
        (key("X-Forwarded-For"), "auth.name"),
        (json!({"type": "api_key", "in": "query", "name": "a&b"}), "auth.name"),
        (json!({"type": "headers", "names": []}), "auth.names"),
        (json!({"type": "headers", "names": many}), "auth.names"),
        (json!({"type": "headers", "names": ["a", "A"]}), "auth.names"),
        (token("http://a.example/"), "auth.tokenUrl"),
        (token("https://127.0.0.1/t"), "auth.tokenUrl"),
        (token("https://localhost/t"), "auth.tokenUrl"),
        (token("https://u:p@a.example/"), "auth.tokenUrl"),
        (token("https://a.example/#x"), "auth.tokenUrl"),
        (
            json!({"type": "service_account", "tokenUrl": "https://a.example/", "scopes": ["a b"]}),
            "auth.scopes",
        ),
        (
            json!({"type": "oauth2_client_credentials", "tokenUrl": "https://a.example/", "clientId": "",
                "scopes": [], "style": "basic"}),
            "auth.clientId",
        ),
        (json!({"type": "oauth"}), "malformed"),
        (json!({"type": "none", "x": 1}), "malformed"),
        (json!(["none"]), "malformed"),
        (json!({"type": "api_key", "in": "body", "name": "x"}), "malformed"),
    ] {
        assert_eq!(parse(value.clone()), Err(field.to_owned()), "{value}");
    }
}

#[test]
fn a_secret_has_the_shape_of_its_kind() {
    let key = r#"{"type":"service_account","client_email":"a@b.iam.example","private_key":"-----BEGIN PRIVATE KEY-----\nMA==\n-----END PRIVATE KEY-----\n","token_uri":"https://evil.example/"}"#;
    let service = json!({"type": "service_account", "tokenUrl": "https://a.example/", "scopes": []});
    let headers = json!({"type": "headers", "names": ["apikey", "x-b"]});
    let bearer = json!({"type": "bearer"});
    for (auth, secret, expected) in [
        (bearer.clone(), "s3cret", true),
        (bearer.clone(), "", false),
        (bearer.clone(), "a\r\nb", false),
        (bearer.clone(), "a\0b", false),
        (bearer.clone(), "secret\n", false),
        (bearer.clone(), "ключ", false),
        (bearer.clone(), &"x".repeat(4_096), true),
        (bearer, &"x".repeat(4_097), false),
        (json!({"type": "basic", "username": "u"}), "пароль", true),
        (json!({"type": "none"}), "x", false),
        (json!({"type": "path_token"}), "123:ABC-d_e", true),
        (json!({"type": "path_token"}), "a/b", false),
        (json!({"type": "path_token"}), "..", false),
        (json!({"type": "path_token"}), "a%2fb", false),
        (headers.clone(), r#"{"ApiKey":"1","x-b":"2"}"#, true),
        (headers.clone(), r#"{"apikey":"1"}"#, false),
        (headers.clone(), r#"{"apikey":"1","x-b":"2","c":"3"}"#, false),
        (headers.clone(), r#"{"apikey":"1","x-b":"a\r\nb"}"#, false),
        (headers.clone(), r#"{"apikey":"1","x-b":2}"#, false),
        (headers, "text", false),
        (service.clone(), key, true),
        (service.clone(), "{}", false),
        (service, r#"{"client_email":"a@b","private_key":"x"}"#, false),
        (json!({"type": "url"}), "https://hooks.example.com/T/B/x?y=z", true),
        (json!({"type": "url"}), "http://hooks.example.com/T", false),
        (json!({"type": "url"}), "https://10.0.0.1/T", false),
        (json!({"type": "url"}), "https://hooks.example.com/a/../b", false),
    ] {
        let parsed = parse(auth.clone()).unwrap();
        let checked = parsed.check_secret(&SecretString::from(secret));
        assert_eq!(checked.is_ok(), expected, "{auth} {secret:.60}: {checked:?}");
        if let Err(error) = checked {
            assert!(secret.len() < 5 || !error.to_string().contains(secret), "{error}");
        }
    }
    let parsed = parse_service_account(&SecretString::from(key)).unwrap();
    assert_eq!(parsed.client_email, "a@b.iam.example");
    assert!(!format!("{parsed:?}").contains("BEGIN"));
}

#[test]
fn what_is_sent_without_a_prefix_is_long_enough_to_be_redacted() {
    for (auth, secret, is_stored) in [
        (json!({"type": "api_key", "in": "header", "name": "x-key"}), "1234567", false),
        (json!({"type": "api_key", "in": "header", "name": "x-key"}), "12345678", true),
        (json!({"type": "api_key", "in": "header", "name": "x-key", "prefix": "Token"}), "1234567", true),
        (json!({"type": "api_key", "in": "query", "name": "key"}), "1234567", true),
        (json!({"type": "path_token"}), "1234567", false),
        (json!({"type": "path_token"}), "12345678", true),
        (json!({"type": "headers", "names": ["a", "b"]}), r#"{"a": "12345678", "b": "1234567"}"#, false),
        (json!({"type": "headers", "names": ["a", "b"]}), r#"{"a": "12345678", "b": "12345678"}"#, true),
        (json!({"type": "bearer"}), "1", true),
    ] {
        let parsed = Auth::parse(serde_json::from_value(auth.clone()).unwrap()).unwrap();
        let checked = parsed.check_new_secret(&SecretString::from(secret));
        assert_eq!(checked.is_ok(), is_stored, "{auth} {secret}");
        // What was stored before serves on.
        assert!(parsed.check_secret(&SecretString::from(secret)).is_ok());
    }
}

/// An RSA key as far as it is checked: a sequence that names its kind.
fn pem(lines: usize, kind: &str) -> String {
    let mut der = vec![0x30, 0x82, 1, 20, 2, 1, 0, 0x30, 13, 6, 9];
    der.extend([0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01]);
    der.resize(280, 7);
    let text = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, der);
    let body: Vec<_> = text.as_bytes().chunks(text.len().div_ceil(lines)).collect();
    let body: Vec<_> = body.into_iter().map(|line| String::from_utf8(line.to_vec()).unwrap()).collect();
    format!("-----BEGIN {kind}-----\n{}\n-----END {kind}-----\n", body.join("\n"))
}

#[test]
fn the_key_of_a_service_account_is_checked_before_it_is_stored() {
    let auth: Auth = serde_json::from_value(
        json!({"type": "service_account", "tokenUrl": "https://a.example/", "scopes": []}),
    )
    .unwrap();
    let check = |key: &str| {
        let file = json!({"client_email": "a@b.iam.example", "private_key": key}).to_string();
        auth.check_new_secret(&SecretString::from(file)).is_ok()
    };
    let good = pem(6, "PRIVATE KEY");
    assert!(check(&good) && check(&pem(1, "PRIVATE KEY")) && check(&pem(6, "RSA PRIVATE KEY")));
    assert!(check(&good.replace('\n', "\r\n")), "lines may end as they do elsewhere");
    for broken in [
        good.replace('\n', ""),
        good.replace('\n', " "),
        good.replace('\n', "\\n"),
        good.replacen("\n", "\n ", 2),
        good.replace("MII", "MI"),
        good.replace("-----END PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"),
        good.replace("PRIVATE KEY", "EC PRIVATE KEY"),
        good.replace("PRIVATE KEY", "ENCRYPTED PRIVATE KEY"),
        good.lines().filter(|line| !line.starts_with("MII")).collect::<Vec<_>>().join("\n"),
        "-----BEGIN PRIVATE KEY-----\nMA==\n-----END PRIVATE KEY-----\n".to_owned(),
    ] {
        assert!(!check(&broken), "{broken}");
    }
}

#[test]
fn a_header_keeps_the_name_that_a_person_wrote() {
    for written in [
        json!({"type": "api_key", "in": "header", "name": "X-Key"}),
        json!({"type": "headers", "names": ["X-A", "apiKey"]}),
    ] {
        let auth: Auth = serde_json::from_value(written.clone()).unwrap();
        assert_eq!(serde_json::to_value(&auth).unwrap(), written);
        assert!(auth.header_names().iter().all(|name| *name == name.to_ascii_lowercase()));
    }
    assert!(serde_json::from_value::<Auth>(json!({"type": "headers", "names": ["X-A", "x-a"]})).is_err());
}

#[test]
fn a_token_is_stored_without_the_word_before_its_place() {
    for (base, secret, expected) in [
        ("https://api.telegram.org/bot{secret}", "bot123456:AAE-x_y", "123456:AAE-x_y"),
        ("https://api.telegram.org/bot{secret}", "BOT123456:AAE-x_y", "123456:AAE-x_y"),
        ("https://api.telegram.org/bot{secret}", "123456:AAE-x_y", "123456:AAE-x_y"),
        ("https://api.telegram.org/bot{secret}", "bottle:1", "bottle:1"),
        ("https://api.example.com/{secret}", "bot123456:AAE-x_y", "bot123456:AAE-x_y"),
    ] {
        let kept = without_repeated_word(base, SecretString::from(secret));
        assert_eq!(secrecy::ExposeSecret::expose_secret(&kept), expected);
    }
}
