//! Tests of whole analyses.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

mod requests;

fn analyze_in(source: &Value, broken: &BTreeMap<String, String>) -> Analysis {
    let is_schedule = |cron: &str, timezone: &str| cron.split(' ').count() == 5 && timezone != "Nowhere";
    let surroundings =
        Surroundings { locale: Locale::En, timezone: "UTC", is_schedule: &is_schedule, broken };
    analyze(&source.to_string(), &surroundings).unwrap()
}

fn analysis(source: &Value) -> Analysis {
    analyze_in(source, &BTreeMap::new())
}

fn node(name: &str, kind: &str, parameters: Value) -> Value {
    let kind = if kind.contains('.') { kind.to_owned() } else { format!("n8n-nodes-base.{kind}") };
    let mut node = json!({"id": name, "name": name, "type": kind, "typeVersion": 3});
    node["parameters"] = parameters;
    node
}

fn chain(nodes: &[Value]) -> Value {
    let names: Vec<&str> = nodes.iter().map(|node| node["name"].as_str().unwrap()).collect();
    let mut connections = json!({});
    for pair in names.windows(2) {
        connections[pair[0]] = json!({"main": [[{"node": pair[1], "type": "main", "index": 0}]]});
    }
    json!({"name": "Test", "nodes": nodes, "connections": connections})
}

fn item<'a>(analysis: &'a Analysis, name: &str) -> &'a ReportItem {
    analysis.report.items.iter().find(|item| item.name == name).unwrap()
}

#[test]
fn steps_run_after_what_leads_to_them_and_loops_once() {
    let mut source = chain(&[
        node("Start", "manualTrigger", json!({})),
        node("Loop", "splitInBatches", json!({})),
        node("Body", "noOp", json!({})),
    ]);
    source["nodes"].as_array_mut().unwrap().insert(0, node("After", "set", json!({})));
    source["connections"]["Loop"] = json!({"main": [[{"node": "After"}], [{"node": "Body"}]]});
    source["connections"]["Body"] = json!({"main": [[{"node": "Loop"}]]});
    let analysis = analysis(&source);
    let names: Vec<&str> = analysis.report.items.iter().map(|item| item.name.as_str()).collect();
    assert_eq!(names, ["Start", "Loop", "Body", "After"]);
    let main = &analysis.files["main.js"];
    assert!(main.contains("name: 'After', run: after, from: [['Body', 0, 0]]"), "{main}");
    assert!(!item(&analysis, "Loop").sentence.contains("leads back"));
}

#[test]
fn a_cycle_is_cut_where_something_reached_it() {
    let mut source = chain(&[
        node("Start", "manualTrigger", json!({})),
        node("A", "set", json!({})),
        node("B", "set", json!({})),
    ]);
    source["connections"]["B"] = json!({"main": [[{"node": "A"}, {"node": "B"}]]});
    let analysis = analysis(&source);
    assert!(analysis.files["main.js"].contains("name: 'A', run: a, from: [['Start', 0, 0]]"));
    assert_eq!(item(&analysis, "A").grade, Grade::Partial);
}

#[test]
fn the_first_trigger_that_can_be_kept_starts_the_workflow() {
    let source = json!({"connections": {}, "nodes": [
        node("Mail", "gmailTrigger", json!({})), node("By hand", "manualTrigger", json!({})),
        node("Late", "scheduleTrigger", json!({"rule": {"interval": [{"field": "cronExpression", "expression": "*/5 * * *"}]}})),
        node("Hook", "webhook", json!({"httpMethod": "POST"})), node("Form", "formTrigger", json!({})),
    ]});
    let analysis = analysis(&source);
    assert_eq!(analysis.report.trigger.item_id.as_deref(), Some("Hook"));
    let grades: Vec<(&str, Grade)> =
        analysis.report.items.iter().map(|item| (item.name.as_str(), item.grade)).collect();
    let expected = [
        ("Mail", Grade::Unsupported),
        ("By hand", Grade::Exact),
        ("Late", Grade::Unsupported),
        ("Hook", Grade::Exact),
        ("Form", Grade::Unsupported),
    ];
    assert_eq!(grades, expected);

    // A trigger that is not kept still gives what a person starts it with, if it is the only one.
    let analysis =
        self::analysis(&json!({"connections": {}, "nodes": [node("Mail", "gmailTrigger", json!({}))]}));
    assert_eq!(
        (analysis.report.trigger.kind, analysis.report.trigger.item_id.as_deref()),
        (TriggerKind::Manual, Some("Mail"))
    );
    assert!(analysis.files["main.js"].contains("start: 'main'"));
}

