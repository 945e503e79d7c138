//! Reads: values, filters, order, pages.

use backend_data::{Access, ColumnType, ErrorKind, Format, NewColumn, NewTable, ReadOptions};

use crate::{contract, harness::World};

contract!(
    values_are_returned_as_they_were_sent,
    filters_match_their_rows,
    what_does_not_fit_is_refused,
    pages_are_stable_and_counted,
    one_row_is_returned_as_an_object,
    a_row_is_read_by_its_id,
);

pub(crate) fn notes() -> NewTable {
    NewTable::new("notes")
        .with_column(NewColumn::new("title", ColumnType::Text))
        .with_column(NewColumn::new("qty", ColumnType::Integer))
        .with_column(NewColumn::new("price", ColumnType::Real))
        .with_column(NewColumn::new("done", ColumnType::Boolean))
        .with_column(NewColumn::new("due", ColumnType::Timestamp))
        .with_column(NewColumn::new("meta", ColumnType::Json))
}

async fn values_are_returned_as_they_were_sent(world: World) {
    world.table(notes()).await;
    let row = r#"{"id":"a","title":"é\n\"x\" \\ 'q'","qty":"9223372036854775807","price":0.1,"done":true,
        "due":"2026-11-21T12:00:00.5+02:00","meta":{"b":[1, 2.50, 1e3],"a b":" x , y ","a":null}}"#;
    let written = world.insert("notes", row).await.unwrap();
    let shown = "select=title,qty,price,done,due,meta";
    let wanted = r#"{"title":"é\n\"x\" \\ 'q'","qty":9223372036854775807,"price":0.1,"done":true,"due":"2026-11-21T10:00:00.500000Z","meta":{"a":null,"b":[1,2.5,1000],"a b":" x , y "}}"#;
    assert_eq!(world.list(shown).await.unwrap(), format!("[{wanted}]"));
    assert!(written.ends_with(&format!("{}]", &wanted[1..])), "{written}");

    world
        .insert("notes", r#"[{"id":"b","price":-0.0,"meta":"text"},{"id":"c","price":1e300,"meta":7}]"#)
        .await
        .unwrap();
    world.insert("notes", r#"{"id":"d"}"#).await.unwrap();
    assert_eq!(
        world.list("select=id,price,meta,done&id=neq.a").await.unwrap(),
        r#"[{"id":"b","price":0.0,"meta":"text","done":null},{"id":"c","price":1e+300,"meta":7,"done":null},{"id":"d","price":null,"meta":null,"done":null}]"#
    );
    for bad in [
        r#"{"title":1}"#,
        r#"{"title":"\u0000"}"#,
        r#"{"qty":1.5}"#,
        r#"{"qty":9223372036854775808}"#,
        r#"{"price":"NaN"}"#,
        r#"{"price":1e999}"#,
        r#"{"done":1}"#,
        r#"{"due":"soon"}"#,
        r#"{"meta":{"k":"\u0000"}}"#,
        r#"{"nope":1}"#,
        r#"{"created_at":"2026-01-01T00:00:00Z"}"#,
        r#"{"id":""}"#,
        r#"{"id":7}"#,
        r#"{"title":"x","title":"y"}"#,
        r#"[{"title":"x"},{"qty":1}]"#,
        "[1]",
        "",
        "{",
    ] {
        let error = world.insert("notes", bad).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{bad}: {error}");
    }
    assert_eq!(world.ids("").await, "abcd");
}

async fn filters_match_their_rows(world: World) {
    world.table(notes()).await;
    world
        .insert(
            "notes",
            r#"[{"id":"a","title":"Alpha","qty":1,"price":1.5,"done":true,"due":"2026-01-01T00:00:00Z","meta":null},
                {"id":"b","title":"beta, \"b\"","qty":2,"price":null,"done":false,"due":"2026-01-02T00:00:00Z","meta":1},
                {"id":"c","title":"Гамма","qty":3,"price":-2.0,"done":null,"due":"2026-01-03T00:00:00Z","meta":2},
                {"id":"d","title":null,"qty":null,"price":1e10,"done":true,"due":null,"meta":3}]"#,
        )
        .await
        .unwrap();
    for (query, wanted) in [
        ("", "abcd"),
        ("qty=eq.2", "b"),
        ("qty=neq.2", "ac"),
        ("qty=not.eq.2", "ac"),
        ("qty=gt.1&qty=lt.3", "b"),
        ("qty=gte.2", "bc"),
        ("qty=lte.2", "ab"),
        ("price=eq.1.5", "a"),
        ("price=gt.0", "ad"),
        ("done=eq.true", "ad"),
        ("done=is.true", "ad"),
        ("done=is.FALSE", "b"),
        ("done=is.unknown", "c"),
        ("done=not.is.true", "bc"),
        ("title=is.null", "d"),
        ("title=not.is.null", "abc"),
        ("title=is.not_null", "abc"),
        ("meta=is.null", "a"),
        ("due=gte.2026-01-02T03:00:00%2B03:00", "bc"),
        ("due=lt.2026-01-02", "a"),
        ("title=eq.beta, \"b\"", "b"),
        ("title=like.A*", "a"),
        ("title=like.a*", ""),
        ("title=ilike.a*", "a"),
        ("title=ilike.гамм_", "c"),
        ("title=like.%25et_, %25", "b"),
        ("title=like(any).{Al*,Га*}", "ac"),
        ("title=like(all).{*a*,A*}", "a"),
        ("qty=in.(1,3)", "ac"),
        ("qty=not.in.(1,3)", "b"),
        ("qty=in.()", ""),
        ("qty=not.in.()", "abcd"),
        ("title=in.(Alpha,\"beta, \\\"b\\\"\")", "ab"),
        ("price=in.(1.5,1e10)", "ad"),
        ("done=in.(true)", "ad"),
        ("due=in.(2026-01-01)", "a"),
        ("qty=eq(any).{1,2}", "ab"),
        ("qty=gt(all).{1,2}", "c"),
        ("qty=isdistinct.1", "bcd"),
        ("qty=not.isdistinct.1", "a"),
        ("or=(qty.eq.1,title.is.null)", "ad"),
        ("not.or=(qty.eq.1,qty.eq.2)", "c"),
        ("and=(qty.gt.1,or(done.is.false,done.is.null))", "bc"),
        ("or=(qty.eq.1,not.and(qty.gt.1,qty.lt.3),title.in.(\"x,y\"))", "ac"),
        ("order=title.desc", "dcba"),
        ("order=title.desc.nullslast", "cbad"),
        ("order=price", "cadb"),
        ("order=price.nullsfirst", "bcad"),
        ("order=done.asc,qty.desc", "bdac"),
        ("order=qty.desc.nullslast&limit=2", "cb"),
        ("order=qty.asc&limit=2&offset=1", "bc"),
        ("offset=-5", "abcd"),
        ("limit=0", ""),
    ] {
        assert_eq!(world.ids(query).await, wanted, "{query}");
    }
    assert_eq!(world.list("select=nr:id,qty&qty=eq.1").await.unwrap(), r#"[{"nr":"a","qty":1}]"#);
}

async fn what_does_not_fit_is_refused(world: World) {
    world.table(notes()).await;
    for (query, code) in [
        ("nope=eq.1", "column_not_found"),
        ("select=nope", "column_not_found"),
        ("order=nope", "column_not_found"),
        ("qty=eq.x", "invalid_value"),
        ("qty=in.( ,3)", "invalid_value"),
        ("qty=is.true", "invalid_value"),
        ("qty=like.1*", "invalid_value"),
        ("qty=1", "invalid_request"),
        ("qty=almost.1", "invalid_request"),
        ("or=()", "invalid_request"),
        ("select=id,id", "invalid_request"),
        ("limit=x", "invalid_request"),
        ("columns=id", "invalid_request"),
        ("title=fts.word", "unsupported_query"),
        ("title=match.(", "invalid_value"),
        ("title=match.(?i)a", "unsupported_query"),
        ("title=like.a\\", "invalid_value"),
        ("qty=match.1", "invalid_value"),
        ("qty->a=eq.1", "invalid_value"),
        ("meta=eq.x", "invalid_value"),
        ("meta->a=is.true", "invalid_value"),
        ("title=cs.1", "invalid_value"),
        ("select=qty::timestamp", "unsupported_query"),
        ("select=title::uuid", "unsupported_query"),
        ("select=done.max()", "invalid_value"),
        ("select=title.sum()", "invalid_value"),
        ("select=count()&order=qty", "invalid_request"),
        ("select=count()&cursor=", "invalid_request"),
        ("cursor=&offset=1", "invalid_request"),
        ("select=id,other(id)", "unsupported_query"),
        ("cursor=x", "invalid_request"),
        ("limit=-1", "invalid_range"),
    ] {
        let error = world.list(query).await.unwrap_err();
        assert_eq!(error.code(), code, "{query}: {error}");
    }
    let missing =
        world.engine.list(&world.project, &Access::Owner, "nope", "", &ReadOptions::default()).await;
    assert_eq!(missing.unwrap_err().code(), "table_not_found");
    let project = crate::harness::fresh_project();
    let missing = world.engine.list(&project, &Access::Owner, "notes", "", &ReadOptions::default()).await;
    assert_eq!(missing.unwrap_err().code(), "project_not_found");
}

async fn pages_are_stable_and_counted(world: World) {
    world.table(notes()).await;
    let rows: Vec<String> = (0..25).map(|n| format!(r#"{{"qty":{}}}"#, n % 5)).collect();
    world.insert("notes", &format!("[{}]", rows.join(","))).await.unwrap();
    let counted = ReadOptions { include_count: true, ..ReadOptions::default() };
    let mut seen = std::collections::BTreeSet::new();
    for offset in (0..25).step_by(10) {
        let page = world.page(&format!("order=qty&limit=10&offset={offset}"), &counted).await.unwrap();
        assert_eq!((page.total, page.offset), (Some(25), offset));
        let rows: Vec<serde_json::Value> = serde_json::from_slice(&page.body).unwrap();
        seen.extend(rows.iter().map(|row| row["id"].to_string()));
    }
    assert_eq!(seen.len(), 25);
    let page = world.page("qty=eq.3&limit=2", &counted).await.unwrap();
    assert_eq!((page.rows, page.total), (2, Some(5)));
    let page = world.page("offset=25", &counted).await.unwrap();
    assert_eq!((page.rows, &page.body[..]), (0, &b"[]"[..]));
    assert_eq!(world.page("offset=26", &counted).await.unwrap_err().kind(), ErrorKind::Range);
    let ranged = |first, last| ReadOptions { range: Some((first, last)), ..ReadOptions::default() };
    let page = world.page("", &ranged(5, Some(9))).await.unwrap();
    assert_eq!((page.rows, page.offset, page.total), (5, 5, None));
    assert_eq!(world.page("", &ranged(1, Some(0))).await.unwrap_err().kind(), ErrorKind::Range);
    assert_eq!(world.page("limit=7", &ranged(5, None)).await.unwrap().rows, 2);
}

async fn one_row_is_returned_as_an_object(world: World) {
    world.table(notes()).await;
    world.insert("notes", r#"[{"id":"a","qty":1},{"id":"b","qty":1}]"#).await.unwrap();
    let object = ReadOptions { single_object: true, ..ReadOptions::default() };
    let page = world.page("select=id&id=eq.b", &object).await.unwrap();
    assert_eq!(&page.body[..], br#"{"id":"b"}"#);
    for query in ["qty=eq.1", "qty=eq.2"] {
        assert_eq!(world.page(query, &object).await.unwrap_err().kind(), ErrorKind::NotAcceptable, "{query}");
    }
}

async fn a_row_is_read_by_its_id(world: World) {
    world.table(notes()).await;
    world.insert("notes", r#"{"id":"a'\"b","qty":1}"#).await.unwrap();
    let get = async |id: &str, query: &str| {
        world.engine.get(&world.project, &Access::Owner, "notes", id, query, Format::Json).await
    };
    assert_eq!(&get("a'\"b", "select=qty").await.unwrap().body[..], br#"{"qty":1}"#);
    assert_eq!(get("b", "").await.unwrap_err().code(), "row_not_found");
    assert_eq!(get("a\0b", "").await.unwrap_err().code(), "row_not_found");
    assert_eq!(get("a", "qty=eq.1").await.unwrap_err().code(), "invalid_request");
}
