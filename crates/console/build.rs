//! Bundles the console with Node.js and lists the files for `include_bytes!`.
//!
//! Without Node.js, or without a registry to install the bundler from, the crate is built without a console: the reason
//! becomes a warning and `console::MISSING`. Writes to `OUT_DIR` and to the ignored `web/node_modules`.

use std::{
    env,
    error::Error,
    fmt::Write as _,
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// Files and folders of `web` that the bundle is made from.
const SOURCES: [&str; 6] =
    ["build", "build.mjs", "package.json", "package-lock.json", "src", "tsconfig.json"];

/// Source of `FILES` without a console. Its second line names the roles, which no file has.
const NO_FILES: &str = "static FILES: &[File] = &[];\n\
    const _: [Role; 5] = [Role::Head, Role::Style, Role::Entry, Role::Initial, Role::Lazy];\n";

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let variable =
        |name: &str| env::var_os(name).map(PathBuf::from).ok_or_else(|| format!("cargo sets {name}"));
    let (out, web) = (variable("OUT_DIR")?, variable("CARGO_MANIFEST_DIR")?.join("web"));
    for source in SOURCES {
        println!("cargo:rerun-if-changed=web/{source}");
    }
    let dist = out.join("dist");
    let table = match bundle(&web, &dist) {
        Ok(()) => table_of(&dist)?,
        Err(reason) => {
            println!("cargo:warning=built without the web console: {reason}");
            // A file that never exists makes cargo try again at the next build.
            println!("cargo:rerun-if-changed=web/not-built");
            missing(Some(&reason)) + NO_FILES
        }
    };
    Ok(fs::write(out.join("files.rs"), table)?)
}

/// Returns why there is no bundle, if there is none.
fn bundle(web: &Path, dist: &Path) -> std::result::Result<(), String> {
    install_packages(web)?;
    match fs::remove_dir_all(dist) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(format!("{}: {error}", dist.display()));
        }
        _ => {}
    }
    run(Command::new("node").current_dir(web).arg("build.mjs").arg("--out").arg(dist)).map(drop)
}

/// Installs the packages of the lock file, unless they are installed.
fn install_packages(web: &Path) -> std::result::Result<(), String> {
    run(Command::new("node").arg("--version"))?;
    let read = |path: PathBuf| fs::read(&path).map_err(|error| format!("{}: {error}", path.display()));
    let lock = read(web.join("package-lock.json"))?;
    let installed = web.join("node_modules/.installed-lock.json");
    if fs::read(&installed).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    // `--ignore-scripts`: no package runs code of its own at installation. The limits keep a build without a network short.
    run(Command::new("npm").current_dir(web).args([
        "ci",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--prefer-offline",
        "--fetch-retries=1",
        "--fetch-timeout=20000",
    ]))?;
    fs::write(&installed, lock).map_err(|error| format!("{}: {error}", installed.display()))
}

fn run(command: &mut Command) -> std::result::Result<Output, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| match error.kind() {
        ErrorKind::NotFound => format!("{program} was not found"),
        _ => format!("{program}: {error}"),
    })?;
    if output.status.success() {
        return Ok(output);
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    let tail = errors.lines().rev().take(5).collect::<Vec<_>>();
    Err(format!("{program} failed: {}", tail.into_iter().rev().collect::<Vec<_>>().join(" | ")))
}

/// Returns the source of `MISSING`.
fn missing(reason: Option<&str>) -> String {
    format!(
        "/// Reason why the console is not in this build; `None` if it is.\npub const MISSING: Option<&str> = {reason:?};\n"
    )
}

/// Returns the source of `FILES`: what `dist/files.tsv` lists (role, path and media type), with the contents.
fn table_of(dist: &Path) -> Result<String> {
    let list = fs::read_to_string(dist.join("files.tsv"))?;
    let mut table = missing(None) + "static FILES: &[File] = &[\n";
    for line in list.lines() {
        let fields = line.split('\t').collect::<Vec<_>>();
        let [role, path, media_type] = fields[..] else { return Err(format!("files.tsv: {line}").into()) };
        let role = match role {
            "entry" => "Entry",
            "initial" => "Initial",
            "lazy" => "Lazy",
            "style" => "Style",
            "head" => "Head",
            _ => return Err(format!("files.tsv: {line}").into()),
        };
        let file = dist.join(path);
        let included = |suffix: &str| {
            let file = format!("{}{suffix}", file.display());
            if Path::new(&file).is_file() {
                format!("Some(include_bytes!({file:?}))")
            } else {
                "None".to_owned()
            }
        };
        writeln!(
            table,
            "File {{ role: Role::{role}, path: {path:?}, media_type: {media_type:?}, identity: include_bytes!({:?}), \
             gzip: {}, brotli: {} }},",
            file.display().to_string(),
            included(".gz"),
            included(".br"),
        )?;
    }
    Ok(table + "];\n")
}
