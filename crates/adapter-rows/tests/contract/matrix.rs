//! Rules with every audience, action and choice of columns, for every caller and every action that it attempts. The
//! expected outcomes are computed here, without the engine.

use backend_data::{
    Access, Engine, ErrorKind, Person, ProjectRef, ReadOptions, Rule, Scope, WriteOptions,
    rule::{Action, Audience, Condition},
};

use crate::{contract, harness::World};

contract!(rules_allow_exactly_what_they_say);

const ACTIONS: [Action; 4] = [Action::Read, Action::Insert, Action::Update, Action::Delete];

/// The outcome of an attempt.
#[derive(Debug, PartialEq)]
enum Outcome {
    Done,
    /// 404: the table is hidden from the caller.
    Hidden,
    /// 400: the column is hidden from the caller.
    Unknown,
    /// 403: the caller may not do this.
    Forbidden,
    /// An outcome that no attempt may have.
    Other(String),
}

fn callers() -> Vec<(&'static str, Access)> {
    let person = |roles: &[&str]| {
        let roles = roles.iter().map(ToString::to_string).collect();
        Access::Person(Person { subject: "ann".into(), roles, ..Person::default() })
    };
    vec![
        ("visitor", Access::Visitor),
        ("person", person(&[])),
        ("clerk", person(&["clerk"])),
        ("other role", person(&["boss"])),
        ("reader", Access::service([Scope::RowsRead])),
        ("writer", Access::service([Scope::RowsWrite])),
        ("schema", Access::service([Scope::SchemaWrite])),
        ("owner", Access::Owner),
    ]
}

/// Returns true if `audience` includes the caller of this name.
fn speaks_of(audience: &str, caller: &str) -> bool {
    let person = matches!(caller, "person" | "clerk" | "other role");
    match audience {
        "anyone" => person || caller == "visitor",
        "visitors" => caller == "visitor",
        "signed in" => person,
        _ => caller == "clerk",
    }
}

fn wanted(audience: &str, allowed: Action, covers: bool, caller: &str, tried: Action) -> Outcome {
    match (caller, tried) {
        ("owner", _) | ("reader", Action::Read) => return Outcome::Done,
        ("writer", Action::Insert | Action::Update | Action::Delete) => return Outcome::Done,
        ("reader" | "writer" | "schema", _) => return Outcome::Forbidden,
        _ => {}
    }
    if !speaks_of(audience, caller) {
        return Outcome::Hidden;
    }
    match (tried == allowed, tried) {
        (true, Action::Read) if !covers => Outcome::Unknown,
        (true, Action::Insert | Action::Update) if !covers => Outcome::Forbidden,
        (true, _) => Outcome::Done,
        // A caller who sees the table gets 403; one who does not must not learn that it exists.
        (false, _) if allowed == Action::Read => Outcome::Forbidden,
        (false, _) => Outcome::Hidden,
    }
}

async fn attempt(engine: &Engine, project: &ProjectRef, access: &Access, tried: Action) -> Outcome {
    let (owner, write) = (Access::Owner, WriteOptions { minimal: true, ..WriteOptions::default() });
    let plain = WriteOptions::default();
    // The row that is updated or deleted is restored for each attempt.
    let again = WriteOptions { resolution: Some(backend_data::Resolution::MergeDuplicates), ..write };
    engine.insert(project, &owner, "notes", "", br#"{"id":"a","title":"x","qty":1}"#, &again).await.unwrap();
    let done = match tried {
        Action::Read => {
            let read = ReadOptions::default();
            engine.list(project, access, "notes", "select=id,title", &read).await.map(|page| page.rows)
        }
        Action::Insert => {
            let row = br#"{"title":"y"}"#;
            engine.insert(project, access, "notes", "", row, &write).await.map(|written| written.rows)
        }
        Action::Update => {
            let body = br#"{"title":"y"}"#;
            let done = engine.update_by_id(project, access, "notes", "a", "", body, &plain).await;
            done.map(|written| written.rows)
        }
        Action::Delete => {
            let done = engine.delete_by_id(project, access, "notes", "a", "", &plain).await;
            done.map(|written| written.rows)
        }
    };
    match done {
        Ok(rows) => {
            assert!(rows >= 1);
            Outcome::Done
        }
        Err(error) => match (error.kind(), error.code()) {
            (ErrorKind::NotFound, "table_not_found") => Outcome::Hidden,
            (ErrorKind::Invalid, "column_not_found") => Outcome::Unknown,
            (ErrorKind::Forbidden, _) => Outcome::Forbidden,
            (kind, code) => Outcome::Other(format!("{kind:?} {code}: {error}")),
        },
    }
}

async fn rules_allow_exactly_what_they_say(world: World) {
    use backend_data::{ColumnType, NewColumn, NewTable};
    let table = NewTable::new("notes")
        .with_column(NewColumn::new("title", ColumnType::Text))
        .with_column(NewColumn::new("qty", ColumnType::Integer));
    world.table(table).await;
    let audiences = [
        ("anyone", Audience::Anyone),
        ("visitors", Audience::Visitors),
        ("signed in", Audience::SignedIn),
        ("clerks", Audience::Role { role: "clerk".into() }),
    ];
    let (callers, mut tries, mut done) = (callers(), 0, 0);
    for (name, audience) in audiences {
        for allowed in ACTIONS {
            for covers in [true, false] {
                let rule = Rule {
                    id: "one".into(),
                    audience: audience.clone(),
                    actions: vec![allowed],
                    condition: Condition::All,
                    columns: (!covers).then(|| vec!["id".into(), "qty".into()]),
                    migrated: None,
                    sentence: String::new(),
                };
                let set = world.engine.set_rules(&world.project, &Access::Owner, "notes", vec![rule]).await;
                set.unwrap();
                for (caller, access) in &callers {
                    for tried in ACTIONS {
                        let found = attempt(&world.engine, &world.project, access, tried).await;
                        let wanted = wanted(name, allowed, covers, caller, tried);
                        assert_eq!(
                            found, wanted,
                            "{caller} tries to {tried:?} where {name} may {allowed:?}, title covered: {covers}"
                        );
                        tries += 1;
                        done += usize::from(wanted == Outcome::Done);
                    }
                }
            }
        }
    }
    assert_eq!(tries, 4 * 4 * 2 * 8 * 4);
    assert!(done > 200, "{done} attempts were allowed");
}
