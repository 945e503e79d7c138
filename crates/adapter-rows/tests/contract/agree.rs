//! Random filters over random rows, evaluated here in Rust: they must match the same rows as the compiled statements,
//! on either database.

use std::{cmp::Ordering, collections::BTreeMap};

use backend_data::{
    Access, Query, ReadOptions,
    query::{Filter, Is, Key, Operands, Path, Step, Test},
    rule::Comparison,
};
use proptest::{
    prelude::*,
    strategy::ValueTree as _,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use serde_json::{Value as Json, json};

use crate::{contract, filters::notes, harness::World};

contract!(statements_and_the_evaluator_agree);

type Row = BTreeMap<&'static str, Json>;

const COLUMNS: [&str; 6] = ["title", "qty", "price", "done", "due", "meta"];

async fn statements_and_the_evaluator_agree(world: World) {
    world.table(notes()).await;
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let rows: Vec<Row> = (0..60)
        .map(|n| {
            let mut row = row().new_tree(&mut runner).unwrap().current();
            row.insert("id", json!(format!("{n:02}")));
            row
        })
        .collect();
    world.insert("notes", &serde_json::to_string(&rows).unwrap()).await.unwrap();
    let tree = filter();
    let (mut some, mut all) = (0, 0);
    for _ in 0..600 {
        let filter = tree.new_tree(&mut runner).unwrap().current();
        let wanted: Vec<&str> = rows
            .iter()
            .filter(|row| holds(&filter, row) == Some(true))
            .filter_map(|row| row["id"].as_str())
            .collect();
        let query = Query { filter: vec![filter.clone()], ..Query::default() };
        let options = ReadOptions::default();
        let page = world.engine.list_query(&world.project, &Access::Owner, "notes", &query, &options).await;
        let page = page.map_err(|error| format!("{filter}: {error} {:?}", error.details())).unwrap();
        let found: Vec<Json> = serde_json::from_slice(&page.body).unwrap();
        let found: Vec<&str> = found.iter().filter_map(|row| row["id"].as_str()).collect();
        assert_eq!(found, wanted, "{filter}");
        some += usize::from(!wanted.is_empty());
        all += usize::from(wanted.len() == rows.len());
    }
    // Filters that match no row, or all rows, prove little.
    assert!(some > 200 && all < 300, "{some} matched some rows, {all} matched all rows");
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof!["[aAbж%_.]{0,3}", Just("1".to_owned()), Just("true".to_owned())]
}

fn document() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        (-2_i64..3).prop_map(Json::from),
        prop_oneof![Just(0.5), Just(-1.5)].prop_map(Json::from),
        word().prop_map(Json::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Json::from),
            prop::collection::btree_map("[abk]", inner, 0..3)
                .prop_map(|members| Json::Object(members.into_iter().collect())),
        ]
    })
}

fn instant() -> impl Strategy<Value = String> {
    (1..5).prop_map(|day| format!("2026-01-0{day}T00:00:00.000000Z"))
}

fn maybe(value: impl Strategy<Value = Json>) -> impl Strategy<Value = Json> {
    prop_oneof![1 => Just(Json::Null), 4 => value]
}

fn row() -> impl Strategy<Value = Row> {
    let values = (
        maybe(word().prop_map(Json::from)),
        maybe((-2_i64..3).prop_map(Json::from)),
        maybe(prop_oneof![Just(0.5), Just(-1.5), Just(2.0)].prop_map(Json::from)),
        maybe(any::<bool>().prop_map(Json::from)),
        maybe(instant().prop_map(Json::from)),
        document(),
    );
    values.prop_map(|(title, qty, price, done, due, meta)| {
        COLUMNS.into_iter().zip([title, qty, price, done, due, meta]).collect()
    })
}

fn operands(value: impl Strategy<Value = String> + Clone + 'static) -> impl Strategy<Value = Operands> {
    let many = prop::collection::vec(value.clone(), 0..3);
    prop_oneof![
        4 => value.prop_map(Operands::One),
        1 => many.clone().prop_map(Operands::Any),
        1 => many.prop_map(Operands::All),
    ]
}

/// A strategy of tests on values that `value` generates, which have an order.
fn ordered(value: BoxedStrategy<String>) -> BoxedStrategy<Test> {
    let op = prop_oneof![
        Just(Comparison::Eq),
        Just(Comparison::Gt),
        Just(Comparison::Gte),
        Just(Comparison::Lt),
        Just(Comparison::Lte)
    ];
    prop_oneof![
        4 => (op, operands(value.clone())).prop_map(|(op, operands)| Test::Compare(op, operands)),
        1 => value.clone().prop_map(|value| Test::Compare(Comparison::Neq, Operands::One(value))),
        1 => value.clone().prop_map(Test::IsDistinct),
        1 => prop::collection::vec(value, 0..3).prop_map(Test::In),
        1 => prop_oneof![Just(Is::Null), Just(Is::NotNull)].prop_map(Test::Is),
    ]
    .boxed()
}

