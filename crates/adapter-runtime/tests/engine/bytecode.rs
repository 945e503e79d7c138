//! Bytecode on disk: whether a file is used or the code compiled anew shows in the file, which is sealed with another nonce each
//! time.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use adapter_runtime::{BytecodeDirectory, QuickJsEngine, RuntimeConfig};
use runs::engine::{Engine as _, FailureCode, HandlerOutput};
use secrecy::SecretBox;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::*;

/// A place for bytecode, the key that seals it, and the program of the workers.
struct Installation {
    directory: TempDir,
    key: u8,
    program: PathBuf,
}

impl Installation {
    fn new() -> Self {
        Self { directory: TempDir::new().unwrap(), key: 1, program: config().program.unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("bytecode")
    }

    /// Starts an engine, as after a restart.
    fn start(&self) -> QuickJsEngine {
        let key = Arc::new(SecretBox::new(Box::new([self.key; 32])));
        QuickJsEngine::start(RuntimeConfig {
            program: Some(self.program.clone()),
            bytecode_directory: Some(BytecodeDirectory { path: self.path(), key }),
            ..config()
        })
        .unwrap()
    }

    /// Runs the app in an engine of its own.
    async fn run(&self) -> Value {
        run_app(&self.start()).await
    }

    /// Returns the only file, if there is one.
    fn file(&self) -> Option<PathBuf> {
        let below =
            |path: PathBuf| fs::read_dir(path).into_iter().flatten().map(|entry| entry.unwrap().path());
        let mut files = below(self.path()).flat_map(below);
        let found = files.next();
        assert_eq!(files.next(), None, "one bundle has one file");
        found.filter(|file| !file.file_name().unwrap().to_str().unwrap().starts_with("incomplete"))
    }

    /// Waits for a file with a content other than `before`.
    async fn written(&self, before: Option<&[u8]>) -> Vec<u8> {
        for _ in 0..1_200 {
            let content = self.file().and_then(|file| fs::read(file).ok());
            if let Some(content) = content.filter(|content| Some(content.as_slice()) != before) {
                return content;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("the bytecode was not written");
    }
}

/// Runs an app of two modules, one of which is TypeScript.
async fn run_app(engine: &QuickJsEngine) -> Value {
    let bundle = bundle_of(&[
        ("main.js", "import { one } from './one.js'; export default { scheduled: () => one + 1 };"),
        ("one.ts", "export const one: number = 1;"),
    ]);
    let output = engine.invoke(scheduled(1, bundle, &json!(null)), TestHost::new()).await.unwrap();
    let HandlerOutput::Scheduled(json) = output else { panic!("a response from scheduled") };
    serde_json::from_str(json.get()).unwrap()
}

#[tokio::test]
async fn a_restart_finds_what_was_compiled_before() {
    let installation = Installation::new();
    assert_eq!(installation.run().await, 2);
    let content = installation.written(None).await;
    for _ in 0..3 {
        assert_eq!(installation.run().await, 2);
        assert_eq!(installation.written(None).await, content, "it was not compiled again");
    }
}

#[tokio::test]
async fn code_is_compiled_anew_if_its_file_was_changed() {
    let installation = Installation::new();
    installation.run().await;
    let mut before = installation.written(None).await;
    let file = installation.file().unwrap();
    // In the format, in the build, in the nonce, in the ciphertext and in its tag; cut off, and empty.
    for at in [3, 20, 60, 200, before.len() - 1] {
        before[at] ^= 4;
        fs::write(&file, &before).unwrap();
        assert_eq!(installation.run().await, 2, "byte {at}");
        before = installation.written(Some(&before)).await;
    }
    for length in [before.len() / 2, 0] {
        before.truncate(length);
        fs::write(&file, &before).unwrap();
        assert_eq!(installation.run().await, 2, "{length} bytes");
        before = installation.written(Some(&before)).await;
    }
    assert_eq!(installation.run().await, 2);
    assert_eq!(installation.written(None).await, before);
}

#[tokio::test]
async fn another_key_or_another_build_compiles_anew() {
    let mut installation = Installation::new();
    installation.run().await;
    let mut before = installation.written(None).await;
    installation.key = 2;
    assert_eq!(installation.run().await, 2);
    before = installation.written(Some(&before)).await;
    let copy = installation.directory.path().join("worker");
    fs::copy(&installation.program, &copy).unwrap();
    fs::File::open(&copy).unwrap().set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    installation.program = copy;
    assert_eq!(installation.run().await, 2);
    before = installation.written(Some(&before)).await;
    assert_eq!(installation.run().await, 2);
    assert_eq!(installation.written(None).await, before);
}

#[tokio::test]
async fn an_app_runs_where_nothing_can_be_stored() {
    let installation = Installation::new();
    fs::write(installation.path(), "a file in place of the directory").unwrap();
    let engine = installation.start();
    for _ in 0..2 {
        assert_eq!(run_app(&engine).await, 2);
    }
    assert!(Path::new(&installation.path()).is_file());
}

/// A draft gets a new version for each call.
#[tokio::test]
async fn the_same_code_of_another_version_is_not_compiled_again() {
    let installation = Installation::new();
    let engine = installation.start();
    for version in 1..=3 {
        let files = [("main.js".to_owned(), body("return 1;"))].into();
        let bundle = Arc::new(runs::engine::Bundle::new(id(version), files));
        engine.invoke(scheduled(1, Arc::clone(&bundle), &json!(null)), TestHost::new()).await.unwrap();
        assert!(engine.check(id(1), None, bundle).await.unwrap().scheduled);
        installation.written(None).await;
    }
}

/// Other workspaces share no process, and no bytecode either.
#[tokio::test]
async fn each_workspace_has_its_own_file() {
    let installation = Installation::new();
    let engine = installation.start();
    let bundle = bundle_of(&[("main.js", &body("return 1;"))]);
    engine.invoke(scheduled(1, Arc::clone(&bundle), &json!(null)), TestHost::new()).await.unwrap();
    let first = installation.file();
    installation.written(None).await;
    let first = first.or_else(|| installation.file()).unwrap();
    fs::remove_dir_all(first.parent().unwrap()).unwrap();
    engine.invoke(scheduled(2, bundle, &json!(null)), TestHost::new()).await.unwrap();
    installation.written(None).await;
    assert_ne!(installation.file().unwrap().parent(), first.parent());
}

#[tokio::test]
async fn code_that_does_not_compile_leaves_the_process_for_code_that_does() {
    let engine = engine_with_one_slot();
    let (failed, _) = run_with(&engine, "export default {", |_| ()).await;
    assert_failed_with(FailureCode::InvalidBundle, &failed.unwrap_err());
    assert_eq!(run_with(&engine, &body("return 1;"), |_| ()).await.0.unwrap(), json!(1));
}

/// After some calls of one bundle its modules are declared before each call. Whatever they do must stay what it was in the first one.
#[tokio::test]
async fn the_tenth_call_of_a_large_bundle_is_as_the_first() {
    let filler: String = (0..2_000)
        .map(|at| format!("export function f{at}(a) {{ return [a, {at}].map((b) => b + {at}); }}\n"))
        .collect();
    let main = "
        import * as filler from './filler.js';
        import { order, b } from './b.js';
        import { typed } from './typed.js';
        export const a = 'a';
        order.push('main');
        await null;
        order.push('after await');
        let calls = 0;
        export default { async scheduled({ data }) {
            globalThis.calls = (globalThis.calls ?? 0) + 1;
            Object.prototype.polluted = (Object.prototype.polluted ?? 0) + 1;
            const late = await import('./late.ts');
            if (data === 'throw') late.fail();
            return [++calls, globalThis.calls, {}.polluted, order, b(), typed, late.count(), filler.f7(1),
                    Object.keys(filler).length, import.meta === (await import('./main.js')).meta];
        } };
        export const meta = import.meta;";
    let bundle = bundle_of(&[
        ("main.js", main),
        (
            "b.js",
            "import { a } from './main.js'; export const order = ['b']; export const b = () => a + order.length;",
        ),
        ("typed.ts", "export const typed: readonly number[] = [1, 2];"),
        (
            "late.ts",
            "let n = 0; export const count = (): number => ++n;\n\nexport function fail(): never { throw new RangeError('late'); }",
        ),
        ("filler.js", &filler),
        ("unused.js", "throw new Error('this is not imported');"),
    ]);
    let engine = engine_with_one_slot();
    let call = async |data: Value| {
        let host = TestHost::new();
        let result = engine.invoke(scheduled(1, Arc::clone(&bundle), &data), host.clone()).await;
        (
            result.map(|output| match output {
                HandlerOutput::Scheduled(json) => json.get().to_owned(),
                _ => panic!("a response from scheduled"),
            }),
            host.log_messages(),
        )
    };
    let first = (call(json!("return")).await, call(json!("throw")).await);
    let returned = first.0.0.as_ref().unwrap();
    assert_eq!(*returned, r#"[1,1,1,["b","main","after await"],"a3",[1,2],1,[8,14],2000,true]"#);
    let failure = first.1.0.as_ref().unwrap_err();
    assert!(failure.code == FailureCode::AppError && failure.message.contains("late.ts:3"), "{failure}");
    for round in 0..10 {
        let next = (call(json!("return")).await, call(json!("throw")).await);
        assert_eq!(format!("{next:?}"), format!("{first:?}"), "round {round}");
        // Another bundle between two calls, now and then.
        if round % 4 == 3 {
            assert_eq!(
                run_with(&engine, &body("return [typeof globalThis.calls, {}.polluted];"), |_| ())
                    .await
                    .0
                    .unwrap(),
                json!(["undefined", null])
            );
        }
    }
}
