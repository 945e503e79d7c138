//! Validates the configuration. If an option is invalid, the error names it and the program exits.

use std::{collections::BTreeMap, net::SocketAddr, path::Path};

use adapter_store::DatabaseUrl;
use anyhow::{Context as _, bail, ensure};
use secrecy::{ExposeSecret as _, SecretString};
use url::Url;

use crate::cli::{DatabaseArguments, RekeyArguments, RowsArguments, ServeArguments};

impl ServeArguments {
    /// Reads the options that are given as files.
    pub(crate) fn read_files(&mut self) -> anyhow::Result<()> {
        self.database.read_files()?;
        self.rows.read_files()?;
        read_secret_file(&mut self.master_key, self.master_key_file.as_deref(), "--master-key-file")?;
        read_secret_file(&mut self.smtp_url, self.smtp_url_file.as_deref(), "--smtp-url-file")
    }
}

impl DatabaseArguments {
    pub(crate) fn read_files(&mut self) -> anyhow::Result<()> {
        read_secret_file(&mut self.database_url, self.database_url_file.as_deref(), "--database-url-file")
    }
}

impl RowsArguments {
    pub(crate) fn read_files(&mut self) -> anyhow::Result<()> {
        read_secret_file(&mut self.rows_url, self.rows_url_file.as_deref(), "--rows-url-file")?;
        let mut shards = None;
        read_secret_file(&mut shards, self.rows_shards_file.as_deref(), "--rows-shards-file")?;
        if let Some(shards) = shards {
            let each =
                shards.expose_secret().split([',', '\n']).map(str::trim).filter(|shard| !shard.is_empty());
            self.rows_shards = each.map(SecretString::from).collect();
        }
        Ok(())
    }
}

impl RekeyArguments {
    pub(crate) fn read_files(&mut self) -> anyhow::Result<()> {
        read_secret_file(&mut self.master_key, self.master_key_file.as_deref(), "--master-key-file")
    }
}

/// Maximum size of a file with a secret, in bytes.
const MAX_SECRET_FILE: u64 = 64 << 10;

fn read_secret_file(
    secret: &mut Option<SecretString>,
    file: Option<&Path>,
    option: &str,
) -> anyhow::Result<()> {
    use std::io::Read as _;
    let Some(path) = file else { return Ok(()) };
    let mut text = String::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(MAX_SECRET_FILE).read_to_string(&mut text))
        .with_context(|| format!("{option}: {} cannot be read", path.display()))?;
    let text = text.trim();
    ensure!(!text.is_empty(), "{option}: {} is empty", path.display());
    *secret = Some(SecretString::from(text));
    Ok(())
}

/// Returns the URL of the control plane's database.
pub(crate) fn database_url(arguments: &DatabaseArguments) -> anyhow::Result<DatabaseUrl> {
    match &arguments.database_url {
        Some(url) => url.expose_secret().parse().context("--database-url"),
        None => Ok(DatabaseUrl::Sqlite(arguments.data_dir.join("qala.db"))),
    }
}

/// Location of the rows of backend projects.
#[derive(Debug)]
pub(crate) enum RowsBackend {
    /// A directory with one file per project.
    Sqlite(std::path::PathBuf),
    /// A database with one schema per project.
    Postgres(SecretString),
}

fn is_postgres(url: &SecretString) -> bool {
    let url = url.expose_secret();
    url.starts_with("postgres://") || url.starts_with("postgresql://")
}

/// Returns the location of the rows of shard 0.
pub(crate) fn default_rows_backend(
    database: &DatabaseArguments,
    rows: &RowsArguments,
) -> anyhow::Result<RowsBackend> {
    match (&rows.rows_url, &database.database_url) {
        (Some(url), _) if is_postgres(url) => Ok(RowsBackend::Postgres(url.clone())),
        (Some(_), _) => bail!("--rows-url: must start with postgres://"),
        (None, Some(url)) if is_postgres(url) => Ok(RowsBackend::Postgres(url.clone())),
        (None, _) => Ok(RowsBackend::Sqlite(database.data_dir.join("rows"))),
    }
}

/// Returns the location of the rows of every shard.
pub(crate) fn rows_backends(
    database: &DatabaseArguments,
    rows: &RowsArguments,
) -> anyhow::Result<BTreeMap<u16, RowsBackend>> {
    let mut shards = BTreeMap::from([(0, default_rows_backend(database, rows)?)]);
    for text in &rows.rows_shards {
        // The message must not repeat the value: it may hold a password.
        let form = "--rows-shards: each shard must be NUMBER=postgres://… or NUMBER=DIRECTORY; number 0 is taken by --rows-url";
        let (number, location) = text.expose_secret().split_once('=').context(form)?;
        let number: u16 = number.trim().parse().ok().filter(|number| *number > 0).context(form)?;
        let url = SecretString::from(location);
        let location = match location {
            "" => bail!(form),
            _ if is_postgres(&url) => RowsBackend::Postgres(url),
            directory => RowsBackend::Sqlite(directory.into()),
        };
        ensure!(shards.insert(number, location).is_none(), "--rows-shards: shard {number} is given twice");
    }
    let new = rows.new_projects_shard;
    ensure!(
        shards.contains_key(&new),
        "--new-projects-shard: there is no shard {new}; define it with --rows-shards"
    );
    Ok(shards)
}

