//! Random rules over random rows, evaluated here in Rust: for each caller, they must allow reading and writing the same
//! rows as the compiled statements, on either database.

use std::{cmp::Ordering, collections::BTreeMap};

use backend_data::{
    Access, ErrorKind, Person, Rule,
    rule::{Action, Audience, Comparison, Condition, Operand, Scalar},
};
use proptest::{
    prelude::*,
    strategy::ValueTree as _,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use serde_json::{Value as Json, json};

use crate::{contract, filters::notes, harness::World};

contract!(rules_and_the_evaluator_agree);

type Row = BTreeMap<&'static str, Json>;

const WORDS: [&str; 5] = ["", "a", "B", "ann", "ж"];
const TIMES: [&str; 3] =
    ["2026-01-01T00:00:00.000000Z", "2026-01-02T00:00:00.000000Z", "2026-01-03T00:00:00.000000Z"];

fn maybe(value: impl Strategy<Value = Json>) -> impl Strategy<Value = Json> {
    prop_oneof![1 => Just(Json::Null), 4 => value]
}

fn row() -> impl Strategy<Value = Row> {
    let values = (
        maybe(prop::sample::select(&WORDS[..]).prop_map(Json::from)),
        maybe((-1_i64..3).prop_map(Json::from)),
        maybe(prop::sample::select(vec![-1.0, 0.5, 2.0]).prop_map(Json::from)),
        maybe(any::<bool>().prop_map(Json::from)),
        maybe(prop::sample::select(&TIMES[..]).prop_map(Json::from)),
    );
    values.prop_map(|(title, qty, price, done, due)| {
        [("title", title), ("qty", qty), ("price", price), ("done", done), ("due", due)].into()
    })
}

/// A strategy of values that fit the column.
fn literal(column: &str) -> BoxedStrategy<Scalar> {
    match column {
        "title" => prop::sample::select(&WORDS[..]).prop_map(|word| Scalar::Text(word.into())).boxed(),
        "due" => prop::sample::select(&TIMES[..]).prop_map(|time| Scalar::Text(time.into())).boxed(),
        "done" => any::<bool>().prop_map(Scalar::Boolean).boxed(),
        _ => (-1_i64..3).prop_map(|number| Scalar::Number(number.into())).boxed(),
    }
}

fn operand(column: &'static str) -> BoxedStrategy<Operand> {
    let claim = prop::sample::select(vec!["word", "number", "half", "truth", "time", "list", "none"]);
    let claim = claim.prop_map(|name| Operand::Claim { name: name.into() });
    let value = prop_oneof![3 => literal(column).prop_map(|v| Operand::Lit { v }), 2 => claim];
    if column == "title" { prop_oneof![3 => value, 1 => Just(Operand::Me)].boxed() } else { value.boxed() }
}

fn comparison() -> impl Strategy<Value = Comparison> {
    use Comparison::{Eq, Gt, Gte, Lt, Lte, Neq};
    prop::sample::select(vec![Eq, Neq, Gt, Gte, Lt, Lte])
}

fn single() -> impl Strategy<Value = Condition> {
    prop::sample::select(vec!["title", "qty", "price", "done", "due"]).prop_flat_map(|name| {
        let column = name.to_owned();
        let (one, two, three) = (column.clone(), column.clone(), column);
        prop_oneof![
            4 => (comparison(), operand(name))
                .prop_map(move |(op, value)| Condition::Cmp { column: one.clone(), op, value }),
            1 => prop::collection::vec(literal(name), 1..4)
                .prop_map(move |values| Condition::In { column: two.clone(), values }),
            1 => any::<bool>()
                .prop_map(move |is_null| Condition::Null { column: three.clone(), is_null }),
        ]
    })
}

fn condition() -> impl Strategy<Value = Condition> {
    let both = prop_oneof![
        2 => single(),
        1 => prop::collection::vec(single(), 2..4).prop_map(|of| Condition::And { of }),
    ];
    prop_oneof![
        1 => Just(Condition::All),
        4 => both.clone(),
        4 => prop::collection::vec(both, 2..4).prop_map(|of| Condition::Or { of }),
    ]
}

fn rules() -> impl Strategy<Value = Vec<Rule>> {
    let audience = prop::sample::select(vec![Audience::Anyone, Audience::SignedIn, Audience::Visitors]);
    prop::collection::vec((audience, condition()), 1..4).prop_map(|rules| {
        let rules = rules.into_iter().enumerate();
        rules
            .map(|(at, (audience, condition))| Rule {
                id: format!("rule_{at}"),
                audience,
                actions: vec![Action::Read, Action::Insert],
                condition,
                columns: None,
                migrated: None,
                sentence: String::new(),
            })
            .collect()
    })
}

fn callers() -> Vec<Access> {
    let person = |subject: &str, claims: Json| {
        let claims = serde_json::from_value(claims).unwrap();
        Access::Person(Person { subject: subject.into(), roles: Vec::new(), claims })
    };
    vec![
        Access::Visitor,
        person("ann", json!({})),
        person(
            "B",
            json!({"word": "a", "number": 1, "half": 0.5, "truth": true, "time": TIMES[1], "list": ["a"]}),
        ),
        person("", json!({"word": "", "number": 2, "half": 2.0, "truth": false, "time": "soon"})),
    ]
}

/// Returns the other side of a comparison, or `None` if the caller does not have it or it has another type than the
/// column.
fn resolved(column: &str, value: &Operand, access: &Access) -> Option<Json> {
    let Access::Person(person) = access else {
        return if let Operand::Lit { v } = value { Some(json!(v)) } else { None };
    };
    match value {
        Operand::Lit { v } => Some(json!(v)),
        Operand::Me => (!person.subject.is_empty()).then(|| json!(person.subject)),
        Operand::Claim { name } => {
            let claim = person.claims.get(name)?;
            let fits = match column {
                "title" => claim.is_string(),
                "qty" => claim.is_i64() || claim.as_f64().is_some_and(|number| number.fract() == 0.0),
                "price" => claim.is_number(),
                "done" => claim.is_boolean(),
                _ => TIMES.iter().any(|time| claim == time),
            };
            fits.then(|| claim.clone())
        }
    }
}

fn ordered(left: &Json, right: &Json) -> Option<Ordering> {
    match (left, right) {
        (Json::String(left), Json::String(right)) => Some(left.as_bytes().cmp(right.as_bytes())),
        (Json::Bool(left), Json::Bool(right)) => Some(left.cmp(right)),
        _ => left.as_f64()?.partial_cmp(&right.as_f64()?),
    }
}

/// Evaluates a condition as SQL does: `None` is neither true nor false.
fn holds(condition: &Condition, row: &Row, access: &Access) -> Option<bool> {
    match condition {
        Condition::All => Some(true),
        Condition::Cmp { column, op, value } => {
            let right = resolved(column, value, access)?;
            let order = ordered(&row[column.as_str()], &right)?;
            Some(match op {
                Comparison::Eq => order.is_eq(),
                Comparison::Neq => order.is_ne(),
                Comparison::Gt => order.is_gt(),
                Comparison::Gte => order.is_ge(),
                Comparison::Lt => order.is_lt(),
                Comparison::Lte => order.is_le(),
            })
        }
        Condition::In { column, values } => {
            let left = &row[column.as_str()];
            (!left.is_null())
                .then(|| values.iter().any(|value| ordered(left, &json!(value)) == Some(Ordering::Equal)))
        }
        Condition::Null { column, is_null } => Some(row[column.as_str()].is_null() == *is_null),
        Condition::And { of } => joined(of, row, access, false),
        Condition::Or { of } => joined(of, row, access, true),
    }
}

/// Evaluates conditions of which one with the value `decides` is enough; otherwise all must be known.
fn joined(of: &[Condition], row: &Row, access: &Access, decides: bool) -> Option<bool> {
    let truths: Vec<Option<bool>> = of.iter().map(|one| holds(one, row, access)).collect();
    if truths.contains(&Some(decides)) {
        return Some(decides);
    }
    (!truths.contains(&None)).then_some(!decides)
}

fn speaks_of(rule: &Rule, access: &Access) -> bool {
    match rule.audience {
        Audience::Anyone => true,
        Audience::Visitors => *access == Access::Visitor,
        _ => *access != Access::Visitor,
    }
}

async fn rules_and_the_evaluator_agree(world: World) {
    world.table(notes()).await;
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[11; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let mut rows: Vec<Row> = Vec::new();
    for number in 0..40 {
        let mut row = row().new_tree(&mut runner).unwrap().current();
        row.insert("id", json!(format!("{number:02}")));
        rows.push(row);
    }
    world.insert("notes", &serde_json::to_string(&rows).unwrap()).await.unwrap();
    let (tree, callers, owner) = (rules(), callers(), Access::Owner);
    let (mut some, mut all, mut taken, mut refused) = (0, 0, 0, 0);
    for _ in 0..120 {
        let rules = tree.new_tree(&mut runner).unwrap().current();
        let said = serde_json::to_string(&rules).unwrap();
        world.engine.set_rules(&world.project, &owner, "notes", rules.clone()).await.unwrap();
        for access in &callers {
            let of_it: Vec<&Rule> = rules.iter().filter(|rule| speaks_of(rule, access)).collect();
            let passes =
                |row: &Row| of_it.iter().any(|rule| holds(&rule.condition, row, access) == Some(true));
            let found = world.ids_as(access, "select=id&order=id").await;
            if of_it.is_empty() {
                assert_eq!(found.unwrap_err().kind(), ErrorKind::NotFound, "{said}");
                continue;
            }
            let wanted: String =
                rows.iter().filter(|row| passes(row)).filter_map(|row| row["id"].as_str()).collect();
            assert_eq!(found.unwrap(), wanted, "{access:?} {said}");
            some += usize::from(!wanted.is_empty());
            all += usize::from(wanted.len() == rows.len() * 2);

            let mut fresh = row().new_tree(&mut runner).unwrap().current();
            fresh.insert("id", json!("new"));
            let done = world.insert_as(access, "notes", &serde_json::to_string(&fresh).unwrap()).await;
            assert_eq!(done.is_ok(), passes(&fresh), "{access:?} inserts {fresh:?} under {said}: {done:?}");
            match done {
                Ok(_) => {
                    taken += 1;
                    let options = backend_data::WriteOptions::default();
                    let gone =
                        world.engine.delete_by_id(&world.project, &owner, "notes", "new", "", &options).await;
                    gone.unwrap();
                }
                Err(error) => {
                    refused += 1;
                    assert_eq!(error.kind(), ErrorKind::Forbidden, "{said}");
                }
            }
        }
    }
    // Rules that show no row, or all rows, prove little.
    assert!(some > 150 && all < some, "{some} showed some rows, {all} showed all rows");
    assert!(taken > 50 && refused > 50, "{taken} rows were accepted, {refused} refused");
}