#[test]
fn an_unknown_type_with_a_credential_is_not_kept_and_needs_no_connection() {
    let mut unknown = node("Odd", "@acme/n8n-nodes-odd.odd", json!({}));
    let plain = item(&analysis(&chain(&[unknown.clone()])), "Odd").clone();
    assert_eq!((plain.grade, plain.needs_connection), (Grade::Unsupported, false));
    unknown["credentials"] = json!({"oddApi": {"id": "1", "name": "Odd account"}});
    let analysis = analysis(&chain(&[unknown]));
    let found = item(&analysis, "Odd");
    assert_eq!((found.grade, found.needs_connection), (Grade::Unsupported, false));
    assert!(analysis.report.connections.is_empty());
    assert!(analysis.files["main.js"].contains("throw notWritten('Odd');"));
}

/// A request with a credential of its own.
fn calling(index: usize, credential: &str) -> Value {
    let parameters = json!({"url": "https://api.example.com/x", "authentication": "predefinedCredentialType", "nodeCredentialType": "oddApi"});
    let mut node = node(&format!("S{index}"), "httpRequest", parameters);
    node["credentials"] = json!({"oddApi": {"id": index.to_string(), "name": credential}});
    node
}

#[test]
fn the_limits_are_told_with_the_number() {
    let nodes = |count: usize, make: &dyn Fn(usize) -> Value| json!({"nodes": (0..count).map(make).collect::<Vec<_>>(), "connections": {}});
    let credentials = |index: usize| calling(index, &format!("A{index}"));
    for (source, number) in [
        (nodes(261, &|index| node(&format!("S{index}"), "set", json!({}))), "261"),
        (nodes(13, &credentials), "13"),
        (
            nodes(41, &|index| {
                node(
                    &format!("S{index}"),
                    "set",
                    json!({"x": format!("{}{index:02}", "sk-live-a1B2c3D4e5F6g7H8")}),
                )
            }),
            "41",
        ),
        (json!({"nodes": [node("N", "stickyNote", json!({}))], "connections": {}}), "no steps"),
    ] {
        let report = analysis(&source).report;
        assert!(!report.can_create && report.warnings[0].contains(number), "{:?}", report.warnings);
    }
    assert!(analysis(&nodes(260, &|index| node(&format!("S{index}"), "set", json!({})))).report.can_create);
    assert!(analysis(&nodes(12, &credentials)).report.can_create);
}

#[test]
fn hostile_graphs_take_little_time() {
    let names: Vec<String> = (0..260).map(|index| format!("S{index}")).collect();
    let nodes: Vec<Value> = names.iter().map(|name| node(name, "splitInBatches", json!({}))).collect();
    let all: Vec<Value> = names.iter().take(30).map(|name| json!({"node": name})).collect();
    let connections: serde_json::Map<String, Value> =
        names.iter().map(|name| (name.clone(), json!({"main": [all, all]}))).collect();
    let report = analysis(&json!({"nodes": nodes, "connections": connections})).report;
    assert_eq!(report.items.len(), 260);
    // More nodes than are read, and links to what is not there.
    let many: Vec<Value> = (0..12_000).map(|index| json!({"type": "a", "name": index.to_string()})).collect();
    assert!(
        !analysis(&json!({"nodes": many, "connections": {"x": {"main": [[{"node": "y"}]]}}}))
            .report
            .can_create
    );
}