fn texts() -> BoxedStrategy<Test> {
    let pattern = prop_oneof!["[aAbж%_.]{0,4}", Just("a%".to_owned())];
    let expression =
        prop_oneof!["[aAbж.]{0,2}[*+?]?", "\\^[ab.]\\$?", Just("(a|ж)+".to_owned()), Just("[^a]".to_owned())]
            .prop_filter("it repeats something", |text: &String| !text.starts_with(['*', '+', '?']));
    prop_oneof![
        3 => ordered(word().boxed()),
        1 => (any::<bool>(), operands(pattern.boxed()))
            .prop_map(|(ignore_case, patterns)| Test::Like { ignore_case, patterns }),
        1 => (any::<bool>(), operands(expression.boxed()))
            .prop_map(|(ignore_case, patterns)| Test::Match { ignore_case, patterns }),
    ]
    .boxed()
}

fn documents() -> BoxedStrategy<Test> {
    let text = document().prop_map(|document| document.to_string()).boxed();
    prop_oneof![
        2 => ordered(text.clone()),
        1 => text.clone().prop_map(Test::Contains),
        1 => text.prop_map(Test::ContainedIn),
    ]
    .boxed()
}

fn leaf() -> BoxedStrategy<Filter> {
    let on = |column: &'static str, test: BoxedStrategy<Test>| {
        test.prop_map(move |test| Filter::Test(Path::column(column), test)).boxed()
    };
    let numbers =
        |texts: &'static [&'static str]| prop::sample::select(texts).prop_map(str::to_owned).boxed();
    let booleans = prop_oneof![
        prop_oneof![Just(Is::True), Just(Is::False), Just(Is::Unknown)].prop_map(Test::Is),
        ordered(numbers(&["true", "false"])),
    ];
    let key = prop_oneof!["[abk]".prop_map(Key::Name), (-2_i64..3).prop_map(Key::Index)];
    let steps = prop::collection::vec(key, 1..3);
    let place = |steps: Vec<Key>, as_text: bool| {
        let last = steps.len() - 1;
        let step = |(at, key)| Step { key, as_text: as_text && at == last };
        Path { column: "meta".into(), steps: steps.into_iter().enumerate().map(step).collect() }
    };
    prop_oneof![
        on("title", texts()),
        on("qty", ordered(numbers(&["-2", "-1", "0", "1", "2"]))),
        on("price", ordered(numbers(&["0.5", "-1.5", "2", "0"]))),
        on("done", booleans.boxed()),
        on("due", ordered(instant().boxed())),
        on("meta", documents()),
        (steps.clone(), documents()).prop_map(move |(steps, test)| Filter::Test(place(steps, false), test)),
        (steps, texts()).prop_map(move |(steps, test)| Filter::Test(place(steps, true), test)),
    ]
    .boxed()
}

fn filter() -> impl Strategy<Value = Filter> {
    leaf().prop_recursive(3, 10, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(Filter::And),
            prop::collection::vec(inner.clone(), 1..4).prop_map(Filter::Or),
            inner.prop_map(|inner| Filter::Not(Box::new(inner))),
        ]
    })
}

/// Returns true if a row passes, with `None` as the third truth value of SQL.
fn holds(filter: &Filter, row: &Row) -> Option<bool> {
    match filter {
        Filter::And(members) => every(members.iter().map(|member| holds(member, row))),
        Filter::Or(members) => any_of(members.iter().map(|member| holds(member, row))),
        Filter::Not(inner) => holds(inner, row).map(|held| !held),
        Filter::Test(path, test) => {
            let (value, kind) = value(path, row);
            passes(value.as_ref(), kind, test)
        }
    }
}

fn every(truths: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let truths: Vec<Option<bool>> = truths.collect();
    if truths.contains(&Some(false)) {
        return Some(false);
    }
    (!truths.contains(&None)).then_some(true)
}

fn any_of(truths: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    every(truths.map(|truth| truth.map(|truth| !truth))).map(|truth| !truth)
}

/// The type by which the values of a path compare.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Text,
    Number,
    Boolean,
    Document,
}

fn value(path: &Path, row: &Row) -> (Option<Json>, Kind) {
    let column = row.get(path.column.as_str()).cloned().unwrap_or_default();
    let kind = match path.column.as_str() {
        "title" | "due" => Kind::Text,
        "qty" | "price" => Kind::Number,
        "done" => Kind::Boolean,
        _ => Kind::Document,
    };
    // A document that is null is treated as no value.
    let mut found = (!column.is_null()).then_some(column);
    let mut as_text = false;
    for step in &path.steps {
        as_text = step.as_text;
        found = found.and_then(|document| match (&step.key, &document) {
            (Key::Name(name), Json::Object(members)) => members.get(name).cloned(),
            (Key::Index(index), Json::Array(items)) => {
                let length = i64::try_from(items.len()).unwrap();
                let at = if *index < 0 { index + length } else { *index };
                usize::try_from(at).ok().and_then(|at| items.get(at)).cloned()
            }
            (Key::Index(0 | -1), Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_)) => {
                Some(document)
            }
            _ => None,
        });
    }
    if !as_text {
        return (found, kind);
    }
    let text = found.and_then(|document| match document {
        Json::Null => None,
        Json::String(text) => Some(text),
        other => Some(written(&other)),
    });
    (text.map(Json::from), Kind::Text)
}