/// Fails unless the embedded database exists: a mistyped directory must not become a new, empty installation.
pub(crate) fn check_database_exists(arguments: &DatabaseArguments, url: &DatabaseUrl) -> anyhow::Result<()> {
    let DatabaseUrl::Sqlite(path) = url else { return Ok(()) };
    let option = if arguments.database_url.is_some() { "--database-url" } else { "--data-dir" };
    ensure!(path.is_file(), "{option}: there is no database at {}", path.display());
    Ok(())
}

/// Creates the data directory, for its owner alone.
pub(crate) fn create_data_dir(path: &Path) -> anyhow::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .with_context(|| format!("--data-dir: cannot create {}", path.display()))
}

/// Returns true if the development sign-in is on; fails if it is requested on a listener that is not loopback.
pub(crate) fn is_dev_login_enabled(arguments: &ServeArguments) -> anyhow::Result<bool> {
    let loopback = arguments.listen.ip().is_loopback();
    let on = arguments.dev_login.unwrap_or(loopback && arguments.public_url.is_none());
    ensure!(
        !on || loopback,
        "--dev-login: lets anybody sign in as anybody, so --listen must be a loopback address"
    );
    Ok(on)
}

/// Fails if the rate limits are lifted on a listener that is not loopback.
pub(crate) fn check_rate_limits(arguments: &ServeArguments) -> anyhow::Result<()> {
    let allowed = !arguments.no_rate_limits || arguments.listen.ip().is_loopback();
    ensure!(allowed, "--no-rate-limits: --listen must be a loopback address");
    Ok(())
}

/// Returns the public URL, without a slash at its end, and the console's origin.
pub(crate) fn public_url_and_console_origin(
    arguments: &ServeArguments,
    bound: SocketAddr,
) -> anyhow::Result<(String, String)> {
    let public = match &arguments.public_url {
        Some(text) => {
            let url: Url = text
                .parse()
                .ok()
                .filter(|url: &Url| matches!(url.scheme(), "http" | "https"))
                .with_context(|| format!("--public-url: {text} must start with https:// (or http://)"))?;
            let plain =
                matches!(url.scheme(), "http" | "https") && url.query().is_none() && url.fragment().is_none();
            ensure!(
                plain && url.has_host(),
                "--public-url: must be http:// or https:// with a host, without query and fragment"
            );
            ensure!(
                url.path() == "/",
                "--public-url: must not have a path: the server needs the root of its host"
            );
            url.as_str().trim_end_matches('/').to_owned()
        }
        None => format!("http://{bound}"),
    };
    let origin = match &arguments.console_origin {
        Some(text) => {
            let url: Url = text.parse().ok().with_context(|| {
                format!("--console-origin: {text} must start with https:// (or http://) and name a host")
            })?;
            let origin = url.origin().ascii_serialization();
            ensure!(
                origin == text.trim_end_matches('/'),
                "--console-origin: must be scheme, host and port alone, such as https://console.example.com"
            );
            origin
        }
        None => public.parse::<Url>().context("--public-url")?.origin().ascii_serialization(),
    };
    Ok((public, origin))
}

