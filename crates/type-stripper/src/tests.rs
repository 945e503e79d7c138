use super::*;

/// Strips a source, and returns it with each run of spaces as one.
fn squeezed(source: &str) -> String {
    let stripped = strip_types(source).unwrap_or_else(|error| panic!("{source}: {error}"));
    assert_eq!(stripped.chars().count(), source.chars().count(), "{source}");
    let breaks = |text: &str| -> Vec<usize> {
        text.chars().enumerate().filter(|(_, character)| *character == '\n').map(|(at, _)| at).collect()
    };
    assert_eq!(breaks(&stripped), breaks(source), "{source}");
    let mut squeezed = String::new();
    for character in stripped.chars() {
        if character != ' ' || !squeezed.ends_with([' ', '\n']) {
            squeezed.push(character);
        }
    }
    squeezed.lines().map(str::trim).collect::<Vec<_>>().join("\n")
}

#[test]
fn types_become_spaces() {
    for (source, expected) in [
        ("let a: number = 1", "let a = 1"),
        ("let a!: number;", "let a ;"),
        ("const f = (a?: string, ...b: number[]): void => {}", "const f = (a , ...b ) => {}"),
        (
            "function f<T extends object>(this: Window, a: T): a is T { return a as any }",
            "function f ( a ) { return a }",
        ),
        ("function f(this: Window) {}", "function f( ) {}"),
        ("f<string>(a!, b satisfies B)", "f (a , b )"),
        ("new Map<string, number[]>()", "new Map ()"),
        ("a!.b![0]!()", "a .b [0] ()"),
        ("interface A { b: string }\nlet c = 1", ";\nlet c = 1"),
        ("export type A<T> = { [K in keyof T]: T[K] };\nexport const b = 1", ";\nexport const b = 1"),
        (
            "import type { A } from './a.ts'\nimport { type B, c } from './b.ts'",
            ";\nimport { c } from './b.ts'",
        ),
        ("import { a, type B } from './a.ts'", "import { a, } from './a.ts'"),
        ("import d, { type B } from './a.ts'", "import d, { } from './a.ts'"),
        ("export { a, type B };\nexport type { C };\nexport type * from './c.ts'", "export { a, };\n;\n;"),
        (
            "declare const a: string;\ndeclare function f(): void;\ndeclare global { interface A {} }",
            ";\n;\n;",
        ),
        (
            "function f(a: string): void;\nfunction f(a: number): void;\nfunction f(a: any) {}",
            ";\n;\nfunction f(a ) {}",
        ),
        (
            "export default function f(): void;\nexport default function f() {}",
            ";\nexport default function f() {}",
        ),
        ("try {} catch (error: unknown) {}", "try {} catch (error ) {}"),
        ("for (const a of b as string[]) {}", "for (const a of b ) {}"),
        ("const { a, b }: { a: string, b: number } = c", "const { a, b } = c"),
        (
            "export default { async fetch(request: Request, env: Env) { return new Response() } } satisfies Qala.App<Env>",
            "export default { async fetch(request , env ) { return new Response() } }",
        ),
        ("let ж: 'өлең' = 'ж'", "let ж = 'ж'"),
        ("tag<string>`a`", "tag `a`"),
        ("const g = f<string>;", "const g = f ;"),
        ("let a = b as unknown as string", "let a = b"),
        ("(a as any) = 1", "(a ) = 1"),
        ("let f: (a: string) => void = (a) => {}", "let f = (a) => {}"),
        ("let a = b ? (c: string): string => c : d", "let a = b ? (c ) => c : d"),
    ] {
        assert_eq!(squeezed(source), expected, "{source}");
    }
}

#[test]
fn classes_keep_their_code() {
    for (source, expected) in [
        ("abstract class A<T> extends B<T> implements C, D<T> { x: T; }", "class A extends B { x ; }"),
        ("class A implements B {}", "class A {}"),
        (
            "export abstract class A { abstract f(): void; abstract x: number; g() {} }",
            "export class A { ; ; g() {} }",
        ),
        (
            "class A { private readonly x: number = 1; static readonly y?: string; z!: string; [k: string]: any }",
            "class A { ; x = 1; static y ; z ; ; }",
        ),
        (
            "class A { x = 1\n public ['y']: number = 2\n protected *g(): any {} }",
            "class A { x = 1\n; ['y'] = 2\n; *g() {} }",
        ),
        (
            "class A { constructor(a: string);\n constructor(a: any) {} override f?(): void {} }",
            "class A { ;\nconstructor(a ) {} ; f () {} }",
        ),
        (
            "class A { declare x: string; #y: number = 1; get z(): number { return this.#y } private set z(a: number) {} }",
            "class A { ; #y = 1; get z() { return this.#y } ; set z(a ) {} }",
        ),
        (
            "class A { readonly = 1; static = 2; abstract() {} }",
            "class A { readonly = 1; static = 2; abstract() {} }",
        ),
        ("class A<in out T> { f<U>(this: A<T>, a: U): asserts a is U & T {} }", "class A { f ( a ) {} }"),
        ("const A = class<T> { x?: T }", "const A = class { x }"),
    ] {
        assert_eq!(squeezed(source), expected, "{source}");
    }
}

#[test]
fn lines_do_not_run_into_each_other() {
    for (source, expected) in [
        ("let a = b as C\n(d)", "let a = b;\n(d)"),
        ("let a = b satisfies C\n[d].e()", "let a = b;\n[d].e()"),
        ("foo\ntype A = string\n(b)", "foo\n;\n(b)"),
        ("const f = (a: string):\n  Promise<string> => a", "const f = (a\n) => a"),
        ("return1(async <\n  T\n>(a: T) => a)", "return1(async (\n\na ) => a)"),
        ("f(a as B\n)", "f(a\n)"),
        ("class A { get: any\n f() {} }", "class A { get;\nf() {} }"),
        ("class A { static?: any\n async!: any\n *f() {} }", "class A { static;\nasync;\n*f() {} }"),
        ("class A { get?\n f() {} set: any = 1 }", "class A { get;\nf() {} set = 1 }"),
        ("let a = b as C\n+ d", "let a = b\n+ d"),
    ] {
        assert_eq!(squeezed(source), expected, "{source}");
    }
}

#[test]
fn what_is_not_only_types_is_refused_at_its_place() {
    for (source, place, reason) in [
        ("let a = 1\nenum A { B }", "2:1", "enumerations"),
        ("const enum A { B }", "1:1", "enumerations"),
        ("namespace A { export const b = 1 }", "1:1", "namespaces"),
        ("class A { constructor(private a: string) {} }", "1:23", "parameter properties"),
        ("import a = require('b')", "1:1", "import"),
        ("export = a", "1:1", "export ="),
        ("let ж = <string>b", "1:9", "angle brackets"),
        ("let a: = 1", "1:8", ""),
        ("export default {", "1:", ""),
    ] {
        let error = strip_types(source).unwrap_err();
        assert!(error.to_string().starts_with(place), "{source}: {error}");
        assert!(error.message.contains(reason), "{source}: {error}");
    }
}

#[test]
fn javascript_stays_as_it_is() {
    for source in [
        "import a, { b as c } from './d.js'\nexport default { async fetch() { return a?.b ?? c } }",
        "let a = b < c, d = e > f\nlabel: for (;;) break label\n`${a}`;\n/re<g>ex/.test(a)",
        "class A { static #x = 1; static { this.y = A.#x } async *f() { yield* g() } }",
        "",
    ] {
        assert_eq!(strip_types(source).as_deref(), Ok(source));
    }
}