#[test]
fn code_that_does_not_compile_is_replaced() {
    let source = chain(&[
        node("Start", "manualTrigger", json!({})),
        node("Half", "code", json!({"jsCode": "const half ="})),
    ]);
    let before = analysis(&source);
    assert_eq!(before.code_files, BTreeSet::from(["code/half.js".to_owned()]));
    let broken = BTreeMap::from([("code/half.js".to_owned(), "code/half.js:3:1: SyntaxError".to_owned())]);
    let after = analyze_in(&source, &broken);
    assert!(after.code_files.is_empty() && !after.files.contains_key("code/half.js"));
    assert_eq!(item(&after, "Half").grade, Grade::Unsupported);
    assert!(item(&after, "Half").sentence.contains("SyntaxError"));
    assert_eq!(after.files["code/half.txt"], "const half =");
    assert!(after.files["main.js"].contains("// The code as it was written: code/half.txt"));
}

#[test]
fn a_secret_in_a_header_becomes_a_connection() {
    let token = "a1B2c3D4e5F6g7H8i9J0";
    let headers = json!({"parameters": [{"name": "X-Api-Key", "value": token}, {"name": "Accept", "value": "text/plain"}]});
    let request = node(
        "Call",
        "httpRequest",
        json!({"url": "https://api.example.com/a", "sendHeaders": true, "headerParameters": headers}),
    );
    let analysis = analysis(&chain(&[node("Start", "manualTrigger", json!({})), request]));
    let everything = format!("{:?}{:?}", analysis.report, analysis.files);
    assert!(!everything.contains(token), "{everything}");
    assert_eq!(analysis.report.connections[0].base_url.as_deref(), Some("https://api.example.com"));
    assert!(analysis.files["main.js"].contains("headers: { Accept: 'text/plain' }"));
    assert_eq!(analysis.report.secrets[0].item_id.as_deref(), Some("Call"));
    assert_eq!(analysis.hosts, BTreeMap::new());
}

#[test]
fn names_of_connections_fit_a_manifest() {
    let nodes: Vec<Value> =
        (0..3).map(|index| calling(index, &format!("1{}", "Long name of a credential ".repeat(4)))).collect();
    let report = analysis(&json!({"nodes": nodes, "connections": {}})).report;
    let keys: BTreeSet<&str> = report.connections.iter().map(|connection| connection.key.as_str()).collect();
    assert_eq!(keys.len(), 3);
    for key in keys {
        assert!(key.len() <= 40 && javascript::is_name(key), "{key}");
    }
}

#[test]
fn what_is_the_same_for_all_items_is_that_of_the_first() {
    let limit = node("Some", "limit", json!({"maxItems": "={{ $json.most + $itemIndex }}"}));
    let analysis = analysis(&chain(&[node("Start", "manualTrigger", json!({})), limit]));
    let main = &analysis.files["main.js"];
    assert!(
        main.contains(
            "  const [item] = items;\n  const index = 0;\n  return [items.slice(0, item.json.most + index)];"
        ),
        "{main}"
    );
}

/// Any JSON, with the members that the formats have.
fn json_like() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[ -~]{0,12}".prop_map(Value::from),
        "=\\{\\{ [$a-z.()'\\[\\]{}+`?:,>=-]{0,16} \\}\\}".prop_map(Value::from),
        "\\{\\{[0-9a-z.();+`\"]{0,12}\\}\\}".prop_map(Value::from),
        prop_oneof![
            Just("n8n-nodes-base.set"),
            Just("n8n-nodes-base.if"),
            Just("n8n-nodes-base.httpRequest"),
            Just("http:MakeRequest"),
            Just("inject"),
            Just("change")
        ]
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        let name = prop_oneof![
            Just("nodes"),
            Just("connections"),
            Just("name"),
            Just("type"),
            Just("parameters"),
            Just("main"),
            Just("node"),
            Just("value"),
            Just("conditions"),
            Just("flow"),
            Just("module"),
            Just("mapper"),
            Just("routes"),
            Just("id"),
            Just("wires"),
            Just("rules"),
            Just("url"),
            Just("__proto__"),
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((name, inner), 0..6).prop_map(|members| Value::Object(
                members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
            )),
        ]
    })
}

