//! Steps that are kept as they are, and what they give.

use serde_json::{Value, json};

/// A step and what it gives for [`rows`]; all its outputs are collected by the first.
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) kind: &'static str,
    pub(super) version: f64,
    pub(super) parameters: Value,
    pub(super) gives: Value,
}

/// The items that every step gets.
pub(super) fn rows() -> Value {
    json!([
        {"name": "Tea", "price": 3, "tags": ["hot", "leaf"], "at": "2026-03-01T10:00:00.000Z", "maker": {"city": "Almaty"}},
        {"name": "jam", "price": 7, "tags": [], "at": "2026-03-02T10:00:00.000Z", "maker": {"city": "Astana"}},
        {"name": "Bun", "price": 3, "tags": ["hot"], "at": "2026-03-03T10:00:00.000Z", "maker": {"city": "Almaty"}},
    ])
}

fn case(name: &'static str, kind: &'static str, version: f64, parameters: Value, gives: Value) -> Case {
    Case { name, kind, version, parameters, gives }
}

/// A `set` with one expression, and the values that it gives.
fn expression(name: &'static str, source: &str, gives: [Value; 3]) -> Case {
    let values = json!({"string": [{"name": "x", "value": format!("={{{{ {source} }}}}")}]});
    let gives = gives
        .into_iter()
        .map(|value| if value.is_null() { json!({}) } else { json!({"x": value}) })
        .collect();
    case(name, "set", 2.0, json!({"keepOnlySet": true, "values": values}), gives)
}

fn condition(left: &str, kind: &str, operation: &str, right: Value) -> Value {
    let left = format!("={{{{ $json.{left} }}}}");
    let mut condition = json!({"leftValue": left, "operator": {"type": kind, "operation": operation, "singleValue": operation == "notEmpty"}});
    condition["rightValue"] = right;
    json!({"options": {"caseSensitive": true, "typeValidation": "strict"}, "combinator": "and", "conditions": [condition]})
}

fn names(indices: &[usize]) -> Value {
    indices.iter().map(|index| rows()[*index].clone()).collect()
}

