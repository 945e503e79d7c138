//! The command line. Every option can also be set as an environment variable.

use std::{net::SocketAddr, path::PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};
use connections::egress::{AllowedHost, ConnectorBase};
use ipnet::IpNet;
use secrecy::SecretString;

/// A self-hosted control plane: apps, automations, webhooks, runs and backend data.
///
/// Without a command, `qala` starts the server, as `qala serve` does.
#[derive(Debug, Parser)]
#[command(name = "qala", version, args_conflicts_with_subcommands = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) serve: ServeArguments,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start the server.
    Serve(Box<ServeArguments>),
    /// Bring the database schema up to date.
    Migrate(DatabaseArguments),
    /// Check the configuration, the data and the sandbox that a server needs.
    Doctor(Box<ServeArguments>),
    /// Do tasks of the operator that the API does not offer.
    Admin(AdminArguments),
    /// Export a backend project to a file, or import one.
    Rows(RowsCommand),
    /// Back up the SQLite data to a new directory; the server may keep running.
    Backup(BackupArguments),
    /// Check that a running server is ready; for health checks of containers.
    Healthcheck(HealthcheckArguments),
    /// Print the API description (OpenAPI 3.1).
    Openapi,
    /// Print the version, commit, database schema and target.
    Version {
        /// Print one line of JSON.
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct BackupArguments {
    #[command(flatten)]
    pub(crate) database: DatabaseArguments,
    #[command(flatten)]
    pub(crate) rows: RowsArguments,
    /// Directory for the backup; must be new or empty.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct HealthcheckArguments {
    /// Address that the server listens on.
    #[arg(long, env = "QALA_LISTEN", default_value = "127.0.0.1:7420", value_name = "ADDRESS")]
    pub(crate) listen: SocketAddr,
}

/// Location of the control plane's data.
#[derive(Debug, Clone, Args)]
pub(crate) struct DatabaseArguments {
    /// Directory of the embedded database, the rows of backend projects and the development master key.
    #[arg(long, env = "QALA_DATA_DIR", default_value = "qala-data", value_name = "DIR")]
    pub(crate) data_dir: PathBuf,

    /// Database of the control plane, `sqlite://PATH` or `postgres://…`; default: a file in the data directory.
    #[arg(long, env = "QALA_DATABASE_URL", hide_env_values = true, value_name = "URL")]
    pub(crate) database_url: Option<SecretString>,

    /// File that has the value of `--database-url`.
    #[arg(long, env = "QALA_DATABASE_URL_FILE", value_name = "FILE", conflicts_with = "database_url")]
    pub(crate) database_url_file: Option<PathBuf>,
}

/// Location of the rows of backend projects.
#[derive(Debug, Clone, Args)]
pub(crate) struct RowsArguments {
    /// PostgreSQL URL for the rows of backend projects; default: the database URL if it is PostgreSQL's, else files.
    #[arg(long, env = "QALA_ROWS_URL", hide_env_values = true, value_name = "URL")]
    pub(crate) rows_url: Option<SecretString>,

    /// File that has the value of `--rows-url`.
    #[arg(long, env = "QALA_ROWS_URL_FILE", value_name = "FILE", conflicts_with = "rows_url")]
    pub(crate) rows_url_file: Option<PathBuf>,

    /// More shards for rows, besides shard 0: NUMBER=postgres://… or NUMBER=DIRECTORY, separated by commas.
    #[arg(
        long,
        env = "QALA_ROWS_SHARDS",
        hide_env_values = true,
        value_delimiter = ',',
        value_name = "SHARDS"
    )]
    pub(crate) rows_shards: Vec<SecretString>,

    /// File that has the value of `--rows-shards`.
    #[arg(long, env = "QALA_ROWS_SHARDS_FILE", value_name = "FILE", conflicts_with = "rows_shards")]
    pub(crate) rows_shards_file: Option<PathBuf>,

    /// Shard for the rows of new projects.
    #[arg(long, env = "QALA_NEW_PROJECTS_SHARD", default_value_t = 0, value_name = "NUMBER")]
    pub(crate) new_projects_shard: u16,

    /// Time limit of one statement on rows, in seconds, 1 to 300.
    #[arg(long, env = "QALA_ROWS_TIME_LIMIT", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=300), value_name = "SECONDS")]
    pub(crate) rows_time_limit: u16,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ServeArguments {
    /// Address to listen on; port 0 picks a free port.
    #[arg(long, env = "QALA_LISTEN", default_value = "127.0.0.1:7420", value_name = "ADDRESS")]
    pub(crate) listen: SocketAddr,

    #[command(flatten)]
    pub(crate) database: DatabaseArguments,

    #[command(flatten)]
    pub(crate) rows: RowsArguments,

    /// URL that reaches the server from outside, without a path; default: the listening address.
    #[arg(long, env = "QALA_PUBLIC_URL", value_name = "URL")]
    pub(crate) public_url: Option<String>,

    /// The only origin whose pages may call the API with the session cookie; default: the public URL's.
    #[arg(long, env = "QALA_CONSOLE_ORIGIN", value_name = "ORIGIN")]
    pub(crate) console_origin: Option<String>,

    /// Domain under which each app gets a host of its own, SLUG.DOMAIN; without it apps respond under /a/SLUG/.
    #[arg(long, env = "QALA_APPS_DOMAIN", value_name = "DOMAIN")]
    pub(crate) apps_domain: Option<String>,

    /// Let anybody sign in as anybody; only on a loopback listener. Default: on, unless a public URL is given.
    #[arg(long, env = "QALA_DEV_LOGIN", value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    pub(crate) dev_login: Option<bool>,

    /// Master key, 32 bytes in base64; for rotation several, newest first, separated by commas.
    #[arg(long, env = "QALA_MASTER_KEY", hide_env_values = true, value_name = "KEYS")]
    pub(crate) master_key: Option<SecretString>,

    /// File that has the value of `--master-key`.
    #[arg(long, env = "QALA_MASTER_KEY_FILE", value_name = "FILE", conflicts_with = "master_key")]
    pub(crate) master_key_file: Option<PathBuf>,

    /// TOML file of the OpenID Connect issuers that people may sign in with.
    #[arg(long, env = "QALA_OIDC_CONFIG", value_name = "FILE")]
    pub(crate) oidc_config: Option<PathBuf>,

    /// TOML file of the OAuth apps by which people connect services in a browser.
    #[arg(long, env = "QALA_CONNECTORS_CONFIG", value_name = "FILE")]
    pub(crate) connectors_config: Option<PathBuf>,

    /// Mail server, smtps://USER:PASSWORD@HOST or smtp://… with STARTTLS; default: e-mail is printed to the log.
    #[arg(long, env = "QALA_SMTP_URL", hide_env_values = true, value_name = "URL")]
    pub(crate) smtp_url: Option<SecretString>,

    /// File that has the value of `--smtp-url`.
    #[arg(long, env = "QALA_SMTP_URL_FILE", value_name = "FILE", conflicts_with = "smtp_url")]
    pub(crate) smtp_url_file: Option<PathBuf>,

    /// Sender of e-mail, as in `Qala <qala@example.com>`; default: no-reply at the public URL's host.
    #[arg(long, env = "QALA_MAIL_FROM", value_name = "MAILBOX")]
    pub(crate) mail_from: Option<String>,

    /// Networks of proxies whose X-Forwarded-For is trusted, separated by commas.
    #[arg(long, env = "QALA_TRUSTED_PROXIES", value_delimiter = ',', value_name = "NETWORKS")]
    pub(crate) trusted_proxies: Vec<IpNet>,

    /// DNS server for the hosts that apps and connections reach, and for the TXT records that verify join domains,
    /// ADDRESS:PORT; default: the system's resolver.
    #[arg(long, env = "QALA_DNS_SERVER", value_name = "ADDRESS")]
    pub(crate) dns_server: Option<SocketAddr>,

    /// Maximum number of concurrent runs, 1 to 1000.
    #[arg(long, env = "QALA_WORKERS", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=1000), value_name = "N")]
    pub(crate) workers: u16,

    /// Lift the rate limits of people, addresses, projects and webhooks, for load tests; only on a loopback listener.
    #[arg(long, env = "QALA_NO_RATE_LIMITS")]
    pub(crate) no_rate_limits: bool,

    /// Refuse to start, and to run app code, if a layer of the sandbox is missing; `qala doctor` names those that are.
    #[arg(long, env = "QALA_REQUIRE_SANDBOX")]
    pub(crate) require_sandbox: bool,

    /// Hosts in private networks that apps may reach, as HOST:PORT=NETWORK, separated by commas.
    #[arg(long, env = "QALA_ALLOWED_HOSTS", value_delimiter = ',', value_name = "HOSTS")]
    pub(crate) allowed_hosts: Vec<AllowedHost>,

    /// Fakes on this machine in place of services of the catalogue, as CONNECTOR=URL, separated by commas; only with
    /// --dev-login.
    #[arg(long, env = "QALA_CONNECTOR_BASE", value_delimiter = ',', value_name = "FAKES")]
    pub(crate) connector_base: Vec<ConnectorBase>,

    /// Plan of new workspaces: free, maker, team, business or sovereign.
    #[arg(long, env = "QALA_DEFAULT_PLAN", default_value = "sovereign", value_name = "PLAN")]
    pub(crate) default_plan: workspace::Plan,

    /// Respond and accept calls, but start no run, schedule or e-mail until `qala admin resume`.
    #[arg(long, env = "QALA_PAUSED")]
    pub(crate) paused: bool,

    /// Format of the log; default: text on a terminal, else json.
    #[arg(long, env = "QALA_LOG_FORMAT", value_name = "FORMAT")]
    pub(crate) log_format: Option<LogFormat>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// Lines for people.
    Text,
    /// One JSON object per line.
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct AdminArguments {
    #[command(flatten)]
    pub(crate) database: DatabaseArguments,
    #[command(subcommand)]
    pub(crate) task: AdminTask,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AdminTask {
    /// Make a person an owner of a workspace; they must have signed in before.
    MakeOwner {
        /// Id of the workspace.
        workspace: kernel::id::WorkspaceId,
        /// E-mail address of the person.
        email: identity::Email,
    },
    /// Remove all passkeys of a person who lost theirs, and end their sessions.
    TakePasskeysOff {
        /// E-mail address of the person.
        email: identity::Email,
    },
    /// Start runs, schedules and e-mail again after `qala serve --paused`.
    Resume,
    /// Finish a rotation of the master key: seal every secret under the newest key, and print what depends on each key.
    Rekey(RekeyArguments),
    /// Put a workspace on another plan.
    SetPlan {
        /// Id of the workspace.
        workspace: kernel::id::WorkspaceId,
        /// Plan: free, maker, team, business or sovereign.
        plan: workspace::Plan,
    },
}

#[derive(Debug, Args)]
pub(crate) struct RekeyArguments {
    /// Master keys of the server, newest first, separated by commas.
    #[arg(long, env = "QALA_MASTER_KEY", hide_env_values = true, value_name = "KEYS")]
    pub(crate) master_key: Option<SecretString>,

    /// File that has the value of `--master-key`.
    #[arg(long, env = "QALA_MASTER_KEY_FILE", value_name = "FILE", conflicts_with = "master_key")]
    pub(crate) master_key_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct RowsCommand {
    #[command(flatten)]
    pub(crate) database: DatabaseArguments,
    #[command(flatten)]
    pub(crate) rows: RowsArguments,
    #[command(subcommand)]
    pub(crate) task: RowsTask,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RowsTask {
    /// Write a project's settings, tables, indexes, policies and rows to a file; its keys are left out.
    Export {
        /// Id of the project.
        project: kernel::id::ProjectId,
        /// File to create; must not exist.
        file: PathBuf,
    },
    /// Create a project from a file that `export` wrote, on either database.
    Import {
        /// Id of the workspace for the project.
        workspace: kernel::id::WorkspaceId,
        /// E-mail address of the member who is recorded as the project's creator.
        maker: identity::Email,
        /// File that `export` wrote.
        file: PathBuf,
    },
}
