//! The ways to start Qala that README.md names.

use std::{
    collections::BTreeMap, fs, io::Write as _, net::SocketAddr, path::Path, process::Stdio, time::Duration,
};

use anyhow::{Context as _, Result, bail, ensure};
use tests::{Client, find_binary};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
    time::timeout,
};

const README: &str = include_str!("../../../README.md");
const DOCKERFILE: &str = include_str!("../../../deploy/Dockerfile");
const COMPOSE: &str = include_str!("../../../deploy/compose.dev.yaml");
const SECCOMP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../deploy/seccomp.json");

/// Limit for a start, and for each command of a container.
const DEADLINE: Duration = Duration::from_secs(120);

/// A server of one of the ways, and what it has printed.
struct Started {
    process: Child,
    address: SocketAddr,
    printed: String,
}

impl Started {
    /// Starts a command, and waits until it prints the address that it listens on.
    async fn spawn(command: &mut Command) -> Result<Self> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit()).kill_on_drop(true);
        let mut process = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
        let output = process.stdout.take().context("the server has no output")?;
        let mut lines = BufReader::new(output).lines();
        let mut printed = String::new();
        let start = async {
            while let Some(line) = lines.next_line().await? {
                printed.push_str(&line);
                printed.push('\n');
                // The call is the last line of the banner.
                if line.contains("Start a run") {
                    return Ok(());
                }
            }
            bail!("the server ended:\n{printed}")
        };
        timeout(DEADLINE, start).await.with_context(|| format!("no call was printed by {command:?}"))??;
        let address = printed.split("http://").nth(1).and_then(|rest| {
            let end = rest.find(|letter: char| !letter.is_ascii_digit() && !".:".contains(letter));
            rest[..end.unwrap_or(rest.len())].parse().ok()
        });
        let address = address.with_context(|| format!("no address in:\n{printed}"))?;
        Ok(Self { process, address, printed })
    }

    /// Does what the README says to do in the first minutes, but for the call, which the tour makes.
    async fn take_first_steps(&self) -> Result<()> {
        let client = Client::new(format!("http://{}", self.address));
        client.get("/").await?.assert_status(200);
        let person = client.sign_in("dev@localhost.localdomain").await?;
        let email = person.get("/v1/session").await?.string_at("/user/email")?;
        ensure!(email == "dev@localhost.localdomain", "{email}");
        Ok(())
    }

    async fn stop(mut self) -> Result<()> {
        self.process.kill().await?;
        Ok(())
    }
}

/// Returns the binary without the `QALA_` variables of the tests.
fn qala() -> Result<Command> {
    let mut command = Command::new(find_binary()?);
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("QALA_")) {
        command.env_remove(name);
    }
    // The log goes to the output of the tests, where errors suffice.
    command.env("QALA_LOG", "error");
    Ok(command)
}

/// `cargo run` starts the program that the tests start, without options and with its data in the folder where one is.
#[tokio::test]
async fn the_first_command_needs_no_option() -> Result<()> {
    let first =
        README.lines().find_map(|line| line.strip_prefix("$ ")).context("README.md has no command")?;
    assert_eq!(first.split('#').next().map(str::trim), Some("cargo run"));
    let folder = tempfile::tempdir()?;
    // Another port than that of a server which may run on this machine.
    let server = Started::spawn(qala()?.env("QALA_LISTEN", "127.0.0.1:0").current_dir(folder.path())).await?;
    server.take_first_steps().await?;
    assert!(folder.path().join("qala-data").is_dir());
    assert_eq!(server.printed.contains("development build"), cfg!(debug_assertions), "{}", server.printed);
    server.stop().await
}

/// The container of `deploy/compose.dev.yaml`, whose binary is the one of the tests: the release that the file builds takes too
/// long here.
#[tokio::test]
async fn the_container_needs_neither_domain_nor_settings() -> Result<()> {
    assert!(
        README.contains("docker compose --file deploy/compose.dev.yaml up --build"),
        "README.md names it"
    );
    let image = Image::read(DOCKERFILE)?;
    let environment = environment_of(COMPOSE);
    assert!(COMPOSE.contains("network_mode: host") && !COMPOSE.contains("${"), "{COMPOSE}");
    match build_with_podman(&image).await {
        Ok(container) => container.walk(&image, &environment).await,
        Err(reason) => {
            // Not `eprintln!`, which a test that passes keeps to itself.
            writeln!(
                std::io::stderr(),
                "no container can run here, so its steps are walked without one: {reason:#}"
            )?;
            walk_without_container(&image, &environment).await
        }
    }
}

/// The last stage of a Dockerfile.
struct Image {
    base: String,
    environment: BTreeMap<String, String>,
    command: Vec<String>,
    healthcheck: Vec<String>,
    /// From `FROM` to the end.
    stage: String,
}

impl Image {
    fn read(dockerfile: &str) -> Result<Self> {
        let start = dockerfile.rfind("\nFROM ").context("the Dockerfile has no stage")? + 1;
        let stage = dockerfile[start..].replace(" \\\n", " ");
        let line = |word: &str| stage.lines().find_map(|line| line.strip_prefix(word)).map(str::trim);
        let list = |text: Option<&str>| -> Result<Vec<String>> {
            let text = text.context("the Dockerfile lacks an instruction")?;
            let start = text.find('[').context("the instruction is no list")?;
            Ok(serde_json::from_str(&text[start..])?)
        };
        let environment = line("ENV ").context("the image has no environment")?.split_whitespace();
        Ok(Self {
            base: line("FROM ").context("the stage has no image")?.to_owned(),
            environment: environment
                .filter_map(|pair| pair.split_once('='))
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            command: [list(line("ENTRYPOINT "))?, list(line("CMD "))?].concat(),
            healthcheck: list(line("HEALTHCHECK "))?,
            stage,
        })
    }
}

