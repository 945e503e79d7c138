//! `qala doctor`: checks everything that a server needs, and prints a line for each check.

use std::{collections::BTreeMap, path::Path, process::ExitCode, sync::Arc};

use adapter_oidc::OidcIssuers;
use adapter_store::Store;
use anyhow::{Context as _, ensure};
use kernel::{Clock as _, Id, SystemClock, SystemRandomness, vault::Vault};
use runs::engine::{Bundle, Engine as _};

use crate::{cli::ServeArguments, config, master_key};

/// Runs every check; the exit code is success if all pass.
pub(crate) async fn doctor(arguments: ServeArguments) -> anyhow::Result<ExitCode> {
    let development = config::is_dev_login_enabled(&arguments).unwrap_or(false);
    let checks: [(&str, anyhow::Result<String>); 10] = [
        ("options", check_options(&arguments)),
        ("data directory", check_data_dir(&arguments)),
        ("disk space", check_disk_space(&arguments)),
        ("master key", check_master_key(&arguments, development).await),
        ("listening address", check_listen_address(&arguments).await),
        ("database", check_database(&arguments).await),
        ("rows", check_rows(&arguments).await),
        ("mail", check_mail(&arguments).await),
        ("issuers", check_issuers(&arguments).await),
        ("sandbox", check_sandbox(&arguments).await),
    ];
    let mut healthy = true;
    for (name, result) in checks {
        healthy &= result.is_ok();
        print_check(name, &result);
    }
    Ok(if healthy { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[expect(clippy::print_stdout, reason = "output of the command")]
fn print_check(name: &str, result: &anyhow::Result<String>) {
    match result {
        Ok(found) => println!("ok    {name}: {found}"),
        Err(error) => println!("FAIL  {name}: {error:#}"),
    }
}

fn check_options(arguments: &ServeArguments) -> anyhow::Result<String> {
    let dev_login = config::is_dev_login_enabled(arguments)?;
    config::check_rate_limits(arguments)?;
    let (public, origin) = config::public_url_and_console_origin(arguments, arguments.listen)?;
    Ok(format!(
        "public URL {public}, console {origin}, development sign-in {}",
        if dev_login { "on" } else { "off" }
    ))
}

fn check_data_dir(arguments: &ServeArguments) -> anyhow::Result<String> {
    let path = &arguments.database.data_dir;
    if !path.exists() {
        return Ok(format!("{} does not exist yet; the server creates it", path.display()));
    }
    ensure!(path.is_dir(), "--data-dir: {} is not a directory", path.display());
    let probe = path.join(".doctor");
    std::fs::write(&probe, b"x").with_context(|| format!("cannot write to {}", path.display()))?;
    std::fs::remove_file(&probe)?;
    Ok(format!("{} is writable", path.display()))
}

/// Least free space, in bytes; with less there is soon no room for the write-ahead log and its checkpoint.
const MIN_FREE_BYTES: u64 = 256 << 20;

fn check_disk_space(arguments: &ServeArguments) -> anyhow::Result<String> {
    let path = &arguments.database.data_dir;
    let there = path.ancestors().find(|path| path.exists()).unwrap_or(Path::new("."));
    let stat = rustix::fs::statvfs(there)?;
    let free = stat.f_bavail.saturating_mul(stat.f_frsize);
    ensure!(
        free >= MIN_FREE_BYTES,
        "only {} MiB are free at {}; keep at least {} MiB free",
        free >> 20,
        there.display(),
        MIN_FREE_BYTES >> 20
    );
    Ok(format!("{} MiB are free at {}", free >> 20, there.display()))
}

/// Checks that the key is usable, and that it opens the data if there is any.
async fn check_master_key(arguments: &ServeArguments, development: bool) -> anyhow::Result<String> {
    let data_dir = &arguments.database.data_dir;
    let given = arguments.master_key.as_ref();
    if given.is_none() && development && !master_key::development_key_path(data_dir).exists() {
        return Ok("none yet; the development server creates one".to_owned());
    }
    let keys = master_key::load(given, data_dir, development, &SystemRandomness)?;
    let count = keys.derive_keys("doctor").count();
    let url = config::database_url(&arguments.database)?;
    if config::check_database_exists(&arguments.database, &url).is_err() {
        return Ok(format!("{count} usable; there is no data yet"));
    }
    let store = Store::open_existing(&url).await.context("cannot read the data")?;
    match store.verify_key(&Vault::new(&keys)).await {
        Ok(true) => Ok(format!("{count} usable; the data can be opened")),
        Ok(false) => Ok(format!("{count} usable; nothing has been sealed yet")),
        Err(error) => Err(anyhow::Error::new(error).context("--master-key")),
    }
}

async fn check_listen_address(arguments: &ServeArguments) -> anyhow::Result<String> {
    match tokio::net::TcpListener::bind(arguments.listen).await {
        Ok(_) => Ok(format!("{} is free", arguments.listen)),
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {
            Ok(format!("{} is in use, perhaps by a running Qala", arguments.listen))
        }
        Err(error) => Err(error).with_context(|| arguments.listen.to_string()),
    }
}

async fn check_database(arguments: &ServeArguments) -> anyhow::Result<String> {
    let url = config::database_url(&arguments.database)?;
    if let (Err(_), None) =
        (config::check_database_exists(&arguments.database, &url), &arguments.database.database_url)
    {
        return Ok("none yet; the server creates it".to_owned());
    }
    let store = Store::open_existing(&url).await?;
    store.check().await?;
    Ok("reachable, schema up to date, writable".to_owned())
}

async fn check_rows(arguments: &ServeArguments) -> anyhow::Result<String> {
    let shards = config::rows_backends(&arguments.database, &arguments.rows)?;
    let locations = shards.into_iter().map(|(number, location)| match location {
        config::RowsBackend::Sqlite(directory) => format!("shard {number}: files in {}", directory.display()),
        config::RowsBackend::Postgres(_) => format!("shard {number}: schemas on PostgreSQL"),
    });
    let locations: Vec<String> = locations.collect();
    let shards = config::rows_backends(&arguments.database, &arguments.rows)?;
    let missing = |location: &config::RowsBackend| match location {
        config::RowsBackend::Sqlite(directory) => !directory.is_dir(),
        config::RowsBackend::Postgres(_) => false,
    };
    // Opening would create a missing directory.
    if !shards.values().any(missing) {
        crate::serve::open_rows(&arguments.database, &arguments.rows).await?;
    }
    Ok(locations.join(", "))
}

async fn check_mail(arguments: &ServeArguments) -> anyhow::Result<String> {
    let (public_url, _) = config::public_url_and_console_origin(arguments, arguments.listen)?;
    match crate::mail::smtp_transport(arguments, &public_url, Arc::new(SystemClock))? {
        Some(transport) => {
            transport.test_connection().await?;
            Ok("the mail server accepts the connection".to_owned())
        }
        None => Ok("no mail server; e-mail is printed to the log".to_owned()),
    }
}

/// Checks that the metadata and the keys of each issuer can be used.
async fn check_issuers(arguments: &ServeArguments) -> anyhow::Result<String> {
    let registrations = crate::oidc::load(arguments.oidc_config.as_deref())?;
    let issuers = OidcIssuers::new(registrations).context("--oidc-config")?;
    let checked = issuers.check().await;
    let names: Vec<&str> = checked.iter().map(|(provider, _)| provider.name.as_str()).collect();
    let failures: Vec<String> = checked
        .iter()
        .filter_map(|(provider, result)| {
            result.as_ref().err().map(|error| format!("{}: {error}", provider.name))
        })
        .collect();
    ensure!(failures.is_empty(), "--oidc-config: {}", failures.join("; "));
    Ok(if names.is_empty() {
        "none are configured".to_owned()
    } else {
        format!("{} can be used for sign-in", names.join(", "))
    })
}

async fn check_sandbox(arguments: &ServeArguments) -> anyhow::Result<String> {
    let engine = crate::serve::start_runtime(1, arguments.require_sandbox, None)?;
    let missing = engine.confinement().await?.missing_layers();
    let random = SystemRandomness;
    let random: &dyn kernel::Randomness = &random;
    let now = SystemClock.now();
    let files = BTreeMap::from([("main.js".to_owned(), "export default { scheduled() {} }".to_owned())]);
    let bundle = Arc::new(Bundle::new(Id::generate(random, now), files));
    let handlers = engine.check(Id::generate(random, now), None, bundle).await?;
    ensure!(handlers.scheduled, "the handler of a test app was not found");
    Ok(match missing.as_slice() {
        [] => "a worker process compiled an app; no layer is missing".to_owned(),
        missing => format!("a worker process compiled an app; missing layers: {}", missing.join(", ")),
    })
}