/// Writes a document as PostgreSQL does.
fn written(document: &Json) -> String {
    match document {
        Json::Array(items) => format!("[{}]", items.iter().map(written).collect::<Vec<_>>().join(", ")),
        Json::Object(members) => {
            let members: Vec<String> =
                members.iter().map(|(key, value)| format!("\"{key}\": {}", written(value))).collect();
            format!("{{{}}}", members.join(", "))
        }
        other => other.to_string(),
    }
}

fn read(kind: Kind, text: &str) -> Json {
    match kind {
        Kind::Text => text.into(),
        Kind::Number | Kind::Boolean | Kind::Document => serde_json::from_str(text).unwrap(),
    }
}

fn compare(a: &Json, b: &Json) -> Ordering {
    fn rank(value: &Json) -> u8 {
        match value {
            Json::Null => 0,
            Json::String(_) => 1,
            Json::Number(_) => 2,
            Json::Bool(_) => 3,
            Json::Array(_) => 4,
            Json::Object(_) => 5,
        }
    }
    match (a, b) {
        (Json::String(a), Json::String(b)) => a.as_bytes().cmp(b.as_bytes()),
        (Json::Number(a), Json::Number(b)) => a.as_f64().partial_cmp(&b.as_f64()).unwrap(),
        (Json::Bool(a), Json::Bool(b)) => a.cmp(b),
        (Json::Array(_), Json::Array(_)) | (Json::Object(_), Json::Object(_)) => written(a).cmp(&written(b)),
        _ => rank(a).cmp(&rank(b)),
    }
}

fn each(operands: &Operands, one: impl Fn(&str) -> Option<bool>) -> Option<bool> {
    match operands {
        Operands::One(value) => one(value),
        Operands::Any(values) => any_of(values.iter().map(|value| one(value))),
        Operands::All(values) => every(values.iter().map(|value| one(value))),
    }
}

fn passes(value: Option<&Json>, kind: Kind, test: &Test) -> Option<bool> {
    let text = value.and_then(Json::as_str);
    match test {
        Test::Compare(op, operands) => each(operands, |other| {
            let order = compare(value?, &read(kind, other));
            Some(match op {
                Comparison::Eq => order.is_eq(),
                Comparison::Neq => order.is_ne(),
                Comparison::Gt => order.is_gt(),
                Comparison::Gte => order.is_ge(),
                Comparison::Lt => order.is_lt(),
                Comparison::Lte => order.is_le(),
            })
        }),
        Test::Like { ignore_case, patterns } => each(patterns, |pattern| {
            let (text, pattern) = (text?, pattern.to_owned());
            Some(if *ignore_case {
                like(&text.to_lowercase(), &pattern.to_lowercase())
            } else {
                like(text, &pattern)
            })
        }),
        Test::Match { ignore_case, patterns } => each(patterns, |pattern| {
            let mut builder = regex::RegexBuilder::new(pattern);
            builder.case_insensitive(*ignore_case).dot_matches_new_line(true);
            Some(builder.build().unwrap().is_match(text?))
        }),
        Test::In(values) if values.is_empty() => Some(false),
        Test::In(values) => {
            Some(values.iter().any(|other| value.is_some_and(|v| compare(v, &read(kind, other)).is_eq())))
                .filter(|_| value.is_some())
        }
        Test::Is(Is::Null) => Some(value.is_none()),
        Test::Is(Is::NotNull) => Some(value.is_some()),
        Test::Is(Is::True) => Some(value == Some(&json!(true))),
        Test::Is(Is::False) => Some(value == Some(&json!(false))),
        Test::Is(Is::Unknown) => Some(value.is_none()),
        Test::IsDistinct(other) => Some(value.is_none_or(|value| compare(value, &read(kind, other)).is_ne())),
        Test::Contains(other) => Some(contains(value?, &read(kind, other), true)),
        Test::ContainedIn(other) => Some(contains(&read(kind, other), value?, true)),
    }
}

fn like(text: &str, pattern: &str) -> bool {
    let mut rest = pattern.chars();
    match rest.next() {
        None => text.is_empty(),
        Some('%') => {
            let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
            ends.into_iter().any(|at| like(&text[at..], rest.as_str()))
        }
        Some(wanted) => {
            let mut chars = text.chars();
            chars.next().is_some_and(|c| wanted == '_' || wanted == c) && like(chars.as_str(), rest.as_str())
        }
    }
}

fn contains(outer: &Json, inner: &Json, top: bool) -> bool {
    match (outer, inner) {
        (Json::Object(outer), Json::Object(inner)) => {
            inner.iter().all(|(key, value)| outer.get(key).is_some_and(|found| contains(found, value, false)))
        }
        (Json::Array(outer), Json::Array(inner)) => {
            inner.iter().all(|value| outer.iter().any(|found| contains(found, value, false)))
        }
        (Json::Array(outer), scalar) if top && !scalar.is_object() => outer.contains(scalar),
        _ => outer == inner,
    }
}
