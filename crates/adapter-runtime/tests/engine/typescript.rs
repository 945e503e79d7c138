//! Bundles in TypeScript, whose types are stripped.

use std::time::{Duration, Instant};

use runs::engine::{Engine as _, FailureCode, HandlerOutput};
use serde_json::json;

use crate::support::*;

#[tokio::test]
async fn types_are_stripped_from_every_module() {
    let main = "
        import type { Order } from './types.js';
        import { twice } from './lib/math.js';
        import { one } from './lib/one.mts';
        interface Event<T> { data: T }
        export default {
          scheduled(event: Event<Order>): number { return twice(event.data.count!) + (one as number) },
        } satisfies object;";
    let files = [
        ("main.ts", main),
        ("types.ts", "export interface Order { count?: number }"),
        ("qala.d.ts", "declare const env: { never: parsed"),
        ("lib/math.ts", "export const twice = <T extends number>(x: T): number => 2 * x;"),
        ("lib/one.mts", "export const one: unknown = 1;"),
    ];
    let bundle = bundle_of(&files);
    let handlers = engine().check(id(1), None, bundle.clone()).await.unwrap();
    assert!(handlers.scheduled && !handlers.fetch);
    let invocation = scheduled(1, bundle, &json!({"count": 21}));
    let output = engine().invoke(invocation, TestHost::new()).await.unwrap();
    assert!(matches!(output, HandlerOutput::Scheduled(json) if json.get() == "43"));
}

#[tokio::test]
async fn a_throw_is_at_the_line_and_column_of_the_source() {
    let source = "type A = {\n  b: string\n};\nexport default {\n  scheduled(): void { inner<A>(null!) },\n};\n\
        function inner<T>(a: T): never { throw new TypeError('oh no') }";
    let invocation = scheduled(1, bundle_of(&[("main.ts", source)]), &json!(null));
    let failure = engine().invoke(invocation, TestHost::new()).await.unwrap_err();
    assert!(failure.message.contains("inner (main.ts:7:"), "{failure}");
    assert!(failure.message.contains("scheduled (main.ts:5:"), "{failure}");
}

#[tokio::test]
async fn what_cannot_be_stripped_is_refused_at_its_place() {
    let engine = engine();
    for (source, says) in [
        ("let a = 1;\nenum A { B }", "main.ts:2:1: enumerations"),
        ("export default { scheduled(a: ) {} }", "main.ts:1:31: "),
        ("export default { scheduled() { return 08n } }", "main.ts:1:"),
        ("let a: string = 'x'; let a: string = 'y';", "main.ts:1"),
        ("let a;\n@a class A {}", "main.ts:2:"),
        ("import './a.ts'; export default {}", "a.ts"),
    ] {
        let failure = engine.check(id(1), None, bundle_of(&[("main.ts", source)])).await.unwrap_err();
        assert_failed_with(FailureCode::InvalidBundle, &failure);
        assert!(failure.message.contains(says), "{failure} does not say {says}");
    }
}

#[tokio::test]
async fn hostile_sources_cost_little_and_harm_nobody() {
    let engine = engine();
    let deep = |open: &str, middle: &str, close: &str, times: usize| {
        format!("let a = {}{middle}{}", open.repeat(times), close.repeat(times))
    };
    for source in [
        deep("(", "1", ")", 100_000),
        deep("[", "", "]", 100_000),
        deep("!", "1", "", 200_000),
        deep("(a)=>", "1", "", 100_000),
        deep("(a=", "1", ")=>1", 50_000),
        deep("a<", "b", ">", 100_000),
        deep("a?(", "b", "):1", 100_000),
        deep("{a:", "1", "}", 100_000),
        deep("`${", "1", "}`", 100_000),
        deep("function(){", "", "}", 50_000),
        format!("type A = {}b{}", "A<".repeat(100_000), ">".repeat(100_000)),
        format!("type A = {}b{}", "(".repeat(100_000), ")".repeat(100_000)),
        format!("type A = b{}", "[]".repeat(300_000)),
        format!("type A = {}b", "keyof ".repeat(100_000)),
        format!("{}b{}", "{".repeat(300_000), "}".repeat(300_000)),
        format!("a{}", " as b".repeat(100_000)),
        format!("a{}", ".b".repeat(300_000)),
        format!("a{}", "+b".repeat(300_000)),
        format!("class A {{ {} }}", "declare x: y;".repeat(40_000)),
        format!("import {{ {} }} from './a.js'", "type A,".repeat(90_000)),
        deep("async(", "1", ")", 30),
        deep("a ? (b) : c => (", "1", ") : d", 30),
        deep("a ? (b, ", "c", ") : d => e", 30),
        deep("(x: any = ", "1", ") => 1", 30),
        deep("async <T>(x = ", "1", ") => 1", 30),
        deep("a ? async (b = ", "1", "): c => d : e", 30),
    ] {
        let started = Instant::now();
        let shown = &source[..source.floor_char_boundary(40)];
        let checked = engine.check(id(1), None, bundle_of(&[("main.ts", &source)])).await;
        if let Err(failure) = checked {
            assert_failed_with(FailureCode::InvalidBundle, &failure);
        }
        assert!(started.elapsed() < Duration::from_secs(30), "{shown}");
    }
    let nested = bundle_of(&[("main.ts", &deep("(", "1", ")", 100_000))]);
    let failure = engine.check(id(1), None, nested).await.unwrap_err();
    assert!(failure.message.contains("nested too deeply"), "{failure}");
    let fine = bundle_of(&[("main.ts", "export default { scheduled(): void {} }")]);
    assert!(engine.check(id(1), None, fine).await.is_ok());
}
