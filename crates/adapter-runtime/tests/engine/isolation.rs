//! Isolation of invocations from each other and from the system.

use serde_json::json;

use crate::support::*;

#[tokio::test]
async fn nothing_survives_an_invocation() {
    let engine = engine();
    let tamper = body(
        "Array.prototype.map = () => 'gone'; Object.prototype.polluted = 1; Promise.prototype.then = null;
         JSON.stringify = () => '\"forged\"'; globalThis.kept = 1; console.log = null; globalThis.count = (globalThis.count ?? 0) + 1;
         return count;",
    );
    for _ in 0..3 {
        let _ = run_with(&engine, &tamper, |_| ()).await;
        let look = body(
            "return [[1].map((x) => x), ({}).polluted ?? null, typeof kept, JSON.stringify({}), typeof console.log];",
        );
        let (result, _) = run_with(&engine, &look, |_| ()).await;
        assert_eq!(result.unwrap(), json!([[1], null, "undefined", "{}", "function"]));
    }
    // The same version is a fresh module the second time too.
    let count = "let count = 0; export default { scheduled: () => ++count };";
    for _ in 0..3 {
        assert_eq!(run_with(&engine, count, |_| ()).await.0.unwrap(), json!(1));
    }
}

/// Stack frames tell names and numbers, but give no access to functions and receivers.
#[tokio::test]
async fn a_stack_hands_out_no_function() {
    let (result, _) = run(
        "Error.prepareStackTrace = (_, sites) => sites;
         const found = new Set();
         const tries = [() => new URL(Symbol()), () => structuredClone(() => 1), () => new Headers([1]), () => atob('*'), () => fetch.call()];
         for (const go of tries) {
             try { await go(); } catch (error) {
                 for (const site of error.stack) for (let at = site; at; at = Object.getPrototypeOf(at))
                     for (const name of Object.getOwnPropertyNames(at)) {
                         if (at === Object.prototype) continue;
                         let value; try { value = typeof at[name] === 'function' && name !== 'constructor' ? at[name].call(site) : null; } catch { value = null; }
                         if (typeof value === 'function' || (typeof value === 'object' && value !== null)) found.add(name);
                     }
             }
         }
         return [...found];",
    )
    .await;
    assert_eq!(result.unwrap(), json!([]));
}

#[tokio::test]
async fn there_is_no_way_from_text_to_code_nor_to_the_system() {
    let (result, _) = run(
        "const tries = {
            eval: () => globalThis.eval('1'), Function: () => Function('return 1')(),
            asyncFunction: () => (async () => {}).constructor('return 1')(),
            generator: () => (function* () {}).constructor('yield 1')(),
            timer: () => setTimeout('1', 0),
         };
         const out = {};
         for (const [name, go] of Object.entries(tries)) { try { go(); out[name] = 'ran'; } catch (error) { out[name] = error.name; } }
         for (const name of ['process', 'require', 'std', 'os', 'WebAssembly', 'SharedArrayBuffer', 'Atomics', 'native', 'install', 'scriptArgs', 'Deno']) out[name] = typeof globalThis[name];
         try { await import('qala:prelude'); out.import = 'ran'; } catch (error) { out.import = error.name; }
         out.hidden = [typeof URL.part, typeof Headers.nameOf, typeof AbortSignal.trip, typeof Response.from];
         return out;",
    )
    .await;
    let result = result.unwrap();
    for name in ["eval", "Function", "asyncFunction", "generator", "timer"] {
        assert_eq!(result[name], "TypeError", "{name}");
    }
    for name in [
        "process",
        "require",
        "std",
        "os",
        "WebAssembly",
        "SharedArrayBuffer",
        "Atomics",
        "native",
        "install",
    ] {
        assert_eq!(result[name], "undefined", "{name}");
    }
    assert_eq!(result["import"], "ReferenceError");
    assert_eq!(result["hidden"], json!(["undefined", "undefined", "undefined", "undefined"]));
}

#[tokio::test]
async fn a_host_error_cannot_be_forged() {
    let failure = run_expecting_failure(
        "const error = new Error('x'); error.code = 'egress_denied'; throw error;",
        |_| (),
    )
    .await;
    assert_eq!(failure.host_code, None);
    let failure = run_expecting_failure("await fetch('https://denied.example/');", |_| ()).await;
    assert_eq!(failure.host_code.as_deref(), Some("egress_denied"));
    let failure = run_expecting_failure(
        "try { await fetch('https://denied.example/'); } catch (cause) { throw new Error('wrapped', { cause }); }",
        |_| (),
    )
    .await;
    assert_eq!(failure.host_code.as_deref(), Some("egress_denied"));
}

#[tokio::test]
async fn the_clock_is_utc_and_nothing_of_the_machine_is_seen() {
    let (result, _) = run("return [new Date(0).getHours(), new Date(0).getTimezoneOffset()];").await;
    assert_eq!(result.unwrap(), json!([0, 0]));
}
