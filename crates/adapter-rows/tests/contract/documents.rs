//! Paths into documents, regular expressions, casts, aggregates.

use backend_data::ReadOptions;

use crate::{contract, filters::notes, harness::World};

contract!(
    paths_into_documents_are_filtered,
    paths_into_documents_are_selected,
    expressions_match_alike,
    casts_give_the_same_text,
    rows_are_aggregated,
);

async fn documents(world: &World) {
    world.table(notes()).await;
    world
        .insert(
            "notes",
            r#"[{"id":"a","meta":{"k":1,"t":"x","l":[1,{"z":true}],"q\"":"odd"}},
                {"id":"b","meta":{"k":10,"t":"X","l":[]}},
                {"id":"c","meta":{"k":"9","t":null}},
                {"id":"d","meta":[1,2,[3]]},
                {"id":"e","meta":"text"},
                {"id":"f","meta":null}]"#,
        )
        .await
        .unwrap();
}

async fn paths_into_documents_are_filtered(world: World) {
    documents(&world).await;
    for (query, wanted) in [
        ("meta->>t=eq.x", "a"),
        ("meta->>t=is.null", "cdef"),
        ("meta->t=is.null", "def"),
        ("meta->t=eq.null", "c"),
        ("meta->k=eq.1", "a"),
        ("meta->k=neq.1", "bc"),
        ("meta->k=gt.1", "b"),
        ("meta->k=gte.1", "ab"),
        ("meta->k=lt.1", "c"),
        ("meta->>k=gt.1", "bc"),
        ("meta->k=in.(1,\"\\\"9\\\"\")", "ac"),
        ("meta->k=isdistinct.1", "bcdef"),
        ("meta->l->0=eq.1", "a"),
        ("meta->l->-1->z=eq.true", "a"),
        ("meta->l->>1=eq.{\"z\": true}", "a"),
        ("meta->0=eq.1", "d"),
        ("meta->-1->0=eq.3", "d"),
        ("meta->0=eq.\"text\"", "e"),
        ("meta->>\"q\\\"\"=eq.odd", "a"),
        ("meta->>t=ilike.X", "ab"),
        ("meta->>t=imatch.^x$", "ab"),
        ("meta=cs.{\"k\":1}", "a"),
        ("meta=cs.[3]", ""),
        ("meta=cs.[[3],1]", "d"),
        ("meta=cs.2", "d"),
        ("meta=cd.{\"k\":10,\"t\":\"X\",\"l\":[1],\"more\":0}", "b"),
        ("meta=cd.[\"text\"]", "e"),
        ("meta->l=cs.[1]", "a"),
        ("meta=eq.\"text\"", "e"),
        ("order=meta->k.desc", "fedbac"),
        ("order=meta->k.desc.nullslast", "bacfed"),
        ("order=meta->>k.desc.nullslast", "cbafed"),
        ("order=meta", "edcabf"),
        ("meta->k=not.is.null&order=meta->k", "cab"),
    ] {
        let found = world.ids(query).await;
        assert_eq!(found, wanted, "{query}");
    }
}