proptest! {
    #[test]
    fn no_export_makes_the_analysis_fail(nodes in prop::collection::vec(json_like(), 0..6), connections in json_like(), wraps in 0usize..3) {
        let source = match wraps {
            0 => json!({"nodes": nodes, "connections": connections}),
            1 => json!({"name": "x", "flow": nodes}),
            _ => Value::from(nodes),
        };
        let is_schedule = |_: &str, _: &str| true;
        let surroundings = Surroundings { locale: Locale::Kk, timezone: "UTC", is_schedule: &is_schedule, broken: &BTreeMap::new() };
        if let Ok(analysis) = analyze(&source.to_string(), &surroundings) {
            let Totals { steps, exact, partial, unsupported, ignored, .. } = analysis.report.totals;
            prop_assert_eq!(steps, exact + partial + unsupported + ignored);
            prop_assert!(analysis.files.contains_key("main.js"));
        }
    }
}

#[test]
fn a_method_that_no_request_has_is_no_code() {
    for method in ["'+MARK1()+'", "'", "TRACE", "GET\n", "get "] {
        let flow = json!([
            {"id": "a", "type": "inject", "z": "t", "wires": [["b"]]},
            {"id": "b", "name": "Call", "type": "http request", "z": "t", "method": method, "url": "https://example.com", "wires": []},
        ]);
        let analysis = analysis(&flow);
        assert_eq!(item(&analysis, "Call").grade, Grade::Unsupported, "{method}");
        assert!(!analysis.files["main.js"].contains("MARK1"), "{method}");
    }
}

fn versioned(name: &str, kind: &str, version: f64, parameters: Value) -> Value {
    let mut node = node(name, kind, parameters);
    node["typeVersion"] = json!(version);
    node
}

/// Analyses a step after a start by a person.
fn step(kind: &str, version: f64, parameters: Value) -> Analysis {
    analysis(&chain(&[
        node("Start", "manualTrigger", json!({})),
        versioned("Step", kind, version, parameters),
    ]))
}

/// Steps that are exact, each with a setting of every place that one may be added to.
#[test]
fn a_setting_that_is_not_read_lowers_the_grade_and_is_named() {
    let value = json!({"leftValue": "={{ $json.a }}", "rightValue": "x", "operator": {"type": "string", "operation": "equals"}});
    let conditions = json!({"conditions": {"combinator": "and", "conditions": [value]}});
    let exact = [
        (
            "set",
            3.4,
            json!({"assignments": {"assignments": [{"id": "1", "name": "a", "type": "string", "value": "x"}]}}),
        ),
        ("set", 2.0, json!({"values": {"string": [{"name": "a", "value": "x"}]}})),
        ("splitOut", 1.0, json!({"fieldToSplitOut": "rows"})),
        ("aggregate", 1.0, json!({"fieldsToAggregate": {"fieldToAggregate": [{"fieldToAggregate": "a"}]}})),
        ("limit", 1.0, json!({"maxItems": 3})),
        ("sort", 1.0, json!({"sortFieldsUi": {"sortField": [{"fieldName": "a"}]}})),
        ("removeDuplicates", 2.0, json!({})),
        ("renameKeys", 1.0, json!({"keys": {"key": [{"currentKey": "a", "newKey": "b"}]}})),
        (
            "summarize",
            1.0,
            json!({"fieldsToSummarize": {"values": [{"field": "a"}]}, "fieldsToSplitBy": "b"}),
        ),
        ("dateTime", 2.0, json!({"operation": "formatDate", "date": "={{ $json.at }}"})),
        ("if", 2.0, conditions.clone()),
        ("filter", 2.0, conditions),
        ("switch", 3.0, json!({"rules": {"values": []}})),
        ("stopAndError", 1.0, json!({"errorMessage": "no"})),
        ("httpRequest", 4.2, json!({"url": "https://example.com/x"})),
    ];
    for (kind, version, parameters) in exact {
        let grade = |parameters: &Value| {
            let analysis = step(kind, version, parameters.clone());
            (item(&analysis, "Step").grade, item(&analysis, "Step").sentence.clone())
        };
        assert_eq!(grade(&parameters), (Grade::Exact, "Kept as it is.".to_owned()), "{kind}");
        for (name, place) in [("notKnown", "/notKnown"), ("options.notKnown", "/options")] {
            let mut changed = parameters.clone();
            match place {
                "/options" => changed["options"] = json!({"notKnown": true}),
                _ => changed["notKnown"] = json!("value"),
            }
            let (grade, sentence) = grade(&changed);
            assert_eq!(grade, Grade::Partial, "{kind} with {name}");
            assert!(sentence.contains(&format!("Settings that are not kept: {name}.")), "{kind}: {sentence}");
        }
    }
    // What people set most often is read, or changes nothing.
    let often = [
        (
            "httpRequest",
            4.2,
            json!({"method": "POST", "url": "https://example.com/x", "sendHeaders": true, "headerParameters": {"parameters": [{"name": "Accept", "value": "text/plain"}]}, "sendQuery": true, "queryParameters": {"parameters": [{"name": "a", "value": "b"}]}, "sendBody": true, "bodyParameters": {"parameters": [{"name": "c", "value": "={{ $json.d }}"}]}, "options": {}}),
        ),
        (
            "httpRequest",
            4.2,
            json!({"method": "POST", "url": "https://example.com/x", "sendBody": true, "specifyBody": "json", "jsonBody": "={\"a\": 1}", "options": {}}),
        ),
        (
            "set",
            3.4,
            json!({"mode": "manual", "assignments": {"assignments": []}, "includeOtherFields": true, "options": {}}),
        ),
        ("set", 3.4, json!({"mode": "raw", "jsonOutput": "{}", "options": {}})),
        (
            "switch",
            3.2,
            json!({"rules": {"values": [{"outputKey": "a", "renameOutput": true, "conditions": {"conditions": []}}]}, "options": {"renameFallbackOutput": "rest", "fallbackOutput": "extra"}}),
        ),
        ("limit", 1.0, json!({"maxItems": 3, "keep": "lastItems"})),
        (
            "dateTime",
            1.0,
            json!({"value": "={{ $json.at }}", "custom": true, "toFormat": "YYYY", "options": {}}),
        ),
    ];
    for (kind, version, parameters) in often {
        let analysis = step(kind, version, parameters);
        assert_eq!(item(&analysis, "Step").sentence, "Kept as it is.", "{kind}");
    }
    // Entries of lists have members of their own, and what is as if it were absent says nothing.
    let entry = json!({"fieldsToSummarize": {"values": [{"field": "a", "includeEmpty": true}]}, "options": {"outputFormat": ""}});
    let summarize = step("summarize", 1.0, entry);
    assert!(item(&summarize, "Step").sentence.contains("fieldsToSummarize.includeEmpty"));
    assert!(!item(&summarize, "Step").sentence.contains("outputFormat"));
}

