//! The command line. Every option is also an environment variable.

use std::{net::SocketAddr, path::PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};
use connections::egress::AllowedHost;
use ipnet::IpNet;
use secrecy::SecretString;

/// A self-hosted control plane: apps and automations, webhooks, runs, backend data.
#[derive(Debug, Parser)]
#[command(name = "qala", version, args_conflicts_with_subcommands = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// Without a command the server starts.
    #[command(flatten)]
    pub(crate) serve: ServeArguments,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start the server.
    Serve(Box<ServeArguments>),
    /// Bring the database's schema up to date.
    Migrate(DatabaseArguments),
    /// Look whether everything the server needs is there.
    Doctor(Box<ServeArguments>),
    /// Do what the API does not let anybody do.
    Admin(AdminArguments),
    /// Keep a backend project in a file, or bring one back.
    Rows(RowsCommand),
    /// Copy the SQLite data of a server, which may go on meanwhile, to a new directory.
    Backup(BackupArguments),
    /// Ask a running server whether it is ready; for health checks of containers.
    Healthcheck(HealthcheckArguments),
    /// Print the API's description (OpenAPI 3.1).
    Openapi,
    /// Print the version with what the program was built from and for.
    Version {
        /// As one line of JSON.
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
    /// Directory of the backup: one that is new or empty.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct HealthcheckArguments {
    /// The address that the server listens on.
    #[arg(long, env = "QALA_LISTEN", default_value = "127.0.0.1:7420", value_name = "ADDRESS")]
    pub(crate) listen: SocketAddr,
}

/// Where the control plane's data is.
#[derive(Debug, Clone, Args)]
pub(crate) struct DatabaseArguments {
    /// Where the embedded database, the rows of backend projects and the development master key are kept.
    #[arg(long, env = "QALA_DATA_DIR", default_value = "qala-data", value_name = "DIR")]
    pub(crate) data_dir: PathBuf,

    /// `sqlite://PATH` or `postgres://…`; a file in the data directory when not said.
    #[arg(long, env = "QALA_DATABASE_URL", hide_env_values = true, value_name = "URL")]
    pub(crate) database_url: Option<SecretString>,

    /// A file that holds what `--database-url` would be given.
    #[arg(long, env = "QALA_DATABASE_URL_FILE", value_name = "FILE", conflicts_with = "database_url")]
    pub(crate) database_url_file: Option<PathBuf>,
}

/// Where the rows of backend projects are.
#[derive(Debug, Clone, Args)]
pub(crate) struct RowsArguments {
    /// Where the rows of backend projects live on PostgreSQL; the database URL when not said.
    #[arg(long, env = "QALA_ROWS_URL", hide_env_values = true, value_name = "URL")]
    pub(crate) rows_url: Option<SecretString>,

    /// A file that holds what `--rows-url` would be given.
    #[arg(long, env = "QALA_ROWS_URL_FILE", value_name = "FILE", conflicts_with = "rows_url")]
    pub(crate) rows_url_file: Option<PathBuf>,