async fn paths_into_documents_are_selected(world: World) {
    documents(&world).await;
    for (query, wanted) in [
        ("select=meta->k&id=eq.a", r#"[{"k":1}]"#),
        ("select=meta->>k&id=eq.a", r#"[{"k":"1"}]"#),
        ("select=meta->l->0&id=eq.a", r#"[{"l":1}]"#),
        ("select=meta->0&id=eq.d", r#"[{"meta":1}]"#),
        ("select=z:meta->l->1->>z&id=eq.a", r#"[{"z":"true"}]"#),
        ("select=meta->>l&id=eq.a", r#"[{"l":"[1, {\"z\": true}]"}]"#),
        ("select=meta->l&id=in.(a,b,c)", r#"[{"l":[1,{"z":true}]},{"l":[]},{"l":null}]"#),
        ("select=meta->k::integer&id=in.(a,b)", r#"[{"k":1},{"k":10}]"#),
    ] {
        assert_eq!(world.list(query).await.unwrap(), wanted, "{query}");
    }
    assert_eq!(world.list("select=meta->k::integer&id=eq.c").await.unwrap_err().code(), "invalid_value");
}

async fn expressions_match_alike(world: World) {
    world.table(notes()).await;
    let rows = r#"[{"id":"a","title":"Alpha 1"},{"id":"b","title":"beta-22"},{"id":"c","title":"Жаңа\nжол"},
        {"id":"d","title":""},{"id":"e","title":"a.b[c]"}]"#;
    world.insert("notes", rows).await.unwrap();
    for (expression, wanted) in [
        ("match.^A", "a"),
        ("imatch.^a", "ae"),
        ("match.[0-9]{2}$", "b"),
        (r"match.\d", "ab"),
        (r"match.^\w%2B$", ""),
        (r"match.\bbeta\b", "b"),
        ("match.^$", "d"),
        ("match.", "abcde"),
        ("imatch.^жаңа.ЖОЛ$", "c"),
        ("match.(lph|eta)", "ab"),
        (r"match.a\.b\[c\]", "e"),
        ("match.[^ -~]", "c"),
        ("match(any).{^A,^b}", "ab"),
        ("match(all).{a,1}", "a"),
        ("not.match.a", "cd"),
        ("match.x*?y?", "abcde"),
    ] {
        assert_eq!(world.ids(&format!("title={expression}")).await, wanted, "{expression}");
    }
}

async fn casts_give_the_same_text(world: World) {
    world.table(notes()).await;
    world
        .insert(
            "notes",
            r#"{"id":"a","title":" 12 ","qty":-7,"price":1e15,"done":true,"due":"2026-01-02T03:04:05Z","meta":{"a":[1,2]}}"#,
        )
        .await
        .unwrap();
    for (select, wanted) in [
        ("title::int", "12"),
        ("title::float8", "12.0"),
        ("qty::text", "\"-7\""),
        ("qty::real", "-7.0"),
        ("qty::bool", "true"),
        ("qty::json", "-7"),
        ("price::text", "\"1e+15\""),
        ("price::bigint", "1000000000000000"),
        ("price::jsonb", "1000000000000000"),
        ("done::text", "\"true\""),
        ("done::integer", "1"),
        ("done::json", "true"),
        ("due::text", "\"2026-01-02T03:04:05.000000Z\""),
        ("due::json", "\"2026-01-02T03:04:05.000000Z\""),
        ("meta::text", r#""{\"a\": [1, 2]}""#),
        ("meta->a->1::text", "\"2\""),
        ("meta->a->0::real", "1.0"),
    ] {
        let shown = world.list(&format!("select=v:{select}")).await.unwrap();
        assert_eq!(shown, format!("[{{\"v\":{wanted}}}]"), "{select}");
    }
    for (id, title, cast, wanted) in [
        ("t1", "2026-01-02", "timestamptz", Some("\"2026-01-02T00:00:00.000000Z\"")),
        ("t2", "2026-01-02 03:04:05.25", "timestamp", Some("\"2026-01-02T03:04:05.250000Z\"")),
        ("t3", "2026-01-02T03:04:05+05:30", "timestamp", Some("\"2026-01-01T21:34:05.000000Z\"")),
        ("t4", "now", "timestamp", None),
        ("t5", "2026-02-30", "timestamp", None),
        ("t6", "9999-12-31T23:59:59-01:00", "timestamp", None),
        ("t7", "2026-01-02 03:04:05 Europe/Berlin", "timestamp", None),
        ("j1", "{\"b\": [1, \"x\"], \"a\":null}", "json", Some(r#"{"a":null,"b":[1,"x"]}"#)),
        ("j2", "{", "json", None),
        ("j3", "\"\\u0000\"", "json", None),
    ] {
        let row = serde_json::json!({"id": id, "title": title}).to_string();
        world.insert("notes", &row).await.unwrap();
        let shown = world.list(&format!("select=v:title::{cast}&id=eq.{id}")).await;
        match wanted {
            Some(wanted) => assert_eq!(shown.unwrap(), format!("[{{\"v\":{wanted}}}]"), "{title}"),
            None => assert_eq!(shown.unwrap_err().code(), "invalid_value", "{title}"),
        }
    }
    world.insert("notes", r#"{"id":"none"}"#).await.unwrap();
    let none = world.list("select=a:title::timestamp,b:title::json&id=eq.none").await.unwrap();
    assert_eq!(none, r#"[{"a":null,"b":null}]"#);
    for select in ["meta::integer", "title::bool", "meta->a::real"] {
        let error = world.list(&format!("select={select}")).await.unwrap_err();
        assert_eq!(error.code(), "invalid_value", "{select}");
    }
}

async fn rows_are_aggregated(world: World) {
    world.table(notes()).await;
    let rows = r#"[{"id":"a","title":"x","qty":1,"price":0.5,"meta":{"n":3}},{"id":"b","title":"x","qty":2,"price":1.5,"meta":{"n":4}},
        {"id":"c","title":"y","qty":9,"price":null,"meta":{"n":"5"}},{"id":"d","title":null,"qty":null,"price":2.0,"meta":null}]"#;
    world.insert("notes", rows).await.unwrap();
    for (query, wanted) in [
        ("select=count()", r#"[{"count":4}]"#),
        ("select=n:count()&qty=gt.100", r#"[{"n":0}]"#),
        ("select=qty.sum()&qty=gt.100", r#"[{"sum":null}]"#),
        (
            "select=qty.sum(),a:qty.avg(),qty.min(),qty.max(),c:qty.count()",
            r#"[{"sum":12,"a":4.0,"min":1,"max":9,"c":3}]"#,
        ),
        ("select=price.sum(),avg:price.avg()", r#"[{"sum":4.0,"avg":1.3333333333333333}]"#),
        (
            "select=title,qty.sum()",
            r#"[{"title":"x","sum":3},{"title":"y","sum":9},{"title":null,"sum":null}]"#,
        ),
        ("select=title,count()&order=title.desc.nullslast&limit=1&offset=1", r#"[{"title":"x","count":2}]"#),
        ("select=t:title.max(),d:due.min()", r#"[{"t":"y","d":null}]"#),
        ("select=qty.sum()::text", r#"[{"sum":"12"}]"#),
        ("select=m:meta->n::text.max()", r#"[{"m":"4"}]"#),
        ("select=n:meta->n::real.sum()&id=in.(a,b)", r#"[{"n":7.0}]"#),
        (
            "select=meta->n,count()&id=neq.d&order=meta->n.desc",
            r#"[{"n":4,"count":1},{"n":3,"count":1},{"n":"5","count":1}]"#,
        ),
    ] {
        let shown = world.list(query).await;
        let shown = shown.map_err(|error| format!("{query}: {error} {:?}", error.details())).unwrap();
        assert_eq!(shown, wanted, "{query}");
    }
    let counted = ReadOptions { include_count: true, ..ReadOptions::default() };
    assert_eq!(world.page("select=title,count()&limit=1", &counted).await.unwrap().total, Some(3));
    assert_eq!(world.page("select=count()", &counted).await.unwrap().total, Some(1));
    world.insert("notes", r#"{"qty":9223372036854775807}"#).await.unwrap();
    assert_eq!(world.list("select=qty.sum()").await.unwrap_err().code(), "invalid_value");
}
