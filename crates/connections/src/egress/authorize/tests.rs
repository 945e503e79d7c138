use super::*;
use crate::{
    egress::{AllowedHost, AllowedPorts, DeclaredEgress},
    gates::Gate,
    testing::open_gate,
};

fn gate(number: u128, host: &str, methods: &[Method], status: GateStatus) -> Gate {
    Gate { methods: methods.to_vec(), status, ..open_gate(number, host) }
}

fn policy() -> Arc<EgressPolicy> {
    let declared = |text: &&str| DeclaredEgress::parse(text).unwrap();
    Arc::new(EgressPolicy {
        declared: [
            "api.example.com",
            "https://closed.example.com",
            "nogate.example.com",
            "https://path.example.com/v1/",
            "https://inside.example.com",
            "bücher.example",
        ]
        .iter()
        .map(declared)
        .collect(),
        gates: vec![
            gate(1, "api.example.com", &[Method::Get, Method::Post], GateStatus::Open),
            gate(2, "closed.example.com", &Method::ALL, GateStatus::Closed),
            gate(3, "undeclared.example.com", &Method::ALL, GateStatus::Open),
            gate(4, "path.example.com", &[Method::Get], GateStatus::Open),
            gate(5, "inside.example.com", &[Method::Get], GateStatus::Open),
            gate(6, "bücher.example", &[Method::Get], GateStatus::Open),
        ],
        ports: AllowedPorts::with_extra(vec![8443]),
        allowed_hosts: vec!["inside.example.com:8080=10.0.0.0/24".parse().unwrap()],
    })
}

#[test]
fn each_request_is_refused_for_the_first_reason() {
    let policy = policy();
    for (method, url, expected) in [
        ("GET", "https://api.example.com/x?y#z", "ok"),
        ("POST", "https://API.example.com./x", "ok"),
        ("GET", "https://api.example.com:8443/", "ok"),
        ("GET", "https://xn--bcher-kva.example/", "ok"),
        ("GET", "https://bücher.example/", "ok"),
        ("GET", "https://path.example.com/v1", "ok"),
        ("GET", "https://path.example.com/v1/a%20b", "ok"),
        ("GET", "http://inside.example.com:8080/", "ok"),
        ("GET", "https://api.example.com/a%2Fb/../c", "ok"),
        ("GET", "", "invalid_url"),
        ("GET", "nope", "invalid_url"),
        ("GET", "/path", "invalid_url"),
        ("GET", "https:api.example.com", "invalid_url"),
        ("GET", "http://api.example.com/", "invalid_url"),
        ("GET", "ftp://api.example.com/", "invalid_url"),
        ("GET", "file:///etc/passwd", "invalid_url"),
        ("GET", "https://u:p@api.example.com/", "invalid_url"),
        ("GET", "https://@api.example.com/", "invalid_url"),
        ("GET", "https:///u:p@api.example.com/", "invalid_url"),
        ("GET", "https:////u@api.example.com/", "invalid_url"),
        ("GET", "https:///api.example.com/", "invalid_url"),
        ("GET", "https://?@api.example.com/", "invalid_url"),
        ("GET", "https:/u:p@api.example.com/://", "invalid_url"),
        ("GET", "https:u:p@api.example.com/?://x", "invalid_url"),
        ("GET", "https://:p@api.example.com/", "invalid_url"),
        ("GET", "data:text/plain,x", "invalid_url"),
        ("GET", "https://api.example.com\\@evil.example/", "invalid_url"),
        ("GET", "https://api.exam\tple.com/", "invalid_url"),
        ("GET", "https://api.example.com/a\r\nHost: x", "invalid_url"),
        ("GET", "https://api.example.com/a b", "invalid_url"),
        ("GET", "https://api.example.com:99999/", "invalid_url"),
        ("GET", "https://a..example/", "invalid_url"),
        ("GET", "https://undeclared.example.com/", "egress_denied"),
        ("GET", "https://evil.example/", "egress_denied"),
        ("GET", "https://api.example.com.evil.example/", "egress_denied"),
        ("GET", "https://closed.example.com/", "host_denied"),
        ("GET", "https://nogate.example.com/", "host_denied"),
        ("GET", "https://api.example.com:22/", "host_denied"),
        ("GET", "https://localhost/", "host_denied"),
        ("GET", "https://x.internal/", "host_denied"),
        ("DELETE", "https://api.example.com/", "method_denied"),
        ("get", "https://api.example.com/", "method_denied"),
        ("CONNECT", "https://api.example.com/", "method_denied"),
        ("GET", "https://path.example.com/", "path_denied"),
        ("GET", "https://path.example.com/v10", "path_denied"),
        ("GET", "https://path.example.com/v1/../admin", "path_denied"),
        ("GET", "https://path.example.com/v1/..%2fadmin", "path_denied"),
        ("GET", "https://path.example.com/v1/%2E%2e/admin", "path_denied"),
        ("GET", "https://path.example.com/v1/%252e%252e/admin", "path_denied"),
        ("GET", "https://path.example.com/v1/..%5cadmin", "path_denied"),
        ("GET", "http://inside.example.com/", "invalid_url"),
        ("GET", "http://inside.example.com:8081/", "invalid_url"),
    ] {
        let got = authorize_egress(url, method, &policy).map_or_else(|refusal| refusal.code(), |_| "ok");
        assert_eq!(got, expected, "{method} {url:?}");
    }
}

