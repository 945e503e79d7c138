//! Concurrent reads of rows by id: each gets its own result, whichever reads share its statement.

use backend_data::{Access, ColumnType, Error, Format, NewColumn, NewTable, Person, Rule};
use futures::future::join_all;
use serde_json::{Value as Json, json};

use crate::{contract, harness::World};

contract!(
    each_read_gets_its_own_row,
    a_failing_read_fails_alone,
    reads_follow_the_rules_of_their_own_caller,
    reads_succeed_during_a_schema_change
);

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

async fn each_read_gets_its_own_row(world: World) {
    notes(&world, 50).await;
    let ids: Vec<String> = (0..100).map(|at| format!("n{}", at % 60)).collect();
    let results = join_all(ids.iter().enumerate().map(async |(at, id)| match at % 4 {
        0 => get(&world, &Access::Owner, id, "select=id,title", Format::Json).await,
        // The same statement with an alias, and in another format.
        1 => get(&world, &Access::Owner, id, "select=name:id,title", Format::Json).await,
        2 => get(&world, &Access::Owner, id, "select=id,title", Format::Csv).await,
        _ => get(&world, &Access::Owner, id, "select=title", Format::Json).await,
    }))
    .await;
    for (at, result) in results.into_iter().enumerate() {
        let number = at % 60;
        if number >= 50 {
            assert_eq!(result.unwrap_err().code(), "row_not_found", "{at}");
            continue;
        }
        let expected = match at % 4 {
            0 => format!(r#"{{"id":"n{number}","title":"{number}"}}"#),
            1 => format!(r#"{{"name":"n{number}","title":"{number}"}}"#),
            2 => format!("id,title\nn{number},{number}\n"),
            _ => format!(r#"{{"title":"{number}"}}"#),
        };
        assert_eq!(result.unwrap().replace("\r\n", "\n"), expected, "{at}");
    }
}

async fn a_failing_read_fails_alone(world: World) {
    notes(&world, 20).await;
    world.insert("notes", r#"{"id":"bad","title":"no number"}"#).await.unwrap();
    let ids: Vec<String> =
        (0..40).map(|at| if at % 7 == 3 { "bad".into() } else { format!("n{}", at % 20) }).collect();
    let number = |id: String| {
        let world = &world;
        async move { get(world, &Access::Owner, &id, "select=n:title::integer", Format::Json).await }
    };
    let results = join_all(ids.iter().cloned().map(number)).await;
    for (id, result) in ids.iter().zip(results) {
        match id.strip_prefix('n') {
            Some(number) => assert_eq!(result.unwrap(), format!(r#"{{"n":{number}}}"#)),
            None => assert!(result.is_err(), "{result:?}"),
        }
    }
}

async fn reads_follow_the_rules_of_their_own_caller(world: World) {
    notes(&world, 20).await;
    let own = json!([{"id": "own", "audience": {"kind": "signed_in"}, "actions": ["read"], "columns": null,
        "where": {"t": "cmp", "column": "owner", "op": "eq", "value": {"k": "me"}}}]);
    let rules: Vec<Rule> = serde_json::from_value(own).unwrap();
    world.engine.set_rules(&world.project, &Access::Owner, "notes", rules).await.unwrap();
    let asked: Vec<(usize, Access)> =
        (0..60).map(|at| (at % 20, [person("ann"), person("bob"), Access::Owner][at % 3].clone())).collect();
    let results = join_all(asked.iter().map(async |(number, access)| {
        get(&world, access, &format!("n{number}"), "select=id", Format::Json).await
    }))
    .await;
    for (at, ((number, _), result)) in asked.iter().zip(results).enumerate() {
        if at % 3 == 2 || number % 2 == at % 3 {
            assert_eq!(result.unwrap(), format!(r#"{{"id":"n{number}"}}"#));
        } else {
            assert_eq!(result.unwrap_err().code(), "row_not_found");
        }
    }
}

async fn reads_succeed_during_a_schema_change(world: World) {
    notes(&world, 20).await;
    let read = async |at: usize| {
        let id = format!("n{}", at % 20);
        get(&world, &Access::Owner, &id, "select=id", Format::Json).await
    };
    let change = async {
        let column = NewColumn::new("later", ColumnType::Integer);
        world.engine.add_column(&world.project, &Access::Owner, "notes", column).await
    };
    let (results, changed) = futures::join!(join_all((0..60).map(read)), change);
    changed.unwrap();
    for (at, result) in results.into_iter().enumerate() {
        assert_eq!(result.unwrap(), format!(r#"{{"id":"n{}"}}"#, at % 20));
    }
}