    /// More places for rows beside that one, which is shard 0: NUMBER=postgres://… or NUMBER=DIRECTORY, with commas between.
    #[arg(
        long,
        env = "QALA_ROWS_SHARDS",
        hide_env_values = true,
        value_delimiter = ',',
        value_name = "SHARDS"
    )]
    pub(crate) rows_shards: Vec<SecretString>,

    /// A file that holds what `--rows-shards` would be given.
    #[arg(long, env = "QALA_ROWS_SHARDS_FILE", value_name = "FILE", conflicts_with = "rows_shards")]
    pub(crate) rows_shards_file: Option<PathBuf>,

    /// The shard that the rows of new projects go to.
    #[arg(long, env = "QALA_NEW_PROJECTS_SHARD", default_value_t = 0, value_name = "NUMBER")]
    pub(crate) new_projects_shard: u16,

    /// How many seconds one statement over rows may take before it is stopped.
    #[arg(long, env = "QALA_ROWS_TIME_LIMIT", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=300), value_name = "SECONDS")]
    pub(crate) rows_time_limit: u16,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ServeArguments {
    /// The address to listen on; port 0 takes a free one.
    #[arg(long, env = "QALA_LISTEN", default_value = "127.0.0.1:7420", value_name = "ADDRESS")]
    pub(crate) listen: SocketAddr,

    #[command(flatten)]
    pub(crate) database: DatabaseArguments,

    #[command(flatten)]
    pub(crate) rows: RowsArguments,

    /// Where the server is reached from outside; the listening address when not said.
    #[arg(long, env = "QALA_PUBLIC_URL", value_name = "URL")]
    pub(crate) public_url: Option<String>,

    /// The only origin whose pages may call the API with the session cookie; the public URL's when not said.
    #[arg(long, env = "QALA_CONSOLE_ORIGIN", value_name = "ORIGIN")]
    pub(crate) console_origin: Option<String>,

    /// The domain under which each app has a host of its own, as in SLUG.DOMAIN; without it apps answer under /a/SLUG/.
    #[arg(long, env = "QALA_APPS_DOMAIN", value_name = "DOMAIN")]
    pub(crate) apps_domain: Option<String>,

    /// Let anybody sign in as anybody. Only on a loopback listener, where it is on unless a public URL is given.
    #[arg(long, env = "QALA_DEV_LOGIN", value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    pub(crate) dev_login: Option<bool>,

    /// 32 bytes in base64; several, newest first and separated by commas, for rotation.
    #[arg(long, env = "QALA_MASTER_KEY", hide_env_values = true, value_name = "KEYS")]
    pub(crate) master_key: Option<SecretString>,

    /// A file that holds what `--master-key` would be given.
    #[arg(long, env = "QALA_MASTER_KEY_FILE", value_name = "FILE", conflicts_with = "master_key")]
    pub(crate) master_key_file: Option<PathBuf>,

    /// A TOML file of the issuers people may sign in with (OpenID Connect).
    #[arg(long, env = "QALA_OIDC_CONFIG", value_name = "FILE")]
    pub(crate) oidc_config: Option<PathBuf>,
    /// The mail server: smtps://USER:PASSWORD@HOST, or smtp:// with STARTTLS; without one mail is printed to the log.
    #[arg(long, env = "QALA_SMTP_URL", hide_env_values = true, value_name = "URL")]
    pub(crate) smtp_url: Option<SecretString>,

    /// A file that holds what `--smtp-url` would be given.
    #[arg(long, env = "QALA_SMTP_URL_FILE", value_name = "FILE", conflicts_with = "smtp_url")]
    pub(crate) smtp_url_file: Option<PathBuf>,

    /// From whom mail comes, as in `Qala <qala@example.com>`; no-reply at the public URL's host when not said.
    #[arg(long, env = "QALA_MAIL_FROM", value_name = "MAILBOX")]
    pub(crate) mail_from: Option<String>,

    /// Networks whose X-Forwarded-For is believed.
    #[arg(long, env = "QALA_TRUSTED_PROXIES", value_delimiter = ',', value_name = "NETWORKS")]
    pub(crate) trusted_proxies: Vec<IpNet>,

    /// Where TXT records that prove domains are looked up; the system's servers when not said.
    #[arg(long, env = "QALA_DNS_SERVER", value_name = "ADDRESS")]
    pub(crate) dns_server: Option<SocketAddr>,

    /// How many runs go on at once.
    #[arg(long, env = "QALA_WORKERS", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=1000), value_name = "N")]
    pub(crate) workers: u16,

    /// Lift the limits of persons, addresses, projects and webhooks, for load tests. Only on a loopback listener.
    #[arg(long, env = "QALA_NO_RATE_LIMITS")]
    pub(crate) no_rate_limits: bool,

    /// Refuse to start, and to run app code, where a wall of the sandbox is missing; `qala doctor` names those that are.
    #[arg(long, env = "QALA_REQUIRE_SANDBOX")]
    pub(crate) require_sandbox: bool,

    /// Hosts of the operator's own network that apps may reach all the same, as HOST:PORT=NETWORK.
    #[arg(long, env = "QALA_ALLOWED_HOSTS", value_delimiter = ',', value_name = "HOSTS")]
    pub(crate) allowed_hosts: Vec<AllowedHost>,

    /// What new workspaces may use.
    #[arg(long, env = "QALA_DEFAULT_PLAN", default_value = "sovereign", value_name = "PLAN")]
    pub(crate) default_plan: workspace::Plan,

    /// Answer requests and accept calls, and start no run, schedule or mail until `qala admin resume`.
    #[arg(long, env = "QALA_PAUSED")]
    pub(crate) paused: bool,

    /// How the log is written; text on a terminal and JSON elsewhere when not said.
    #[arg(long, env = "QALA_LOG_FORMAT", value_name = "FORMAT")]
    pub(crate) log_format: Option<LogFormat>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// One object a line.
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
    /// Make somebody who has signed in before an owner of a workspace.
    MakeOwner {
        /// The workspace's id.
        workspace: kernel::id::WorkspaceId,
        /// The person's e-mail address.
        email: identity::Email,
    },
    /// Take all passkeys off somebody who lost theirs, and end their sessions.
    TakePasskeysOff {
        /// The person's e-mail address.
        email: identity::Email,
    },
    /// Start runs, schedules and mail again after `qala serve --paused`.
    Resume,
    /// Finish a rotation of the master key: seal every secret under the newest key, and say what rests on each.
    Rekey(RekeyArguments),
    /// Put a workspace on another plan.
    SetPlan {
        /// The workspace's id.
        workspace: kernel::id::WorkspaceId,
        /// free, maker, team, business or sovereign.
        plan: workspace::Plan,
    },
}

#[derive(Debug, Args)]
pub(crate) struct RekeyArguments {
    /// The keys, newest first, as `--master-key` of the server.
    #[arg(long, env = "QALA_MASTER_KEY", hide_env_values = true, value_name = "KEYS")]
    pub(crate) master_key: Option<SecretString>,

    /// A file that holds what `--master-key` would be given.
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
    /// Write a project's settings, tables, rules and rows to a file. Its keys are not among them.
    Export {
        /// The project's id.
        project: kernel::id::ProjectId,
        /// The file, which must not exist yet.
        file: PathBuf,
    },
    /// Make a new project of a file that `export` wrote, on either database.
    Import {
        /// The workspace the project is to be of.
        workspace: kernel::id::WorkspaceId,
        /// The e-mail address of a member, who counts as the project's maker.
        maker: identity::Email,
        /// The file.
        file: PathBuf,
    },
}
