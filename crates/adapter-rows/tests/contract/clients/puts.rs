//! Upserts of one row by its id.

use super::*;
use crate::contract;

contract!(a_put_makes_a_row_and_updates_it, a_put_names_one_row, a_put_keeps_to_the_rules_of_a_merge,);

async fn a_put_makes_a_row_and_updates_it(world: World) {
    notes(&world).await;
    let owner = Access::Owner;
    let made = put(&world, &owner, "id=eq.tea&select=id,qty", r#"{"id":"tea","qty":1}"#).await.unwrap();
    assert_eq!(made, (r#"[{"id":"tea","qty":1}]"#.into(), Some(1)));
    let again = put(&world, &owner, "id=eq.tea&select=id,qty,owner", r#"{"owner":"ann"}"#).await.unwrap();
    assert_eq!(again, (r#"[{"id":"tea","qty":1,"owner":"ann"}]"#.into(), Some(0)));
    // Nothing but the id: the row is there.
    assert_eq!(put(&world, &owner, "id=eq.new&select=id", "{}").await.unwrap().1, Some(1));
    assert_eq!(put(&world, &owner, "id=eq.new&select=id", r#"[{"id":"new"}]"#).await.unwrap().1, Some(0));
    assert_eq!(world.ids("order=id").await, "newtea");
}

async fn a_put_names_one_row(world: World) {
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
