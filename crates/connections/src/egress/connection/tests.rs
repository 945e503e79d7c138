use kernel::testing::at;

use super::*;
use crate::{egress::AllowedPorts, testing::http_connection};

fn policy(change: impl FnOnce(&mut ConnectionPolicy)) -> Arc<ConnectionPolicy> {
    let mut connection = http_connection(1, "https://api.example.com/base");
    connection.http.path_prefix = "/v1".to_owned();
    let mut policy = ConnectionPolicy::new(connection);
    change(&mut policy);
    Arc::new(policy)
}

fn code(target: &str, method: &str, policy: &Arc<ConnectionPolicy>) -> String {
    authorize_connection(target, method, policy)
        .map_or_else(|refusal| refusal.code().to_owned(), |permit| permit.url().to_string())
}

#[test]
fn each_request_is_refused_for_the_first_reason() {
    let open = policy(|_| ());
    for (method, target, expected) in [
        ("GET", "/v1", "https://api.example.com/base/v1"),
        ("GET", "/v1/x?y=z#f", "https://api.example.com/base/v1/x?y=z"),
        ("GET", "/v1/a%20b", "https://api.example.com/base/v1/a%20b"),
        ("GET", "/v1/x?next=%2F..%2F", "https://api.example.com/base/v1/x?next=%2F..%2F"),
        ("GET", "v1", "invalid_url"),
        ("GET", "", "invalid_url"),
        ("GET", "https://evil.example/", "invalid_url"),
        ("GET", "@evil.example/", "invalid_url"),
        ("GET", ".evil.example/", "invalid_url"),
        ("GET", "/v1/\r\nx", "invalid_url"),
        ("GET", "/v1/\tx", "invalid_url"),
        ("GET", "/v1\\..\\x", "invalid_url"),
        ("DELETE", "/v1", "method_denied"),
        ("get", "/v1", "method_denied"),
        ("GET", "/", "path_denied"),
        ("GET", "/v10", "path_denied"),
        ("GET", "//evil.example/v1", "path_denied"),
        ("GET", "/v1/../x", "path_denied"),
        ("GET", "/v1/..%2fx", "path_denied"),
        ("GET", "/v1/%2e%2e/x", "path_denied"),
        ("GET", "/v1/%252e%252e/x", "path_denied"),
        ("GET", "/v1/..%5cx", "path_denied"),
        ("GET", "/v1/..;/x", "path_denied"),
        ("GET", "/v1/{secret}", "path_denied"),
    ] {
        assert_eq!(code(target, method, &open), expected, "{method} {target:?}");
    }
}

#[test]
fn a_closed_gate_and_a_dead_connection_refuse_everything() {
    let closed = policy(|policy| policy.connection.gate = GateStatus::Closed);
    assert_eq!(code("/v1", "GET", &closed), "host_denied");
    for (status, expected) in [
        (ConnectionStatus::Disconnected { since: at(0) }, "not_connected"),
        (ConnectionStatus::Expired { since: at(0) }, "expired"),
        (ConnectionStatus::Error { since: at(0) }, "https://api.example.com/base/v1"),
    ] {
        let policy = policy(|policy| policy.connection.status = status);
        assert_eq!(code("/v1", "GET", &policy), expected);
        assert_eq!(code("/v1", "DELETE", &policy), "method_denied", "the method comes first");
    }
}

#[test]
fn the_manifest_narrows_and_the_operator_allows_ports_and_hosts() {
    let narrowed = policy(|policy| {
        policy.methods = Some(vec![Method::Post]);
        policy.paths = vec!["/v1/a".to_owned()];
    });
    assert_eq!(code("/v1/a", "GET", &narrowed), "method_denied");
    assert_eq!(code("/v1/b", "POST", &narrowed), "path_denied");
    assert!(code("/v1/a/x", "POST", &narrowed).starts_with("https:"));
    let with_port = |ports: Vec<u16>| {
        let mut connection = http_connection(1, "https://api.example.com:8443");
        connection.gate = GateStatus::Open;
        Arc::new(ConnectionPolicy {
            ports: AllowedPorts::with_extra(ports),
            ..ConnectionPolicy::new(connection)
        })
    };
    assert_eq!(code("/", "GET", &with_port(vec![])), "host_denied");
    assert_eq!(code("/", "GET", &with_port(vec![8443])), "https://api.example.com:8443/");
    let fake = policy(|policy| {
        policy.base_override = Some("http://fake.example.com:8080/base".to_owned());
        policy.allowed_hosts = vec!["fake.example.com:8080=127.0.0.1".parse().unwrap()];
    });
    assert_eq!(code("/v1", "GET", &fake), "http://fake.example.com:8080/base/v1");
    let not_allowed = policy(|policy| policy.base_override = Some("http://fake.example.com:8080".to_owned()));
    assert_eq!(code("/v1", "GET", &not_allowed), "invalid_url");
}

#[test]
fn a_key_of_the_query_cannot_be_set_by_the_app() {
    let keyed = policy(|policy| {
        let auth = serde_json::json!({"type": "api_key", "in": "query", "name": "api_token"});
        policy.connection.http.auth = serde_json::from_value(auth).unwrap();
    });
    for target in ["/v1?api_token=x", "/v1?a=b&api%5Ftoken=x", "/v1?API_TOKEN"] {
        assert_eq!(code(target, "GET", &keyed), "invalid_url", "{target}");
    }
    assert!(code("/v1?api=x", "GET", &keyed).starts_with("https:"));
}

#[test]
fn a_redirect_stays_under_the_base_url_and_the_prefix() {
    let permit = authorize_connection("/v1/a", "GET", &policy(|_| ())).unwrap();
    for (location, expected) in [
        ("b", "ok"),
        ("/base/v1/b?c", "ok"),
        ("/base/v1", "ok"),
        ("/base/v10", "path_denied"),
        ("/base", "path_denied"),
        ("/v1/a", "path_denied"),
        ("/basement/v1", "path_denied"),
        ("../../x", "path_denied"),
        ("/base/v1/..%2fx", "path_denied"),
        ("//evil.example/base/v1", "redirect_denied"),
        ("http://api.example.com/base/v1", "redirect_denied"),
        ("https://169.254.169.254/base/v1", "redirect_denied"),
    ] {
        let got = permit.follow_redirect(location).map_or_else(|refusal| refusal.code(), |_| "ok");
        assert_eq!(got, expected, "{location}");
    }
    assert_eq!(permit.credential_of().map(|connection| connection.id), permit.connection());
    assert_eq!(permit.gate(), None);
}

#[test]
fn a_token_endpoint_passes_the_same_checks_and_gets_no_credential() {
    let open = policy(|_| ());
    let permit = authorize_token_request("https://t.example.com/token", &open).unwrap();
    assert_eq!((permit.method(), permit.credential_of()), (Method::Post, None));
    assert_eq!(permit.follow_redirect("/other").unwrap_err().code, RefusalCode::RedirectDenied);
    for (url, expected) in [
        ("https://127.0.0.1/", RefusalCode::PrivateAddress),
        ("http://t.example.com/", RefusalCode::InvalidUrl),
        ("https://localhost/", RefusalCode::HostDenied),
        ("https://t.example.com:22/", RefusalCode::HostDenied),
    ] {
        assert_eq!(authorize_token_request(url, &open).unwrap_err().code, expected, "{url}");
    }
}