/// However the parser repairs a URL, it is never sent with credentials.
#[test]
fn no_spelling_of_credentials_is_permitted() {
    let policy = policy();
    for scheme in ["https:", "HTTPS:", "https:/", "https://", "https:///", "https:////", "https:/\u{3000}/"] {
        for user in ["u:p@", "u@", ":p@", "@", "u:p%40@", "u%3Ap@", "a@b@"] {
            for rest in ["api.example.com/", "api.example.com/://x", "api.example.com?://"] {
                let url = format!("{scheme}{user}{rest}");
                if let Ok(permit) = authorize_egress(&url, "GET", &policy) {
                    panic!("{url} was permitted as {}", permit.url());
                }
            }
        }
    }
    let message = |url| authorize_egress(url, "GET", &policy).unwrap_err().to_string();
    assert!(
        message("data:text/plain,x").contains("must begin with https://"),
        "{}",
        message("data:text/plain,x")
    );
    assert!(message("nope").contains("is not absolute"), "{}", message("nope"));
}

/// Every spelling of a private address that a URL parser accepts.
#[test]
fn no_spelling_of_an_address_is_permitted() {
    let policy = policy();
    for host in [
        "127.0.0.1",
        "127.1",
        "127.0.1",
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "0177.0.0.1",
        "017700000001",
        "127.0.0.1.",
        "１２７.０.０.１",
        "127。0。0。1",
        "%31%32%37.0.0.1",
        "0",
        "0.0.0.0",
        "10.0.0.1",
        "169.254.169.254",
        "0xa9fea9fe",
        "2852039166",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[0:0:0:0:0:0:0:1]",
        "[fe80::1]",
        "[fd00:ec2::254]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "[fec0::1]",
        "[ff02::1]",
        "[::ffff:0:127.0.0.1]",
    ] {
        let refusal = authorize_egress(&format!("https://{host}/"), "GET", &policy).unwrap_err();
        assert_eq!(refusal.code, RefusalCode::PrivateAddress, "{host}: {refusal}");
    }
    for host in ["8.8.8.8", "134744072", "[2606:4700::1111]"] {
        let refusal = authorize_egress(&format!("https://{host}/"), "GET", &policy).unwrap_err();
        assert_eq!(refusal.code, RefusalCode::EgressDenied, "{host}");
    }
    for host in ["[fe80::1%25eth0]", "[::1", "256.256.256.256", "1.2.3.4.5", ""] {
        let refusal = authorize_egress(&format!("https://{host}/"), "GET", &policy).unwrap_err();
        assert_eq!(refusal.code, RefusalCode::InvalidUrl, "{host}");
    }
}