#[test]
fn defaults_that_an_export_leaves_out_are_those_of_the_tool() {
    let main = |kind: &str, version: f64, parameters: Value| {
        step(kind, version, parameters).files["main.js"].clone()
    };
    let named = main("set", 1.0, json!({"values": {"string": [{"value": "x"}]}}));
    assert!(named.contains("set(json, 'propertyName', 'x');"), "{named}");
    let date = json!({"operation": "formatDate", "date": "={{ $json.at }}"});
    assert!(main("dateTime", 2.0, date.clone()).contains("const json = {};"));
    let mut kept = date;
    kept["options"] = json!({"includeInputFields": true});
    assert!(main("dateTime", 2.0, kept).contains("const json = { ...item.json };"));
    let list = json!({"fieldsToSummarize": {"values": [{"field": "a", "aggregation": "concatenate", "customSeparator": "={{ ' / ' }}"}]}});
    let list = main("summarize", 1.0, list);
    assert!(list.contains("' / '") && !list.contains("{{"), "{list}");
}

#[test]
fn what_no_address_does_is_said_at_the_trigger() {
    let sentence = |kind: &str, parameters: Value| {
        let analysis = analysis(&chain(&[versioned("Start", kind, 2.0, parameters)]));
        let start = item(&analysis, "Start");
        (start.grade, start.sentence.clone())
    };
    assert_eq!(sentence("webhook", json!({"path": "x", "httpMethod": "POST"})).0, Grade::Exact);
    for (parameters, expected) in [
        (json!({}), "POST requests only"),
        (json!({"httpMethod": "POST", "responseMode": "responseNode"}), "is not sent"),
        (json!({"httpMethod": "POST", "authentication": "headerAuth"}), "“authentication”"),
        (json!({"httpMethod": "POST", "options": {"ipWhitelist": "10.0.0.1"}}), "“ipWhitelist”"),
    ] {
        let (grade, sentence) = sentence("webhook", parameters);
        assert!(grade == Grade::Partial && sentence.contains(expected), "{sentence}");
    }
    let (grade, form) = sentence("formTrigger", json!({"formTitle": "Order"}));
    assert!(grade == Grade::Partial && form.contains("no page"), "{form}");
    assert!(sentence("executeWorkflowTrigger", json!({})).1.contains("Another workflow called it"));
}

