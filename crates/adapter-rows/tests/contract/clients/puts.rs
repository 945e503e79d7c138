//! PUT: upserts of one row by its id.

use super::*;
use crate::contract;

contract!(
    a_put_creates_a_row_and_updates_it,
    a_put_needs_the_id_of_one_row,
    a_put_keeps_to_the_rules_of_a_merge,
    a_batch_puts_rows_among_other_operations,
);

async fn a_put_creates_a_row_and_updates_it(world: World) {
    notes(&world).await;
    let owner = Access::Owner;
    let made = put(&world, &owner, "id=eq.tea&select=id,qty", r#"{"id":"tea","qty":1}"#).await.unwrap();
    assert_eq!(made, (r#"[{"id":"tea","qty":1}]"#.into(), Some(1)));
    let again = put(&world, &owner, "id=eq.tea&select=id,qty,owner", r#"{"owner":"ann"}"#).await.unwrap();
    assert_eq!(again, (r#"[{"id":"tea","qty":1,"owner":"ann"}]"#.into(), Some(0)));
    // Without other columns than the id, the existing row is returned.
    assert_eq!(put(&world, &owner, "id=eq.new&select=id", "{}").await.unwrap().1, Some(1));
    assert_eq!(put(&world, &owner, "id=eq.new&select=id", r#"[{"id":"new"}]"#).await.unwrap().1, Some(0));
    assert_eq!(world.ids("order=id").await, "newtea");
}

async fn a_put_needs_the_id_of_one_row(world: World) {
    five(&world).await;
    let owner = Access::Owner;
    let before = world.list("order=id").await.unwrap();
    let queries = [
        "",
        "select=id",
        "id=neq.a",
        "id=in.(a)",
        "id=not.eq.a",
        "id=eq.a&qty=eq.3",
        "id=eq.a&id=eq.a",
        "qty=eq.3",
        "or=(id.eq.a)",
        "id=eq(any).{a}",
        "id=like.a",
        "id->x=eq.a",
    ];
    for query in queries {
        let refused = put(&world, &owner, query, r#"{"qty":9}"#).await.unwrap_err();
        assert_eq!((refused.kind(), refused.pgrst_code()), (ErrorKind::Invalid, "PGRST105"), "{query}");
    }
    for query in [
        "id=eq.a&limit=1",
        "id=eq.a&order=id",
        "id=eq.a&offset=1",
        "id=eq.a&columns=qty",
        "id=eq.a&on_conflict=id",
    ] {
        assert_eq!(
            put(&world, &owner, query, r#"{"qty":9}"#).await.unwrap_err().pgrst_code(),
            "PGRST114",
            "{query}"
        );
    }
    let bodies = [
        r#"{"id":"b","qty":9}"#,
        "[]",
        r#"[{"qty":1},{"qty":2}]"#,
        "7",
        "",
        r#"{"nope":1}"#,
        r#"{"created_at":null}"#,
    ];
    for body in bodies {
        let refused = put(&world, &owner, "id=eq.a", body).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Invalid, "{body}");
    }
    let long = format!("id=eq.{}", "x".repeat(129));
    assert_eq!(code(put(&world, &owner, &long, "{}").await), "invalid_value");
    assert_eq!(code(put(&world, &owner, "id=eq.", "{}").await), "invalid_value");
    assert_eq!(world.list("order=id").await.unwrap(), before);
}

async fn a_put_keeps_to_the_rules_of_a_merge(world: World) {
    five(&world).await;
    set_rules(&world, json!([rule("own", &["read", "insert", "update"], &own())])).await;
    let before = world.list("order=id").await.unwrap();
    for (id, body) in [
        ("b", r#"{"owner":"mia"}"#),
        ("b", r#"{"qty":1}"#),
        ("a", r#"{"owner":"tom"}"#),
        ("z", r#"{"owner":"tom"}"#),
    ] {
        assert_eq!(code(put(&world, &mia(), &format!("id=eq.{id}"), body).await), "forbidden", "{id} {body}");
        assert_eq!(world.list("order=id").await.unwrap(), before, "{id} {body}");
    }
    assert_eq!(put(&world, &mia(), "id=eq.a&select=id", r#"{"qty":8}"#).await.unwrap().1, Some(0));
    assert_eq!(put(&world, &mia(), "id=eq.z&select=id", r#"{"owner":"mia"}"#).await.unwrap().1, Some(1));
    set_rules(&world, json!([rule("own", &["read"], &own())])).await;
    assert_eq!(code(put(&world, &mia(), "id=eq.a", r#"{"qty":8}"#).await), "forbidden");
    assert_eq!(code(put(&world, &Access::service([]), "id=eq.a", r#"{"qty":8}"#).await), "forbidden");
}

async fn a_batch_puts_rows_among_other_operations(world: World) {
    five(&world).await;
    let put = |id: Option<&'static str>, query: &'static str, body: &'static str| Operation {
        kind: OperationKind::Put,
        table: "notes",
        id,
        query,
        body: body.as_bytes(),
        options: WriteOptions::default(),
    };
    let batch = async |access: Access, operations: Vec<Operation<'_>>| {
        world.engine.batch(&world.project, &access, operations).await
    };
    let gone = Operation { kind: OperationKind::Delete, ..put(Some("a"), "select=id", "") };
    let done = batch(
        Access::Owner,
        vec![
            put(None, "id=eq.a&select=id,qty,owner", r#"{"qty":30}"#),
            put(Some("n"), "select=id,qty", r#"{"qty":1}"#),
            put(Some("n"), "select=id,qty", r#"{"id":"n","qty":2}"#),
            gone.clone(),
            put(None, "id=eq.a&select=id,owner", r#"{"qty":31}"#),
        ],
    );
    let done: Vec<_> = done.await.unwrap().iter().map(|done| (text(done), done.inserted)).collect();
    let shown = |body: &str, inserted| (body.to_owned(), Some(inserted));
    assert_eq!(done[0], shown(r#"[{"id":"a","qty":30,"owner":"mia"}]"#, 0));
    assert_eq!(done[1], shown(r#"{"id":"n","qty":1}"#, 1), "an operation with an id returns an object");
    assert_eq!(done[2].0, r#"{"id":"n","qty":2}"#);
    assert_eq!(done[3].0, r#"{"id":"a"}"#);
    assert_eq!(done[4].0, r#"[{"id":"a","owner":null}]"#, "it is another row");
    let before = world.list("order=id").await.unwrap();
    let long = "x".repeat(129);
    for (bad, wanted) in [
        (put(None, "", "{}"), "invalid_request"),
        (put(None, "id=eq.q&order=id", "{}"), "invalid_request"),
        (put(None, "qty=eq.1", "{}"), "invalid_request"),
        (put(Some("q"), "id=eq.q", "{}"), "invalid_request"),
        (put(Some("q"), "", r#"{"id":"p"}"#), "invalid_body"),
        (put(Some("q"), "", "[]"), "invalid_body"),
        (put(Some("q"), "", r#"[{"qty":1},{"qty":2}]"#), "invalid_body"),
        (put(Some("q"), "", r#"{"nope":1}"#), "column_not_found"),
        (put(Some(""), "", "{}"), "invalid_value"),
        (Operation { id: Some(&long), ..put(None, "", "{}") }, "invalid_value"),
        (Operation { table: "nope", ..put(Some("q"), "", "{}") }, "table_not_found"),
    ] {
        let refused = batch(Access::Owner, vec![put(Some("w"), "", r#"{"qty":1}"#), bad]).await.unwrap_err();
        assert_eq!(refused.code(), wanted);
        assert!(refused.details().is_some_and(|details| details.contains("operation 1")), "{refused:?}");
        assert_eq!(world.list("order=id").await.unwrap(), before, "the batch changes nothing");
    }
    set_rules(&world, json!([rule("own", &["read", "insert", "update"], &own())])).await;
    let mine = put(Some("mine"), "", r#"{"owner":"mia"}"#);
    for theirs in [put(Some("b"), "", r#"{"owner":"mia"}"#), put(None, "id=eq.b", r#"{"qty":1}"#)] {
        let refused = batch(mia(), vec![mine.clone(), theirs]).await.unwrap_err();
        assert_eq!((refused.kind(), world.ids("id=eq.mine").await), (ErrorKind::Forbidden, String::new()));
    }
    batch(mia(), vec![mine]).await.unwrap();
    assert_eq!(world.ids("id=eq.mine").await, "mine");
}