pub(super) fn cases() -> Vec<Case> {
    let all = |value: Value| [value.clone(), value.clone(), value];
    vec![
        case(
            "Set fields",
            "set",
            3.4,
            json!({"includeOtherFields": false, "assignments": {"assignments": [
                {"name": "title", "type": "string", "value": "=Item {{ $json.name }}"}, {"name": "sum.net", "type": "number", "value": "={{ $json.price * 2 }}"},
                {"name": "cheap", "type": "boolean", "value": "={{ $json.price < 5 }}"},
            ]}}),
            json!([
                {"title": "Item Tea", "sum": {"net": 6}, "cheap": true}, {"title": "Item jam", "sum": {"net": 14}, "cheap": false}, {"title": "Item Bun", "sum": {"net": 6}, "cheap": true},
            ]),
        ),
        case(
            "Set raw",
            "set",
            3.4,
            json!({"mode": "raw", "jsonOutput": "={ \"n\": \"{{ $json.name }}\", \"i\": {{ $itemIndex }} }"}),
            json!([{"n": "Tea", "i": 0}, {"n": "jam", "i": 1}, {"n": "Bun", "i": 2}]),
        ),
        case(
            "If cheap",
            "if",
            2.0,
            json!({"conditions": condition("price", "number", "lt", json!(5))}),
            names(&[0, 2]),
        ),
        case(
            "If old",
            "if",
            1.0,
            json!({"conditions": {"number": [{"value1": "={{ $json.price }}", "operation": "larger", "value2": 5}]}}),
            names(&[1]),
        ),
        case(
            "Has tags",
            "filter",
            2.0,
            json!({"conditions": condition("tags", "array", "notEmpty", json!(""))}),
            names(&[0, 2]),
        ),
        case(
            "By name",
            "filter",
            2.0,
            json!({"conditions": condition("name", "string", "startsWith", json!("B"))}),
            names(&[2]),
        ),
        case(
            "After",
            "filter",
            2.0,
            json!({"conditions": condition("at", "dateTime", "after", json!("2026-03-01T12:00:00Z"))}),
            names(&[1, 2]),
        ),
        case(
            "Route",
            "switch",
            3.0,
            json!({"rules": {"values": [
            {"conditions": condition("maker.city", "string", "equals", json!("Almaty"))}, {"conditions": condition("maker.city", "string", "equals", json!("Astana"))},
        ]}, "options": {}}),
            names(&[0, 2]),
        ),
        case(
            "Split tags",
            "splitOut",
            1.0,
            json!({"fieldToSplitOut": "tags"}),
            json!([{"tags": "hot"}, {"tags": "leaf"}, {"tags": "hot"}]),
        ),
        case(
            "Split and keep",
            "splitOut",
            1.0,
            json!({"fieldToSplitOut": "tags", "include": "selectedOtherFields", "fieldsToInclude": "name", "options": {"destinationFieldName": "tag"}}),
            json!([{"name": "Tea", "tag": "hot"}, {"name": "Tea", "tag": "leaf"}, {"name": "Bun", "tag": "hot"}]),
        ),
        case(
            "Collect names",
            "aggregate",
            1.0,
            json!({"fieldsToAggregate": {"fieldToAggregate": [{"fieldToAggregate": "name"}, {"fieldToAggregate": "maker.city", "renameField": true, "outputFieldName": "cities"}]}}),
            json!([{"name": ["Tea", "jam", "Bun"], "cities": ["Almaty", "Astana", "Almaty"]}]),
        ),
        case(
            "Collect all",
            "aggregate",
            1.0,
            json!({"aggregate": "aggregateAllItemData", "destinationFieldName": "rows", "include": "specifiedFields", "fieldsToInclude": "name"}),
            json!([{"rows": [{"name": "Tea"}, {"name": "jam"}, {"name": "Bun"}]}]),
        ),
        case("Two", "limit", 1.0, json!({"maxItems": 2}), names(&[0, 1])),
        case("Last", "limit", 1.0, json!({"maxItems": 1, "keep": "lastItems"}), names(&[2])),
        case(
            "Sorted",
            "sort",
            1.0,
            json!({"sortFieldsUi": {"sortField": [{"fieldName": "price", "order": "descending"}, {"fieldName": "name"}]}}),
            names(&[1, 2, 0]),
        ),
        case(
            "Once each",
            "removeDuplicates",
            1.1,
            json!({"compare": "selectedFields", "fieldsToCompare": "price"}),
            names(&[0, 1]),
        ),
        case(
            "Renamed",
            "renameKeys",
            1.0,
            json!({"keys": {"key": [{"currentKey": "name", "newKey": "title"}]}}),
            rows()
                .as_array()
                .into_iter()
                .flatten()
                .map(|row| {
                    let mut row = row.clone();
                    row["title"] = row["name"].take();
                    row.as_object_mut().into_iter().for_each(|row| {
                        row.remove("name");
                    });
                    row
                })
                .collect(),
        ),
        case(
            "By city",
            "summarize",
            1.0,
            json!({"fieldsToSummarize": {"values": [{"aggregation": "sum", "field": "price"}, {"aggregation": "count", "field": "name"}]}, "fieldsToSplitBy": "maker.city"}),
            json!([{"maker_city": "Almaty", "sum_price": 6, "count_name": 2}, {"maker_city": "Astana", "sum_price": 7, "count_name": 1}]),
        ),
        case(
            "Day",
            "dateTime",
            2.0,
            json!({"operation": "formatDate", "date": "={{ $json.at }}", "format": "custom", "customFormat": "dd.MM.yyyy", "outputFieldName": "day"}),
            json!([{"day": "01.03.2026"}, {"day": "02.03.2026"}, {"day": "03.03.2026"}]),
        ),
        expression("Upper", "$json.name.toUpperCase()", [json!("TEA"), json!("JAM"), json!("BUN")]),
        expression("Missing", "$json.nothing.at.all", [Value::Null, Value::Null, Value::Null]),
        expression(
            "Lambda",
            "$json.tags.map(tag => tag + '!').join(' ')",
            [json!("hot! leaf!"), json!(""), json!("hot!")],
        ),
        expression(
            "Ternary",
            "$json.price > 5 ? 'dear' : ($json.tags.length > 1 ? 'both' : `${$json.name}?`)",
            [json!("both"), json!("dear"), json!("Bun?")],
        ),
        expression("First of step", "$('Rows').first().json.name", all(json!("Tea"))),
        expression(
            "Item of step",
            "$('Rows').item.json.maker.city + ' ' + $node[\"Rows\"].json.price",
            [json!("Almaty 3"), json!("Astana 7"), json!("Almaty 3")],
        ),
        expression("Of the webhook", "$('Hook').item.json.body.rows.length", all(json!(3))),
        expression(
            "All of step",
            "$('Rows').all().map(item => item.json.price).reduce((a, b) => a + b, 0)",
            all(json!(13)),
        ),
        expression(
            "Extension",
            "$json.tags.isEmpty() ? 'none' : $json.tags.first().toTitleCase()",
            [json!("Hot"), json!("none"), json!("Hot")],
        ),
        expression(
            "Precedence",
            "(1 + 2) * 3 - (-$json.price) ** 2 / (2 - 1)",
            [json!(0), json!(-40), json!(0)],
        ),
        expression(
            "Object",
            "JSON.stringify({ name: $json.name, 'a b': [1, ...$json.tags] })",
            [
                json!("{\"name\":\"Tea\",\"a b\":[1,\"hot\",\"leaf\"]}"),
                json!("{\"name\":\"jam\",\"a b\":[1]}"),
                json!("{\"name\":\"Bun\",\"a b\":[1,\"hot\"]}"),
            ],
        ),
        expression(
            "Pattern",
            "$json.name.replace(/[aeiou]/gi, '*')",
            [json!("T**"), json!("j*m"), json!("B*n")],
        ),
        expression(
            "Dates",
            "$json.at.toDateTime().plus({ days: 1 }).toFormat('yyyy-MM-dd EEE')",
            [json!("2026-03-02 Mon"), json!("2026-03-03 Tue"), json!("2026-03-04 Wed")],
        ),
        expression(
            "Own names",
            "$json.tags.map((item, index) => `${index}:${item}@${$json.name}`).join()",
            [json!("0:hot@Tea,1:leaf@Tea"), json!(""), json!("0:hot@Bun")],
        ),
        expression(
            "Block",
            "$json.tags.filter(t => { const items = t.length; return items > 3 }).length",
            [json!(1), json!(0), json!(0)],
        ),
        case(
            "Limit by expression",
            "limit",
            1.0,
            json!({"maxItems": "={{ $json.price - 1 }}"}),
            names(&[0, 1]),
        ),
        case(
            "Named by expression",
            "aggregate",
            1.0,
            json!({"aggregate": "aggregateAllItemData", "destinationFieldName": "={{ $json.name }}", "include": "specifiedFields", "fieldsToInclude": "price"}),
            json!([{"Tea": [{"price": 3}, {"price": 7}, {"price": 3}]}]),
        ),
        expression(
            "Nullish",
            "$json.maker?.street ?? $json.maker['city']",
            [json!("Almaty"), json!("Astana"), json!("Almaty")],
        ),
    ]
}
