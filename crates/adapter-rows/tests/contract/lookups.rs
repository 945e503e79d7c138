//! Rows by their ids, many asked for at once: each gets its own answer, whoever it travelled with.

use backend_data::{Access, ColumnType, Error, Format, NewColumn, NewTable, Person, Rule};
use futures::future::join_all;
use serde_json::{Value as Json, json};

use crate::{contract, harness::World};

contract!(each_gets_its_own_row, one_that_fails_fails_alone, rules_are_not_shared, a_schema_change_between);

async fn notes(world: &World, count: usize) {
    let table = NewTable::new("notes")
        .with_column(NewColumn::new("owner", ColumnType::Text))
        .with_column(NewColumn::new("title", ColumnType::Text));
    world.table(table).await;
    let row = |at: usize| {
        let owner = if at.is_multiple_of(2) { "ann" } else { "bob" };
        json!({"id": format!("n{at}"), "owner": owner, "title": at.to_string()})
    };
    let rows: Vec<Json> = (0..count).map(row).collect();
    world.insert("notes", &Json::from(rows).to_string()).await.unwrap();
}

async fn get(world: &World, access: &Access, id: &str, query: &str, format: Format) -> Result<String, Error> {
    let page = world.engine.get(&world.project, access, "notes", id, query, format).await?;
    Ok(String::from_utf8(page.body.to_vec()).unwrap())
}

fn person(subject: &str) -> Access {
    Access::Person(Person { subject: subject.into(), ..Person::default() })
}

async fn each_gets_its_own_row(world: World) {
    notes(&world, 50).await;
    let ids: Vec<String> = (0..100).map(|at| format!("n{}", at % 60)).collect();
    let answers = join_all(ids.iter().enumerate().map(async |(at, id)| match at % 4 {
        0 => get(&world, &Access::Owner, id, "select=id,title", Format::Json).await,
        // The same statement under another name, and in another form.
        1 => get(&world, &Access::Owner, id, "select=name:id,title", Format::Json).await,
        2 => get(&world, &Access::Owner, id, "select=id,title", Format::Csv).await,
        _ => get(&world, &Access::Owner, id, "select=title", Format::Json).await,
    }))
    .await;
    for (at, answer) in answers.into_iter().enumerate() {
        let number = at % 60;
        if number >= 50 {
            assert_eq!(answer.unwrap_err().code(), "row_not_found", "{at}");
            continue;
        }
        let expected = match at % 4 {
            0 => format!(r#"{{"id":"n{number}","title":"{number}"}}"#),
            1 => format!(r#"{{"name":"n{number}","title":"{number}"}}"#),
            2 => format!("id,title\nn{number},{number}\n"),
            _ => format!(r#"{{"title":"{number}"}}"#),
        };
        assert_eq!(answer.unwrap().replace("\r\n", "\n"), expected, "{at}");
    }
}

async fn one_that_fails_fails_alone(world: World) {
    notes(&world, 20).await;
    world.insert("notes", r#"{"id":"bad","title":"no number"}"#).await.unwrap();
    let ids: Vec<String> =
        (0..40).map(|at| if at % 7 == 3 { "bad".into() } else { format!("n{}", at % 20) }).collect();
    let number = |id: String| {
        let world = &world;
        async move { get(world, &Access::Owner, &id, "select=n:title::integer", Format::Json).await }
    };
    let answers = join_all(ids.iter().cloned().map(number)).await;
    for (id, answer) in ids.iter().zip(answers) {
        match id.strip_prefix('n') {
            Some(number) => assert_eq!(answer.unwrap(), format!(r#"{{"n":{number}}}"#)),
            None => assert!(answer.is_err(), "{answer:?}"),
        }
    }
}

async fn rules_are_not_shared(world: World) {
    notes(&world, 20).await;
    let own = json!([{"id": "own", "audience": {"kind": "signed_in"}, "actions": ["read"], "columns": null,
        "where": {"t": "cmp", "column": "owner", "op": "eq", "value": {"k": "me"}}}]);
    let rules: Vec<Rule> = serde_json::from_value(own).unwrap();
    world.engine.set_rules(&world.project, &Access::Owner, "notes", rules).await.unwrap();
    let asked: Vec<(usize, Access)> =
        (0..60).map(|at| (at % 20, [person("ann"), person("bob"), Access::Owner][at % 3].clone())).collect();
    let answers = join_all(asked.iter().map(async |(number, access)| {
        get(&world, access, &format!("n{number}"), "select=id", Format::Json).await
    }))
    .await;
    for (at, ((number, _), answer)) in asked.iter().zip(answers).enumerate() {
        if at % 3 == 2 || number % 2 == at % 3 {
            assert_eq!(answer.unwrap(), format!(r#"{{"id":"n{number}"}}"#));
        } else {
            assert_eq!(answer.unwrap_err().code(), "row_not_found");
        }
    }
}

async fn a_schema_change_between(world: World) {
    notes(&world, 20).await;
    let read = async |at: usize| {
        let id = format!("n{}", at % 20);
        get(&world, &Access::Owner, &id, "select=id", Format::Json).await
    };
    let change = async {
        let column = NewColumn::new("later", ColumnType::Integer);
        world.engine.add_column(&world.project, &Access::Owner, "notes", column).await
    };
    let (answers, changed) = futures::join!(join_all((0..60).map(read)), change);
    changed.unwrap();
    for (at, answer) in answers.into_iter().enumerate() {
        assert_eq!(answer.unwrap(), format!(r#"{{"id":"n{}"}}"#, at % 20));
    }
}