#[test]
fn connections_are_asked_for_where_code_uses_them() {
    let mut database = node("Query", "postgres", json!({"operation": "executeQuery", "query": "SELECT 1"}));
    database["credentials"] = json!({"postgres": {"id": "1", "name": "Shop"}});
    let analysis = analysis(&chain(&[node("Start", "manualTrigger", json!({})), database]));
    assert_eq!(item(&analysis, "Query").grade, Grade::Unsupported);
    assert!(analysis.report.connections.is_empty() && !item(&analysis, "Query").needs_connection);
}

#[test]
fn other_workflows_and_unknown_zones_are_named() {
    let one = |name: &str| {
        let mut source = chain(&[node("Start", "manualTrigger", json!({})), node("End", "noOp", json!({}))]);
        source["name"] = json!(name);
        source
    };
    let list = analysis(&json!([one("Alpha"), one("Beta"), one("Gamma")]));
    assert_eq!(list.report.name, "Alpha");
    assert!(list.report.warnings[0].contains("Not imported (2): Beta, Gamma."), "{:?}", list.report.warnings);
    let rule = json!({"rule": {"interval": [{"field": "cronExpression", "expression": "@daily"}]}});
    let mut source = chain(&[versioned("Start", "scheduleTrigger", 1.2, rule)]);
    assert_eq!(item(&analysis(&source), "Start").grade, Grade::Exact);
    source["settings"] = json!({"timezone": "Nowhere"});
    let unknown = analysis(&source);
    assert_eq!(item(&unknown, "Start").grade, Grade::Partial);
    let sentence = "The time zone “Nowhere” is not known; UTC is used.";
    assert!(item(&unknown, "Start").sentence.contains(sentence));
    assert!(unknown.report.warnings.contains(&sentence.to_owned()));
}

#[test]
fn names_that_code_sets_are_declared_for_it() {
    let code = "total = 0; for (const i of $input.all()) total += 1; return [{json: {total}}]";
    let analysis = step("code", 2.0, json!({"jsCode": code}));
    assert!(item(&analysis, "Step").sentence.contains("are declared for it: total."));
    let module = &analysis.files["code/step.js"];
    assert!(module.contains("{ let total; return (async () => {\n"), "{module}");
}

#[test]
fn a_record_is_written_by_its_columns_or_of_the_whole_item() {
    let append = |name: &str, version: f64, parameters: Value| {
        let mut node = node(name, "googleSheets", parameters);
        node["typeVersion"] = json!(version);
        node["parameters"]["operation"] = json!("append");
        node["credentials"] = json!({"googleSheetsOAuth2Api": {"id": "1", "name": "Sheets"}});
        node
    };
    let analysis = analysis(&chain(&[
        node("Start", "manualTrigger", json!({})),
        append(
            "Columns",
            4.5,
            json!({"columns": {"mappingMode": "defineBelow", "value": {"Name": "={{ $json.n }}"}, "schema": [{"id": "Name"}]}}),
        ),
        append(
            "Auto",
            4.5,
            json!({"columns": {"mappingMode": "autoMapInputData", "value": {}, "matchingColumns": ["id"]}}),
        ),
        append(
            "Fields",
            3.0,
            json!({"fieldsUi": {"fieldValues": [{"fieldId": "Name", "fieldValue": "={{ $json.n }}"}]}}),
        ),
        append("Nothing", 2.0, json!({})),
    ]));
    let main = &analysis.files["main.js"];
    for code in ["=> ({ Name: ", "=> (item.json)", "=> (fieldsOf("] {
        assert!(main.contains(code), "{code}: {main}");
    }
    for name in ["Columns", "Auto", "Fields", "Nothing"] {
        assert!(!item(&analysis, name).sentence.contains("columns"), "{}", item(&analysis, name).sentence);
    }
}
