//! Tests of the edge cases of the language, and that no text makes the parser panic.

use proptest::prelude::*;

use crate::{
    ErrorKind,
    query::{Aggregate, Filter, Is, Key, Operands, Path, Query, SelectItem, Step, Test},
    rule::Comparison,
};

fn one(text: &str) -> Operands {
    Operands::One(text.into())
}

fn eq(column: &str, value: &str) -> Filter {
    Filter::Test(Path::column(column), Test::Compare(Comparison::Eq, one(value)))
}

fn not(filter: Filter) -> Filter {
    Filter::Not(Box::new(filter))
}

fn is_in(column: &str, values: &[&str]) -> Filter {
    Filter::Test(Path::column(column), Test::In(values.iter().map(|value| (*value).to_owned()).collect()))
}

#[test]
fn filters_are_read_as_postgrest_reads_them() {
    let test = |column: &str, test| Filter::Test(Path::column(column), test);
    let like = |ignore_case, patterns| Test::Like { ignore_case, patterns };
    for (raw, wanted) in [
        // At the top level, a value reaches to the end, quotes included.
        ("a=eq.a,b", eq("a", "a,b")),
        ("a=eq.\"x\"", eq("a", "\"x\"")),
        ("a=eq.", eq("a", "")),
        ("a=eq.1.5", eq("a", "1.5")),
        ("a=eq.x%20y+z%2B", eq("a", "x y z+")),
        ("a=eq.%D2%9B", eq("a", "қ")),
        ("a=not.eq.1", not(eq("a", "1"))),
        ("and_more=eq.1", eq("and_more", "1")),
        ("a=in.(1,2)", is_in("a", &["1", "2"])),
        ("a=in.()", is_in("a", &[])),
        ("a=in.(  )", is_in("a", &[])),
        ("a=in.( ,3)", is_in("a", &[" ", "3"])),
        ("a=not.in.()", not(is_in("a", &[]))),
        (r#"a=in.("x,y","a\"b","c\\d",e"f)"#, is_in("a", &["x,y", "a\"b", "c\\d", "e\"f"])),
        (r#"a=in.("x"y)"#, is_in("a", &["\"x\"y"])),
        ("a=is.NULL", test("a", Test::Is(Is::Null))),
        ("a=is.not_null", test("a", Test::Is(Is::NotNull))),
        ("a=is.Unknown", test("a", Test::Is(Is::Unknown))),
        ("a=like.x*y", test("a", like(false, one("x%y")))),
        ("a=ilike.*x", test("a", like(true, one("%x")))),
        ("a=match.x*y", test("a", Test::Match { ignore_case: false, patterns: one("x*y") })),
        (
            "a=eq(any).{1,\"2,3\"}",
            test("a", Test::Compare(Comparison::Eq, Operands::Any(vec!["1".into(), "2,3".into()]))),
        ),
        ("a=gt(all).{1}", test("a", Test::Compare(Comparison::Gt, Operands::All(vec!["1".into()])))),
        ("a=isdistinct.x", test("a", Test::IsDistinct("x".into()))),
        ("a=cs.{\"k\":1}", test("a", Test::Contains("{\"k\":1}".into()))),
        ("or=(a.eq.1,b.eq.2)", Filter::Or(vec![eq("a", "1"), eq("b", "2")])),
        ("or=( a.eq.1 , b.eq.\"2,)\" )", Filter::Or(vec![eq("a", "1 "), eq("b", "\"2")])),
        ("not.or=(a.eq.1)", not(Filter::Or(vec![eq("a", "1")]))),
        (
            "or=(a.eq.1,not.and(b.eq.2,c.in.(1,2)))",
            Filter::Or(vec![eq("a", "1"), not(Filter::And(vec![eq("b", "2"), is_in("c", &["1", "2"])]))]),
        ),
        ("or=(or_x.eq.1,and_y.not.eq.2)", Filter::Or(vec![eq("or_x", "1"), not(eq("and_y", "2"))])),
        ("and=(a.eq.\"x\\\"y\")", Filter::And(vec![eq("a", "x\"y")])),
    ] {
        match Query::parse(raw) {
            // Blanks inside a tree belong to the value, so this tree is not closed.
            Err(error) if raw.starts_with("or=( ") => assert_eq!(error.kind(), ErrorKind::Invalid),
            parsed => assert_eq!(parsed.unwrap().filter, [wanted], "{raw}"),
        }
    }
}

#[test]
fn paths_have_steps_into_documents() {
    let step = |key, as_text| Step { key, as_text };
    let name = |text: &str| Key::Name(text.into());
    for (raw, steps) in [
        ("m->a", vec![step(name("a"), false)]),
        ("m->>a", vec![step(name("a"), true)]),
        ("m->a->>b", vec![step(name("a"), false), step(name("b"), true)]),
        ("m->-1", vec![step(Key::Index(-1), false)]),
        ("m->0->>1", vec![step(Key::Index(0), false), step(Key::Index(1), true)]),
        ("m->0xy", vec![step(name("0xy"), false)]),
        ("m->\"a.b\"", vec![step(name("a.b"), false)]),
    ] {
        let path = Path { column: "m".into(), steps };
        let wanted = Filter::Test(path, Test::Compare(Comparison::Eq, one("1")));
        assert_eq!(Query::parse(&format!("{raw}=eq.1")).unwrap().filter, [wanted], "{raw}");
    }
}

#[test]
fn select_and_order_are_read() {
    let field = |alias: Option<&str>, column: &str, cast: Option<&str>, aggregate| SelectItem::Field {
        alias: alias.map(Into::into),
        path: Path::column(column),
        input_cast: None,
        cast: cast.map(Into::into),
        aggregate,
    };
    let query =
        Query::parse("select=*, a,x:b,c::text,y:d::int,e.sum(),z:f.avg()::text,count(),n:count()").unwrap();
    assert_eq!(
        query.select,
        [
            SelectItem::All,
            field(None, "a", None, None),
            field(Some("x"), "b", None, None),
            field(None, "c", Some("text"), None),
            field(Some("y"), "d", Some("int"), None),
            field(None, "e", None, Some(Aggregate::Sum)),
            field(Some("z"), "f", Some("text"), Some(Aggregate::Avg)),
            SelectItem::Count { alias: None, cast: None },
            SelectItem::Count { alias: Some("n".into()), cast: None },
        ]
    );
    let order = Query::parse("order=a,b.desc,c.nullsfirst,d.desc.nullslast").unwrap().order;
    let order: Vec<_> = order.iter().map(|o| (o.path.column.as_str(), o.descending, o.nulls_first)).collect();
    assert_eq!(order, [("a", false, false), ("b", true, true), ("c", false, true), ("d", true, false)]);
    let query = Query::parse("columns=\"a\",b&on_conflict=id&limit=5&offset=-3&apikey=secret").unwrap();
    assert_eq!(query.columns, Some(vec!["a".into(), "b".into()]));
    assert_eq!((query.limit, query.offset), (Some(5), 0));
}

#[test]
fn an_invalid_query_string_is_refused() {
    let deep = format!("or=({}a.eq.1{})", "or(".repeat(20), ")".repeat(20));
    let wide = format!("or=({})", vec!["a.eq.1"; 101].join(","));
    let long = format!("a=eq.{}", "x".repeat(20_000));
    let list = format!("a=in.({})", vec!["1"; 1001].join(","));
    for raw in [
        "or=()",
        "or=(a.eq.1",
        "or=(a.eq.1))",
        "or=a.eq.1",
        "a=1",
        "a=eq",
        "a=in.1",
        "a=in.(1",
        "a=in.(1)x",
        "a=is.maybe",
        "a=neq(any).{1}",
        "a=eq(any).1",
        "a=eq(some).{1}",
        "=eq.1",
        "a=fts.x",
        "a=ov.x",
        "a=zz.1",
        "a=eq.%",
        "a=eq.%4",
        "a=eq.%FF",
        "%zz=eq.1",
        "select=a&select=b",
        "limit=1e3",
        "limit=",
        "offset=x",
        "order=a.up",
        "order=a.nullslast.desc",
        "select=a(b)",
        "select=...a(b)",
        "select=,a",
        "select=a.median()",
        "m->>a->b=eq.1",
        "cursor=x&cursor=y",
        "not.a=eq.1",
        &deep,
        &wide,
        &long,
        &list,
    ] {
        assert!(Query::parse(raw).is_err(), "{raw}");
    }
    assert_eq!(Query::parse("limit=-1").unwrap_err().kind(), ErrorKind::Range);
    assert_eq!(Query::parse("or=()").unwrap_err().pgrst_code(), "PGRST100");
}

fn filters() -> impl Strategy<Value = Filter> {
    let values = || prop::collection::vec(".{0,6}", 1..4);
    let operands = prop_oneof![
        ".{0,6}".prop_map(Operands::One),
        values().prop_map(Operands::Any),
        values().prop_map(Operands::All),
    ];
    let tests = prop_oneof![
        operands.prop_map(|operands| Test::Compare(Comparison::Lte, operands)),
        ".{0,6}".prop_map(|value| Test::Compare(Comparison::Neq, Operands::One(value))),
        prop::collection::vec(".{0,6}", 0..4).prop_map(Test::In),
        ".{0,6}".prop_map(Test::IsDistinct),
        Just(Test::Is(Is::Unknown)),
    ];
    let leaf = ("[a-z_]{1,5}", tests, any::<bool>()).prop_map(|(column, test, negated)| {
        let filter = Filter::Test(Path::column(&column), test);
        if negated { not(filter) } else { filter }
    });
    leaf.prop_recursive(4, 12, 3, |inner| {
        (prop::collection::vec(inner, 1..3), any::<bool>(), any::<bool>()).prop_map(
            |(members, all, negated)| {
                let filter = if all { Filter::And(members) } else { Filter::Or(members) };
                if negated { not(filter) } else { filter }
            },
        )
    })
}

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(raw in ".{0,200}") {
        let _ = Query::parse(&raw);
    }

    #[test]
    fn no_text_that_resembles_a_query_makes_the_parser_panic(raw in "(select|order|or|a|m->b)=[a-z.,:()*\"\\\\{}% >-]{0,60}") {
        let _ = Query::parse(&raw);
    }

    #[test]
    fn a_filter_is_parsed_from_its_text(filter in filters()) {
        let raw = format!("and=({})", encoded(&filter.to_string()));
        prop_assert_eq!(Query::parse(&raw).unwrap().filter, [Filter::And(vec![filter])]);
    }
}
