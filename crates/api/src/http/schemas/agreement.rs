//! Comparison of the structs that are described here with the types of the domains: they have the same fields, and they
//! read and refuse the same JSON.

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::serde_names::serde_names;

/// Compares a description with its type, by a value with every field.
fn check_struct<Described: DeserializeOwned, Type: DeserializeOwned>(full: &Value) {
    let name = std::any::type_name::<Type>();
    let fields = serde_names::<Type>();
    assert!(!fields.is_empty(), "{name} has no fields");
    assert_eq!(serde_names::<Described>(), fields, "fields of {name}");
    let sent: BTreeSet<&str> = full.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(sent, fields.iter().copied().collect(), "the value has every field of {name}");
    check_reading::<Described, Type>(full);
}

/// Compares what a description and its type read and refuse, by a value that both read.
fn check_reading<Described: DeserializeOwned, Type: DeserializeOwned>(valid: &Value) {
    let name = std::any::type_name::<Type>();
    let refusals = |value: &Value| {
        let described =
            serde_json::from_value::<Described>(value.clone()).err().map(|error| error.to_string());
        let real = serde_json::from_value::<Type>(value.clone()).err().map(|error| error.to_string());
        (described, real)
    };
    assert_eq!(refusals(valid), (None, None), "{name} from {valid}");
    for changed in mutations(valid) {
        let (described, real) = refusals(&changed);
        assert_eq!(
            described.is_some(),
            real.is_some(),
            "{name} from {changed}: described {described:?}, really {real:?}"
        );
    }
}

/// Returns the value with one member of it, at any depth, missing, null or unknown.
fn mutations(value: &Value) -> Vec<Value> {
    match value {
        Value::Object(members) => {
            let with = |name: &str, member: Value| {
                let mut changed = members.clone();
                changed.insert(name.to_owned(), member);
                Value::Object(changed)
            };
            let mut all = vec![with("unknown", json!(1))];
            for (name, member) in members {
                let others: Map<String, Value> =
                    members.clone().into_iter().filter(|(other, _)| other != name).collect();
                all.push(others.into());
                all.push(with(name, Value::Null));
                all.extend(mutations(member).into_iter().map(|changed| with(name, changed)));
            }
            all
        }
        Value::Array(items) => {
            let changed = |(at, item): (usize, &Value)| {
                mutations(item).into_iter().map(move |changed| {
                    let mut items = items.clone();
                    items[at] = changed;
                    Value::Array(items)
                })
            };
            items.iter().enumerate().flat_map(changed).collect()
        }
        _ => Vec::new(),
    }
}

#[test]
fn manifests_are_read_as_described() {
    use apps::manifest as real;

    use super::apps as described;

    let data = json!({"name": "orders", "projectId": "proj_01h455vb4pex5vsknk084sn02q", "access": "read",
        "tables": ["orders"]});
    let connector = json!({"name": "crm", "connectionId": "conn_01h455vb4pex5vsknk084sn02q", "methods": ["GET"],
        "paths": ["/orders"]});
    let secret = json!({"name": "KEY", "uses": ["deriveBits", "header"], "clear": true});
    let egress = json!({"host": "api.example.com", "methods": ["GET"], "headers": ["cookie"]});
    let ai = json!({"profile": "private", "monthlyBudgetUsd": 10, "models": ["small"]});
    let permissions =
        json!({"data": [data], "connectors": [connector], "secrets": [secret], "egress": [egress], "ai": ai});
    let triggers = [
        json!({"type": "schedule", "cron": "0 9 * * 1", "timezone": "Asia/Almaty"}),
        json!({"type": "webhook"}),
        json!({"type": "form"}),
        json!({"type": "manual"}),
        json!({"type": "event", "event": "order.paid"}),
    ];
    let sharing = json!({"default": "team"});
    let roi = json!({"manualMinutesPerRun": 5});
    let manifest = json!({"name": "Orders", "description": "Sends orders.", "archetype": "workshop", "category": "data",
        "permissions": permissions, "triggers": triggers, "sharing": sharing, "roi": roi});

    check_struct::<described::DataPermission, real::DataPermission>(&data);
    check_struct::<described::ConnectorPermission, real::ConnectorPermission>(&connector);
    check_struct::<described::SecretPermission, real::SecretPermission>(&secret);
    check_struct::<described::EgressPermission, real::EgressPermission>(&egress);
    check_struct::<described::AiPermission, real::AiPermission>(&ai);
    check_struct::<described::Permissions, real::Permissions>(&permissions);
    check_struct::<described::ManifestSharing, real::ManifestSharing>(&sharing);
    check_struct::<described::Roi, real::Roi>(&roi);
    check_struct::<described::Manifest, real::Manifest>(&manifest);
    for trigger in &triggers {
        check_reading::<described::ManifestTrigger, real::ManifestTrigger>(trigger);
    }
}