/// Returns the variables of a compose file's only `environment`.
fn environment_of(compose: &str) -> BTreeMap<String, String> {
    let lines = compose.lines().skip_while(|line| line.trim() != "environment:").skip(1);
    let variables = lines.map_while(|line| line.trim().split_once(": "));
    variables.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Walks the steps of the image: its variables and those of the compose file, its command, its health check.
async fn walk_without_container(image: &Image, compose: &BTreeMap<String, String>) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let data = folder.path().join("data");
    fs::create_dir(&data)?;
    let [program, arguments @ ..] = &image.command[..] else { bail!("the image has no command") };
    assert_eq!(program, "/usr/local/bin/qala");
    let mut environment = image.environment.clone();
    environment.extend(compose.clone());
    assert_eq!(environment["QALA_DATA_DIR"], "/var/lib/qala");
    assert_eq!(environment["QALA_LISTEN"], "127.0.0.1:7420", "the README names the address");
    environment.insert("QALA_DATA_DIR".to_owned(), data.to_string_lossy().into_owned());
    environment.insert("QALA_LISTEN".to_owned(), "127.0.0.1:0".to_owned());
    let server =
        Started::spawn(qala()?.args(arguments).envs(&environment).current_dir(folder.path())).await?;
    server.take_first_steps().await?;
    let [program, arguments @ ..] = &image.healthcheck[..] else { bail!("the image has no health check") };
    assert_eq!(program, "/usr/local/bin/qala");
    let address = server.address.to_string();
    let healthcheck = qala()?.args(arguments).envs(&environment).env("QALA_LISTEN", address).output().await?;
    assert!(healthcheck.status.success(), "{healthcheck:?}");
    server.stop().await
}

/// An image that podman has built.
struct Container {
    name: String,
    /// Holds the files that the image is built from.
    _context: tempfile::TempDir,
}

/// Builds the image with the binary of the tests in place of the stage that compiles one, and tries that containers run here.
async fn build_with_podman(image: &Image) -> Result<Container> {
    podman(&["pull", "--quiet", &image.base]).await?;
    let context = tempfile::tempdir()?;
    let out = context.path().join("out");
    fs::create_dir_all(out.join("data"))?;
    fs::copy(find_binary()?, out.join("qala"))?;
    fs::write(
        context.path().join("Dockerfile"),
        format!("FROM scratch AS build\nCOPY out /out\n{}", image.stage),
    )?;
    let name = format!("qala-test-{}", std::process::id());
    podman(&["build", "--quiet", "--tag", &name, &path(context.path())]).await?;
    podman(&["run", "--rm", "--network", "host", &name, "version"]).await?;
    Ok(Container { name, _context: context })
}

impl Container {
    async fn walk(&self, image: &Image, compose: &BTreeMap<String, String>) -> Result<()> {
        let mut command = Command::new("podman");
        command.args([
            "run",
            "--rm",
            "--name",
            &self.name,
            "--network",
            "host",
            "--read-only",
            "--tmpfs",
            "/tmp",
        ]);
        command.args(["--cap-drop", "ALL", "--security-opt", "no-new-privileges"]);
        command.args(["--security-opt", &format!("seccomp={SECCOMP}")]);
        for (name, value) in compose {
            let value = if name == "QALA_LISTEN" { "127.0.0.1:0" } else { value };
            command.args(["--env", &format!("{name}={value}")]);
        }
        let server = Started::spawn(command.arg(&self.name)).await?;
        server.take_first_steps().await?;
        let listen = format!("QALA_LISTEN={}", server.address);
        let mut healthcheck = vec!["exec", "--env", &listen, &self.name];
        healthcheck.extend(image.healthcheck.iter().map(String::as_str));
        podman(&healthcheck).await?;
        podman(&["stop", &self.name]).await?;
        server.stop().await?;
        podman(&["rmi", "--force", &self.name]).await.map(drop)
    }
}

async fn podman(arguments: &[&str]) -> Result<String> {
    let run = Command::new("podman").args(arguments).stdin(Stdio::null()).kill_on_drop(true).output();
    let output =
        timeout(DEADLINE, run).await.context("podman does not end")?.context("podman is required")?;
    let errors = String::from_utf8_lossy(&output.stderr);
    let last = errors.lines().last().unwrap_or_default();
    ensure!(output.status.success(), "podman {}: {last}", arguments.join(" "));
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn path(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[test]
fn the_last_stage_is_read() {
    let image = Image::read(
        "FROM a AS build\nCMD [\"no\"]\n\nFROM base:1\nENV A=1 \\\n    B=2\nHEALTHCHECK --interval=10s CMD [\"h\"]\nENTRYPOINT [\"e\"]\nCMD [\"c\"]\n",
    )
    .unwrap();
    assert_eq!(
        (image.base.as_str(), image.command, image.healthcheck),
        ("base:1", vec!["e".to_owned(), "c".to_owned()], vec!["h".to_owned()])
    );
    assert_eq!(image.environment["B"], "2");
    let compose = "services:\n  a:\n    environment:\n      X: 1:2\n    volumes:\n";
    assert_eq!(environment_of(compose), BTreeMap::from([("X".to_owned(), "1:2".to_owned())]));
}