#[test]
fn a_redirect_is_decided_again_and_stays_at_its_origin() {
    let policy = policy();
    let permit = authorize_egress("https://path.example.com/v1/a", "GET", &policy).unwrap();
    for (location, expected) in [
        ("b", "ok"),
        ("/v1/b?c", "ok"),
        ("https://path.example.com/v1/", "ok"),
        ("/admin", "path_denied"),
        ("https://api.example.com/", "redirect_denied"),
        ("http://path.example.com/v1/", "redirect_denied"),
        ("//127.0.0.1/", "redirect_denied"),
        ("https://path.example.com:8443/v1/", "redirect_denied"),
        ("https://[", "redirect_denied"),
        ("https://u@path.example.com/v1/", "invalid_url"),
    ] {
        let got = permit.follow_redirect(location).map_or_else(|refusal| refusal.code(), |_| "ok");
        assert_eq!(got, expected, "{location}");
    }
}

#[test]
fn the_operators_exception_is_for_its_network_only() {
    let policy = policy();
    let permit = authorize_egress("http://inside.example.com:8080/", "GET", &policy).unwrap();
    assert!(permit.allows_address("10.0.0.7".parse().unwrap()));
    assert!(
        !permit.allows_address("10.0.1.7".parse().unwrap())
            && !permit.allows_address("8.8.8.8".parse().unwrap())
    );
    let outside = authorize_egress("https://api.example.com/", "GET", &policy).unwrap();
    assert!(
        outside.allows_address("8.8.8.8".parse().unwrap())
            && !outside.allows_address("10.0.0.7".parse().unwrap())
    );

    let metadata: AllowedHost = "meta.example.com:80=169.254.169.254".parse().unwrap();
    assert!(!metadata.allows_address("169.254.169.254".parse().unwrap()));
    let everything: AllowedHost = "all.example.com:80=0.0.0.0/0".parse().unwrap();
    assert!(!everything.allows_address("169.254.169.254".parse().unwrap()));
    for text in [
        "",
        "a.example",
        "a.example:80",
        "a.example=10.0.0.0/8",
        "localhost:80=127.0.0.1",
        "a.example:x=10.0.0.1",
    ] {
        assert!(text.parse::<AllowedHost>().is_err(), "{text}");
    }
}

#[test]
fn manifests_declare_hosts_and_paths() {
    for (text, prefix) in
        [("a.example", None), ("https://a.example/", None), ("https://a.example/v1/x/", Some("/v1/x"))]
    {
        assert_eq!(DeclaredEgress::parse(text).unwrap().path_prefix.as_deref(), prefix, "{text}");
    }
    for text in [
        "",
        "http://a.example",
        "https://a.example:8443",
        "https://a.example/?q",
        "https://127.0.0.1",
        "*.a.example",
        "https://u@a.example",
    ] {
        assert!(DeclaredEgress::parse(text).is_err(), "{text}");
    }
}

#[test]
fn a_method_passes_only_where_manifest_and_gate_name_it() {
    let declared = DeclaredEgress::for_host("api.example.com".parse().unwrap())
        .with_methods(vec![Method::Get, Method::Delete]);
    let policy = Arc::new(EgressPolicy { declared: vec![declared], ..(*policy()).clone() });
    for (method, expected) in [("GET", "ok"), ("POST", "method_denied"), ("DELETE", "method_denied")] {
        let decided = authorize_egress("https://api.example.com/", method, &policy);
        assert_eq!(decided.map_or_else(|refusal| refusal.code(), |_| "ok"), expected, "{method}");
    }
}

mod address_spellings;