#[test]
fn identity_providers_are_read_as_described() {
    use projects::identity_provider as real;

    use super::projects as described;

    let key = json!({"kty": "EC", "kid": "1", "alg": "ES256", "use": "sig", "key_ops": ["verify"], "crv": "P-256", "n": "AQAB", "e": "AQAB",
        "x": "AQAB", "y": "AQAB", "k": "AQAB", "d": "AQAB"});
    let provider = json!({"issuer": "https://id.example", "audience": "shop", "roleClaim": "role", "claims": {"org": "a.b"}, "keys": [key]});
    // A set may have other keys and other values, which are left out.
    check_struct::<described::JsonWebKey, real::JsonWebKey>(&key);
    check_struct::<described::NewIdentityProvider, real::NewIdentityProvider>(&provider);
}

#[test]
fn tables_are_read_as_described() {
    use backend_data as real;

    use super::backend_data as described;

    let new_column = json!({"name": "qty", "type": "integer", "nullable": false, "default": 1});
    let index = json!({"name": "ix1", "columns": ["qty"], "unique": true});
    let new_index = json!({"columns": ["qty"], "unique": true});
    let new_table =
        json!({"name": "orders", "columns": [new_column], "publicRead": true, "confirmPublic": "orders"});
    check_struct::<described::NewColumn, real::NewColumn>(&new_column);
    check_struct::<described::Index, real::Index>(&index);
    check_struct::<described::NewIndex, real::NewIndex>(&new_index);
    check_struct::<described::NewTable, real::NewTable>(&new_table);
}

#[test]
fn rules_are_read_as_described() {
    use backend_data::rule as real;

    use super::backend_data as described;

    let compared = |value: Value| json!({"t": "cmp", "column": "owner", "op": "eq", "value": value});
    let conditions = [
        json!({"t": "all"}),
        compared(json!({"k": "me"})),
        compared(json!({"k": "claim", "name": "team"})),
        compared(json!({"k": "lit", "v": "ann"})),
        compared(json!({"k": "lit", "v": true})),
        compared(json!({"k": "lit", "v": 1.5})),
        json!({"t": "in", "column": "owner", "values": ["ann", 1, false]}),
        json!({"t": "null", "column": "owner", "isNull": true}),
        json!({"t": "and", "of": [{"t": "all"}, {"t": "null", "column": "owner", "isNull": false}]}),
        json!({"t": "or", "of": [{"t": "all"}, {"t": "and", "of": []}]}),
    ];
    let audiences = [
        json!({"kind": "anyone"}),
        json!({"kind": "visitors"}),
        json!({"kind": "signed_in"}),
        json!({"kind": "role", "role": "editor"}),
    ];
    for condition in &conditions {
        for audience in &audiences {
            check_struct::<described::Rule, real::Rule>(
                &json!({"id": "own", "audience": audience, "actions": ["read"],
                "where": condition, "columns": ["owner"], "migrated": true, "sentence": ""}),
            );
        }
    }
}

#[test]
fn agent_feeds_are_read_as_described() {
    use application::feeds as real;

    use super::application as described;

    let event = json!({"seq": 1, "at": "2026-01-01T00:00:00.000Z", "kind": "alert", "alert": "blocked_call",
        "appId": "app_01h455vb4pex5vsknk084sn02q", "appName": "Orders", "runId": "run_01h455vb4pex5vsknk084sn02q",
        "approvalId": "apv_01h455vb4pex5vsknk084sn02q", "connectionId": "conn_01h455vb4pex5vsknk084sn02q", "code": "host_denied", "askedByAgent": false});
    let feed = json!({"items": [event], "cursor": 1, "gap": false});
    check_struct::<described::AgentEvent, real::AgentEvent>(&event);
    check_struct::<described::AgentFeed, real::AgentFeed>(&feed);
}

#[test]
fn connections_are_read_as_described() {
    use connections::{AuthInput, connection};

    use super::connections as described;

    check_struct::<described::ExtraHeader, connection::ExtraHeader>(
        &json!({"name": "accept", "value": "*/*"}),
    );
    let url = "https://auth.example.com/token";
    for auth in [
        json!({"type": "none"}),
        json!({"type": "bearer", "prefix": "Token"}),
        json!({"type": "basic", "username": "qala"}),
        json!({"type": "api_key", "in": "query", "name": "key", "prefix": "k"}),
        json!({"type": "headers", "names": ["x-key"]}),
        json!({"type": "path_token"}),
        json!({"type": "service_account", "tokenUrl": url, "scopes": ["a"], "audience": "b", "subject": "c"}),
        json!({"type": "oauth2_client_credentials", "tokenUrl": url, "clientId": "a", "scopes": [], "style": "body"}),
        json!({"type": "url"}),
        json!({"type": "oauth2_code"}),
    ] {
        check_reading::<described::ConnectionAuth, AuthInput>(&auth);
    }
}
