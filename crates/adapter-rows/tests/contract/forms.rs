//! Formats of results and bodies: CSV, stripped nulls, cursors, the rows that an upsert created.

use backend_data::{Access, Format, NewIndex, ReadOptions, Resolution, WriteOptions};

use crate::{
    contract,
    filters::notes,
    harness::{World, text},
};

contract!(
    rows_are_written_as_csv,
    rows_are_inserted_as_csv,
    nulls_are_left_out,
    cursors_reach_every_row,
    cursors_use_indexes,
    a_cursor_of_a_long_value_is_refused,
    small_details_are_as_clients_expect,
    upserts_report_inserted_rows
);

async fn rows_are_written_as_csv(world: World) {
    world.table(notes()).await;
    let rows = r#"[{"id":"a","title":"x, \"y\"","qty":1,"price":0.5,"done":true,"due":"2026-01-01T00:00:00Z","meta":{"a":[1,null]}},
        {"id":"b","title":"","qty":null,"price":null,"done":null,"due":null,"meta":null}]"#;
    world.insert("notes", rows).await.unwrap();
    let csv = ReadOptions { format: Format::Csv, ..ReadOptions::default() };
    let page = world.page("select=id,title,qty,price,done,due,meta", &csv).await.unwrap();
    let wanted = "id,title,qty,price,done,due,meta\r\n\
        a,\"x, \"\"y\"\"\",1,0.5,true,2026-01-01T00:00:00.000000Z,\"{\"\"a\"\":[1,null]}\"\r\n\
        b,\"\",,,,,\r\n";
    assert_eq!(std::str::from_utf8(&page.body).unwrap(), wanted);
    assert_eq!(page.rows, 2);
    // Written CSV is read back.
    let World { engine, project, .. } = &world;
    let emptied =
        engine.delete(project, &Access::Owner, "notes", "id=not.is.null", &WriteOptions::default()).await;
    emptied.unwrap();
    let options = WriteOptions { csv_body: true, format: Format::Csv, ..WriteOptions::default() };
    let select = "select=id,title,qty,price,done,due,meta";
    let written =
        engine.insert(project, &Access::Owner, "notes", select, &page.body, &options).await.unwrap();
    assert_eq!(text(&written), wanted);
}

async fn rows_are_inserted_as_csv(world: World) {
    world.table(notes()).await;
    let World { engine, project, .. } = &world;
    let options = WriteOptions { csv_body: true, ..WriteOptions::default() };
    let insert = async |query: &str, body: &str| {
        engine.insert(project, &Access::Owner, "notes", query, body.as_bytes(), &options).await
    };
    insert("", "id,title,qty\na,NULL,1\nb,\"NULL\",\n").await.unwrap();
    insert("columns=id", "id,title,nope\nc,x,y\n").await.unwrap();
    insert("", "title\nfresh\n").await.unwrap();
    assert_eq!(
        world.list("select=id,title,qty&id=in.(a,b,c)").await.unwrap(),
        r#"[{"id":"a","title":null,"qty":1},{"id":"b","title":"NULL","qty":null},{"id":"c","title":null,"qty":null}]"#
    );
    for bad in ["", "nope\n1", "id,id\na,b", "id,qty\na", "qty\nx", "title\n\"x", "id,title\n\"\",x"] {
        assert!(insert("", bad).await.is_err(), "{bad}");
    }
}

