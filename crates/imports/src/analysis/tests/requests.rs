//! Requests of steps and their headers.

use serde_json::{Value, json};

use super::{analysis, chain, item, node};
use crate::Grade;

#[test]
fn a_header_with_credentials_is_asked_for_and_one_of_the_gate_is_left_out() {
    let request = |name: &str, parameters: Value| {
        let mut parameters = parameters;
        parameters["sendHeaders"] = json!(true);
        node(name, "httpRequest", parameters)
    };
    let listed = |url: &str, pairs: &[(&str, &str)]| {
        let pairs: Vec<Value> =
            pairs.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
        json!({"url": url, "headerParameters": {"parameters": pairs}})
    };
    let analysis = analysis(&chain(&[
        node("Start", "manualTrigger", json!({})),
        request(
            "List",
            listed("https://api.example.com/list", &[("Authorization", "=Bearer {{ $json.token }}")]),
        ),
        request(
            "Session",
            listed(
                "https://b.example.com",
                &[("cookie", "={{ $json.cookie }}"), ("Host", "b.example.com"), ("X-Own", "1")],
            ),
        ),
        request(
            "Text",
            json!({"url": "https://c.example.com", "specifyHeaders": "json", "jsonHeaders": "={\"authorization\": \"{{ $json.token }}\"}"}),
        ),
        request(
            "Connected text",
            json!({
                "url": "https://e.example.com", "authentication": "genericCredentialType", "genericAuthType": "httpHeaderAuth",
                "specifyHeaders": "json", "jsonHeaders": "={\"Authorization\": \"{{ $json.token }}\"}",
            }),
        ),
        request(
            "Literal text",
            json!({
                "url": "https://d.example.com", "specifyHeaders": "json",
                "jsonHeaders": "{\"Host\": \"d\", \"X-Literal\": \"2\"}",
            }),
        ),
        request(
            "Secret text",
            json!({
                "url": "https://f.example.com", "specifyHeaders": "json",
                "jsonHeaders": "{\"Authorization\": \"Bearer sk_live_4eC39HqLyjWDarjtT1zdp7dc\", \"X-Kept\": \"3\"}",
            }),
        ),
        request("Anywhere", listed("={{ $json.url }}", &[("Authorization", "={{ $json.token }}")])),
        request("Plain", listed("https://d.example.com", &[("X-Authorization-Id", "1"), ("Accept", "a/b")])),
        request(
            "Body",
            json!({"url": "https://d.example.com", "sendBody": true, "specifyBody": "json", "jsonBody": "{}"}),
        ),
        request(
            "Connected",
            json!({
                "url": "https://e.example.com", "authentication": "genericCredentialType", "genericAuthType": "httpHeaderAuth",
                "headerParameters": {"parameters": [{"name": "Authorization", "value": "={{ $json.token }}"}]},
            }),
        ),
    ]));
    let needs: Vec<(&str, &str, &str)> = analysis
        .headers
        .iter()
        .map(|need| (need.step.as_str(), need.host.as_str(), need.header.as_str()))
        .collect();
    assert_eq!(
        needs,
        [
            ("List", "api.example.com", "authorization"),
            ("Session", "b.example.com", "cookie"),
            ("Text", "c.example.com", "authorization"),
        ]
    );
    assert_eq!(item(&analysis, "List").grade, Grade::Exact);
    assert_eq!(
        item(&analysis, "List").sentence,
        "Kept as it is. Sends the header authorization to api.example.com itself, which an admin has to agree to."
    );
    for (name, sentence) in [
        ("Session", "Headers that are not sent, because only the gate sets them: Host."),
        ("Anywhere", "Let the app set the header authorization for this host."),
        ("Body", "A GET request has no body here; this one is not sent."),
        ("Connected", "Headers that are not sent, because only the gate sets them: Authorization."),
        ("Connected text", "Headers that are not sent, because only the gate sets them: authorization."),
        ("Literal text", "Headers that are not sent, because only the gate sets them: Host."),
    ] {
        let found = item(&analysis, name);
        assert_eq!(found.grade, Grade::Partial, "{name}");
        assert!(found.sentence.contains(sentence), "{name}: {}", found.sentence);
    }
    assert_eq!(item(&analysis, "Plain").grade, Grade::Exact);
    let main = &analysis.files["main.js"];
    assert!(!main.contains("Host: '") && main.contains("'X-Own': '1'"), "{main}");
    assert!(!main.contains(r#""Host""#) && main.contains("'X-Literal': '2'"), "{main}");
    assert!(!main.contains("sk_live") && main.contains("headers: { 'X-Kept': '3' }"), "{main}");
}

#[test]
fn headers_with_credentials_of_other_tools_are_asked_for() {
    let make = json!({"name": "Make", "flow": [
        {"id": 1, "module": "http:ActionSendData", "version": 3, "mapper": {
            "url": "https://a.example.com", "method": "post",
            "headers": [{"name": "Authorization", "value": "Bearer {{1.token}}"}, {"name": "Content-Length", "value": "3"}],
        }},
    ], "metadata": {"version": 1}});
    let red = json!([
        {"id": "t", "type": "tab", "label": "Red"},
        {"id": "i", "z": "t", "type": "inject", "wires": [["f"]]},
        {"id": "f", "z": "t", "type": "function", "func": "msg.headers = { Authorization: 'Bearer ' + msg.token }; return msg;", "wires": [["h"]]},
        {"id": "h", "z": "t", "type": "http request", "method": "GET", "url": "https://a.example.com/x", "wires": [[]]},
    ]);
    for source in [make, red] {
        let analysis = analysis(&source);
        let needs: Vec<(&str, &str)> =
            analysis.headers.iter().map(|need| (need.host.as_str(), need.header.as_str())).collect();
        assert_eq!(needs, [("a.example.com", "authorization")], "{source}");
    }
}