/// Returns the domain of apps' hosts. The console must not be within it: apps would share a site with its cookies.
pub(crate) fn apps_domain(arguments: &ServeArguments, public_url: &str) -> anyhow::Result<Option<String>> {
    let Some(text) = &arguments.apps_domain else { return Ok(None) };
    let url: Url = format!("http://{text}/").parse().context("--apps-domain")?;
    let label = |label: &str| {
        !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let plain = url.domain() == Some(text.as_str()) && text.split('.').all(label);
    ensure!(plain, "--apps-domain: must be a domain name in lower case, such as apps.example.com");
    let public: Url = public_url.parse().context("--public-url")?;
    let host = public.host_str().unwrap_or_default();
    let is_within = host == text || host.strip_suffix(text.as_str()).is_some_and(|rest| rest.ends_with('.'));
    ensure!(!is_within, "--apps-domain: the public URL's host {host} must not be within this domain");
    Ok(Some(text.clone()))
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::Cli;

    fn arguments(options: &[&str]) -> ServeArguments {
        Cli::parse_from(std::iter::once(&"qala").chain(options)).serve
    }

    #[test]
    fn the_development_sign_in_needs_a_loopback_listener() {
        assert!(is_dev_login_enabled(&arguments(&[])).unwrap());
        assert!(is_dev_login_enabled(&arguments(&["--dev-login"])).unwrap());
        assert!(!is_dev_login_enabled(&arguments(&["--dev-login=false"])).unwrap());
        assert!(!is_dev_login_enabled(&arguments(&["--public-url", "https://q.example"])).unwrap());
        assert!(!is_dev_login_enabled(&arguments(&["--listen", "0.0.0.0:80"])).unwrap());
        let error = is_dev_login_enabled(&arguments(&["--listen", "0.0.0.0:80", "--dev-login"])).unwrap_err();
        assert!(error.to_string().contains("--dev-login"));
        assert!(check_rate_limits(&arguments(&["--listen", "0.0.0.0:80", "--no-rate-limits"])).is_err());
    }

    #[test]
    fn urls_are_plain_and_the_origin_follows() {
        let bound = "127.0.0.1:7420".parse().unwrap();
        let urls = |options: &[&str]| public_url_and_console_origin(&arguments(options), bound);
        let plain = "http://127.0.0.1:7420".to_owned();
        assert_eq!(urls(&[]).unwrap(), (plain.clone(), plain));
        let (public, origin) = urls(&["--public-url", "https://Q.example/"]).unwrap();
        assert_eq!((public.as_str(), origin.as_str()), ("https://q.example", "https://q.example"));
        let (_, origin) =
            urls(&["--public-url", "https://q.example", "--console-origin", "https://c.example"]).unwrap();
        assert_eq!(origin, "https://c.example");
        for bad in ["q.example", "ftp://q.example", "https://q.example/x", "https://q.example/?a"] {
            assert!(urls(&["--public-url", bad]).is_err(), "{bad}");
        }
        assert!(urls(&["--console-origin", "https://c.example/x"]).is_err());
    }

    #[test]
    fn the_apps_domain_is_a_plain_name() {
        let domain = |text| apps_domain(&arguments(&["--apps-domain", text]), "https://qala.example.com");
        assert_eq!(domain("apps.example.com").unwrap().as_deref(), Some("apps.example.com"));
        for bad in [
            "example.com",
            "qala.example.com",
            "https://a.example",
            "a.example/x",
            "a.example:80",
            "A.example",
            "127.0.0.1",
            "",
            "*.apps.example.com",
            "apps_1.example.com",
            "apps.example.com.",
        ] {
            assert!(domain(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn secrets_come_from_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        std::fs::write(&path, "  secret\n").unwrap();
        let path = path.to_str().unwrap();
        let mut given =
            arguments(&["--master-key-file", path, "--smtp-url-file", path, "--database-url-file", path]);
        given.read_files().unwrap();
        for secret in [&given.master_key, &given.smtp_url, &given.database.database_url] {
            assert_eq!(secret.as_ref().unwrap().expose_secret(), "secret");
        }
        std::fs::write(path, "1=/mnt/b,2=/mnt/c\n").unwrap();
        let mut given = arguments(&["--rows-shards-file", path]);
        given.read_files().unwrap();
        assert_eq!(given.rows.rows_shards.len(), 2);
        let both = ["qala", "--master-key", "x", "--master-key-file", path];
        assert!(Cli::try_parse_from(both).is_err(), "one or the other");
        let mut given = arguments(&["--master-key-file", "/no/such/file"]);
        let refused = given.read_files().unwrap_err().to_string();
        assert!(refused.starts_with("--master-key-file: /no/such/file"), "{refused}");
        std::fs::write(path, "\n").unwrap();
        assert!(arguments(&["--master-key-file", path]).read_files().is_err(), "an empty file");
    }

    #[test]
    fn rows_follow_the_database() {
        let location = |options: &[&str]| {
            let arguments = arguments(options);
            default_rows_backend(&arguments.database, &arguments.rows)
        };
        assert!(matches!(location(&[]), Ok(RowsBackend::Sqlite(_))));
        assert!(matches!(location(&["--database-url", "postgres://h/d"]), Ok(RowsBackend::Postgres(_))));
        assert!(matches!(location(&["--rows-url", "postgres://h/d"]), Ok(RowsBackend::Postgres(_))));
        assert!(location(&["--rows-url", "sqlite://x"]).is_err());
    }

    #[test]
    fn shards_are_numbered_and_the_shard_of_new_projects_exists() {
        let shards = |options: &[&str]| {
            let arguments = arguments(options);
            rows_backends(&arguments.database, &arguments.rows)
                .map(|shards| shards.into_keys().collect::<Vec<_>>())
        };
        assert_eq!(shards(&[]).unwrap(), [0]);
        let two = ["--rows-shards", "1=/mnt/b,7=/mnt/c", "--new-projects-shard", "7"];
        assert_eq!(shards(&two).unwrap(), [0, 1, 7]);
        assert!(shards(&["--new-projects-shard", "1"]).is_err());
        for bad in ["0=/mnt/b", "/mnt/b", "1=", "x=/mnt/b", "1=/mnt/b,1=/mnt/c"] {
            let refused = shards(&["--rows-shards", bad]).unwrap_err().to_string();
            assert!(refused.starts_with("--rows-shards:") && !refused.contains("/mnt"), "{refused}");
        }
    }
}