async fn nulls_are_left_out(world: World) {
    world.table(notes()).await;
    world
        .insert("notes", r#"[{"id":"a","qty":1,"meta":{"k":null}},{"id":"b","qty":null,"meta":null}]"#)
        .await
        .unwrap();
    let stripped = ReadOptions { format: Format::Stripped, ..ReadOptions::default() };
    let page = world.page("select=qty,meta,k:meta->k", &stripped).await.unwrap();
    assert_eq!(std::str::from_utf8(&page.body).unwrap(), r#"[{"qty":1,"meta":{"k":null}},{}]"#);
}

async fn cursors_reach_every_row(world: World) {
    world.table(notes()).await;
    walks(&world).await;
}

async fn cursors_use_indexes(world: World) {
    world.table(notes()).await;
    for columns in [&["qty"][..], &["price", "qty"], &["qty", "price"], &["done"]] {
        world.engine.add_index(&world.project, &Access::Owner, "notes", NewIndex::on(columns)).await.unwrap();
    }
    walks(&world).await;
}

async fn walks(world: &World) {
    let rows: Vec<String> = (0..23)
        .map(|n| {
            let qty = if n % 4 == 0 { "null".to_owned() } else { (n % 3).to_string() };
            let meta = ["null", "{}", r#"{"k":null}"#, r#"{"k":"a"}"#, r#"{"k":2}"#][n % 5];
            format!(r#"{{"id":"{n:02}","qty":{qty},"price":{}.5,"meta":{meta}}}"#, n % 2)
        })
        .collect();
    world.insert("notes", &format!("[{}]", rows.join(","))).await.unwrap();
    for order in [
        "",
        "&order=qty",
        "&order=qty.desc",
        "&order=qty.asc.nullsfirst,price.desc",
        "&order=price.desc,qty.desc.nullslast",
        "&order=qty.desc.nullslast",
        "&order=qty.nullsfirst",
        "&order=qty,price",
        "&order=qty.desc,price,done",
        "&order=price,qty.desc.nullslast",
        "&order=done,qty.nullsfirst,price.desc",
        "&order=id,qty",
        "&order=id.desc",
        "&order=qty,meta->k",
        "&order=qty.desc,meta->>k,id.desc",
        "&order=qty,price,done,title,due,meta",
        "&order=qty&qty=gte.1",
        "&order=qty&qty=is.null",
        "&order=meta->k",
        "&order=meta->k.desc.nullslast,id.desc",
        "&order=meta->>k.desc",
    ] {
        let whole = world.list(&format!("select=id{order}")).await.unwrap();
        let (mut walked, mut cursor, mut pages) = (Vec::new(), String::new(), 0);
        loop {
            let query = format!("select=id&limit=5{order}&cursor={cursor}");
            let page = world.page(&query, &ReadOptions::default()).await.unwrap();
            let rows: Vec<serde_json::Value> = serde_json::from_slice(&page.body).unwrap();
            walked.extend(rows);
            pages += 1;
            match page.next_cursor {
                Some(next) => cursor = next,
                None => break,
            }
        }
        assert_eq!(serde_json::to_string(&walked).unwrap(), whole, "{order}");
        let rows = whole.matches("\"id\"").count();
        assert_eq!(pages, rows / 5 + 1, "{order}");
    }
    let page = world.page("limit=1&order=qty&cursor=", &ReadOptions::default()).await.unwrap();
    let other = format!("limit=1&order=price&cursor={}", page.next_cursor.unwrap());
    assert_eq!(world.page(&other, &ReadOptions::default()).await.unwrap_err().code(), "invalid_request");
    // A query without `cursor` gets none.
    assert_eq!(world.page("limit=1", &ReadOptions::default()).await.unwrap().next_cursor, None);
}

async fn small_details_are_as_clients_expect(world: World) {
    world.table(notes()).await;
    let rows = r#"[{"id":"a","title":"İ","done":"true","qty":"1"},{"id":"b","title":"ii","done":"no","qty":"2"},
        {"id":"c","title":"ß","done":null,"qty":null}]"#;
    world.insert("notes", rows).await.unwrap();
    assert_eq!(world.list("select=id,done&done=is.true").await.unwrap(), r#"[{"id":"a","done":true}]"#);
    for (pattern, found) in
        [("_", "ac"), ("İ", "a"), ("i", "a"), ("I", "a"), ("i*", "ab"), ("İİ", "b"), ("ß", "c")]
    {
        assert_eq!(world.ids(&format!("title=ilike.{pattern}&select=id&order=id")).await, found, "{pattern}");
    }
    assert_eq!(world.list("select=count").await.unwrap(), r#"[{"count":3}]"#);
    assert_eq!(
        world.list("select=n:count,done&order=done.nullsfirst").await.unwrap(),
        r#"[{"n":1,"done":null},{"n":1,"done":false},{"n":1,"done":true}]"#
    );
    let object = ReadOptions { single_object: true, ..ReadOptions::default() };
    for (query, rows) in [("", 3), ("limit=2", 2), ("offset=1", 2), ("qty=gt.7", 0)] {
        let error = world.page(query, &object).await.unwrap_err();
        assert_eq!(error.code(), "not_one_row");
        assert_eq!(error.details(), Some(&*format!("The result contains {rows} rows.")), "{query}");
    }
    let counted = ReadOptions { include_count: true, ..ReadOptions::default() };
    assert_eq!(world.page("offset=9", &counted).await.unwrap_err().total(), Some(3));
    for bad in ["select=meta->>--34", "select=meta->-", "meta->-a=eq.1"] {
        assert_eq!(world.list(bad).await.unwrap_err().code(), "invalid_request", "{bad}");
    }
    world.list("select=x:meta->\"--34\",y:meta->-1").await.unwrap();
    let many = format!("[{}]", vec![r#"{"title":"x"}"#; 501].join(","));
    let error = world.insert("notes", &many).await.unwrap_err();
    assert_eq!(error.message(), "the body does not fit: more than 500 rows");
    let error = world.insert("notes", "[1]").await.unwrap_err();
    assert_eq!(error.message(), "the body must be a JSON object or an array of them");
    let error = world.insert("notes", r#"{"title":"x","title":"y"}"#).await.unwrap_err();
    assert_eq!(error.message(), r#"the body does not fit: the key "title" appears twice"#);
    // A column named `count` is the column.
    let table = backend_data::NewTable::new("tallies")
        .with_column(backend_data::NewColumn::new("count", backend_data::ColumnType::Integer));
    world.table(table).await;
    world.insert("tallies", r#"{"count":7}"#).await.unwrap();
    let (read, access) = (ReadOptions::default(), Access::Owner);
    let page = world.engine.list(&world.project, &access, "tallies", "select=count", &read).await.unwrap();
    assert_eq!(&page.body[..], br#"[{"count":7}]"#);
}

async fn a_cursor_of_a_long_value_is_refused(world: World) {
    world.table(notes()).await;
    let rows = |length| {
        format!(
            r#"[{{"id":"a{length}","title":"{0}"}},{{"id":"b{length}","title":"{0}"}}]"#,
            "x".repeat(length)
        )
    };
    world.insert("notes", &rows(5_000)).await.unwrap();
    let first = "order=title&limit=1&select=id&cursor=";
    let page = world.page(first, &ReadOptions::default()).await.unwrap();
    let next =
        world.page(&format!("{first}{}", page.next_cursor.unwrap()), &ReadOptions::default()).await.unwrap();
    assert_eq!(&next.body[..], br#"[{"id":"b5000"}]"#);
    world.insert("notes", &rows(20_000)).await.unwrap();
    let descending = "order=title.desc&limit=1&select=id&cursor=";
    let refused = world.page(descending, &ReadOptions::default()).await.unwrap_err();
    assert_eq!(refused.code(), "invalid_value");
}

async fn upserts_report_inserted_rows(world: World) {
    world.table(notes()).await;
    let World { engine, project, .. } = &world;
    let options = WriteOptions { resolution: Some(Resolution::MergeDuplicates), ..WriteOptions::default() };
    let upsert = async |rows: &str, minimal: bool| {
        let options = WriteOptions { minimal, ..options };
        engine.insert(project, &Access::Owner, "notes", "", rows.as_bytes(), &options).await.unwrap()
    };
    assert_eq!(upsert(r#"[{"id":"a","qty":1},{"id":"b","qty":1}]"#, false).await.inserted, Some(2));
    let written = upsert(r#"[{"id":"b","qty":2},{"id":"c","qty":2}]"#, true).await;
    assert_eq!((written.rows, written.inserted), (2, Some(1)));
    assert_eq!(upsert(r#"{"id":"a","qty":3}"#, true).await.inserted, Some(0));
    assert_eq!(
        world.list("select=id,qty").await.unwrap(),
        r#"[{"id":"a","qty":3},{"id":"b","qty":2},{"id":"c","qty":2}]"#
    );
}
