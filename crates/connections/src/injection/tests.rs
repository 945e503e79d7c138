use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::{
    ConnectionPolicy, authorize_connection,
    connection::{BaseUrl, ExtraHeader},
    testing::http_connection,
};

fn permit(base: &str, auth: &Value, target: &str) -> EgressPermit {
    let mut connection = http_connection(1, base);
    connection.http.auth = serde_json::from_value(auth.clone()).unwrap();
    if auth["type"] == "url" {
        connection.http.base_url = BaseUrl::hidden(connection.http.host.clone(), 443);
    }
    authorize_connection(target, "GET", &Arc::new(ConnectionPolicy::new(connection))).unwrap()
}

fn injected(
    base: &str,
    auth: &Value,
    target: &str,
    secret: &str,
) -> Result<(String, Vec<(String, String)>), InjectionError> {
    let secret = SecretString::from(secret);
    let injection = inject(&permit(base, auth, target), Credential::Secret(&secret))?;
    let is_hidden = !format!("{injection:?}").contains(secret.expose_secret());
    assert!(secret.expose_secret().len() < 3 || is_hidden);
    let headers =
        injection.headers.iter().map(|(name, value)| (name.clone(), value.expose_secret().to_owned()));
    Ok((injection.url.expose_secret().to_owned(), headers.collect()))
}

#[test]
fn each_kind_adds_its_secret_at_its_place() {
    let base = "https://api.example.com/v1";
    let plain = "https://api.example.com/v1/me?a=b";
    let secret_map = r#"{"x-a":"1","x-b":"2"}"#;
    for (base, auth, secret, url, headers) in [
        (base, json!({"type": "bearer"}), "s3cret", plain, vec![("authorization", "Bearer s3cret")]),
        (
            base,
            json!({"type": "bearer", "prefix": "Bot"}),
            "s3cret",
            plain,
            vec![("authorization", "Bot s3cret")],
        ),
        (base, json!({"type": "basic", "username": "u"}), "p", plain, vec![("authorization", "Basic dTpw")]),
        (
            base,
            json!({"type": "api_key", "in": "header", "name": "X-Key"}),
            "s3cret",
            plain,
            vec![("x-key", "s3cret")],
        ),
        (
            base,
            json!({"type": "api_key", "in": "header", "name": "x", "prefix": "K"}),
            "s",
            plain,
            vec![("x", "K s")],
        ),
        (
            base,
            json!({"type": "api_key", "in": "query", "name": "key"}),
            "a&b=c +",
            "https://api.example.com/v1/me?a=b&key=a%26b%3Dc%20%2B",
            vec![],
        ),
        (
            base,
            json!({"type": "headers", "names": ["x-a", "x-b"]}),
            secret_map,
            plain,
            vec![("x-a", "1"), ("x-b", "2")],
        ),
        (
            "https://api.example.com/bot{secret}",
            json!({"type": "path_token"}),
            "1:A-b_",
            "https://api.example.com/bot1:A-b_/me?a=b",
            vec![],
        ),
        (
            "https://api.example.com/wa7/{path}/{secret}",
            json!({"type": "path_token"}),
            "tok",
            "https://api.example.com/wa7/me/tok?a=b",
            vec![],
        ),
        (
            "https://api.example.com",
            json!({"type": "url"}),
            "https://api.example.com/rest/1/code/?sig=x",
            "https://api.example.com/rest/1/code/me?sig=x&a=b",
            vec![],
        ),
    ] {
        let result =
            injected(base, &auth, "/me?a=b", if secret.ends_with(" +") { "a&b=c +" } else { secret });
        let (got_url, got_headers) = result.unwrap();
        let got: Vec<_> = got_headers.iter().map(|(name, value)| (&**name, &**value)).collect();
        assert_eq!((&*got_url, got), (url, headers), "{auth}");
    }
}

#[test]
fn a_credential_that_does_not_fit_is_refused() {
    let base = "https://api.example.com";
    let other = injected(base, &json!({"type": "url"}), "/", "https://evil.example/x");
    assert_eq!(other, Err(InjectionError::OtherHost));
    for secret in ["a\r\nx: y", "a\0b", "a\nb"] {
        for auth in [
            json!({"type": "bearer"}),
            json!({"type": "api_key", "in": "header", "name": "x"}),
            json!({"type": "path_token"}),
        ] {
            let base = if auth["type"] == "path_token" { "https://api.example.com/{secret}" } else { base };
            let error = injected(base, &auth, "/", secret).unwrap_err();
            assert!(matches!(error, InjectionError::Malformed(_)), "{auth}");
        }
    }
    let secret = SecretString::from("token");
    let bearer = permit(base, &json!({"type": "bearer"}), "/");
    assert!(inject(&bearer, Credential::None).is_err());
    assert!(inject(&bearer, Credential::AccessToken(&secret)).is_err());
    let code = permit(base, &json!({"type": "oauth2_code"}), "/");
    assert!(inject(&code, Credential::Secret(&secret)).is_err());
    let headers = inject(&code, Credential::AccessToken(&secret)).unwrap().headers;
    assert_eq!(headers[0].1.expose_secret(), "Bearer token");
    assert!(inject(&code, Credential::AccessToken(&SecretString::from("a\r\nb"))).is_err());
}

#[test]
fn headers_of_the_connection_are_added() {
    let mut connection = http_connection(1, "https://api.example.com");
    connection.http.headers = vec![ExtraHeader { name: "x-version".to_owned(), value: "2".to_owned() }];
    let permit = authorize_connection("/", "GET", &Arc::new(ConnectionPolicy::new(connection))).unwrap();
    let headers = inject(&permit, Credential::Secret(&SecretString::from("s"))).unwrap().headers;
    assert_eq!(headers.iter().map(|(name, _)| &**name).collect::<Vec<_>>(), ["authorization", "x-version"]);
}
