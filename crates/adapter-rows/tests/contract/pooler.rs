//! The store behind a transaction pooler: `PgBouncer` runs transactions alternately in two sessions.

use std::{
    net::{TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    str::FromStr as _,
    sync::Arc,
    time::Duration,
};

use adapter_rows::{PgOptions, PgRows};
use backend_data::{Access, ColumnType, Format, NewColumn, NewTable, ReadOptions, WriteOptions};
use futures::future::join_all;
use sqlx::postgres::PgConnectOptions;

use crate::harness;

/// A pooler in front of the test database. Dropping it stops it.
struct Pooler {
    process: Child,
    url: String,
    _folder: tempfile::TempDir,
}

impl Drop for Pooler {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Pooler {
    async fn start() -> Self {
        let behind = PgConnectOptions::from_str(&harness::pg_options().url).unwrap();
        let (host, port, user) = (behind.get_host(), behind.get_port(), behind.get_username());
        let database = behind.get_database().unwrap_or(user);
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let settings = folder.path().join("pgbouncer.ini");
        let text = format!(
            "[databases]\npooled = host={host} port={port} dbname={database} user={user}\n[pgbouncer]\n\
             listen_addr = 127.0.0.1\nlisten_port = {}\nunix_socket_dir =\nauth_type = any\npool_mode = transaction\n\
             default_pool_size = 2\nserver_round_robin = 1\nignore_startup_parameters = extra_float_digits\n",
            free.port()
        );
        std::fs::write(&settings, text).unwrap();
        let mut command = Command::new("pgbouncer");
        // Debian installs it in a directory that is not in the PATH of users.
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{path}:/usr/sbin:/usr/local/sbin"));
        // PgBouncer refuses to run as root. It reads its configuration before it changes its user.
        let root = Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
        if root {
            command.args(["-u", "nobody"]);
        }
        let process = command.arg(&settings).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let process = process.expect("pgbouncer starts (Debian: the package pgbouncer)");
        let url = format!("postgres://{user}@{free}/pooled");
        let mut pooler = Self { process, url, _folder: folder };
        while TcpStream::connect(free).is_err() {
            assert!(pooler.process.try_wait().unwrap().is_none(), "pgbouncer has ended");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        pooler
    }
}

#[tokio::test]
async fn everything_works_behind_a_transaction_pooler() {
    let pooler = Pooler::start().await;
    let options = PgOptions { max_connections: 8, ..PgOptions::new(&pooler.url) };
    let world = harness::world(Arc::new(PgRows::connect(&options).await.unwrap()), None).await;
    let (engine, project, owner) = (&world.engine, &world.project, Access::Owner);
    let write = WriteOptions::default();
    let notes = NewTable::new("notes").with_column(NewColumn::new("title", ColumnType::Text));
    world.table(notes).await;
    let add = async |at: usize| world.insert("notes", &format!(r#"{{"id":"n{at}","title":"{at}"}}"#)).await;
    for added in join_all((0..40).map(add)).await {
        added.unwrap();
    }
    // Concurrently, so that both sessions run every statement; then again, when each would be prepared in one session.
    for _ in 0..3 {
        let get = async |at: usize| {
            let (id, query) = (format!("n{at}"), if at.is_multiple_of(2) { "select=title" } else { "" });
            engine.get(project, &owner, "notes", &id, query, Format::Json).await
        };
        for (at, row) in join_all((0..40).map(get)).await.into_iter().enumerate() {
            let row = String::from_utf8(row.unwrap().body.to_vec()).unwrap();
            assert!(row.contains(&format!(r#""title":"{at}""#)), "{row}");
        }
        let list = async |at: usize| world.list(&format!("title=eq.{at}&select=id")).await;
        for (at, rows) in join_all((0..20).map(list)).await.into_iter().enumerate() {
            assert_eq!(rows.unwrap(), format!(r#"[{{"id":"n{at}"}}]"#));
        }
    }
    let column = NewColumn::new("qty", ColumnType::Integer);
    engine.add_column(project, &owner, "notes", column).await.unwrap();
    let change = async |at: usize| {
        let body = format!(r#"{{"qty":{at}}}"#);
        engine.update_by_id(project, &owner, "notes", &format!("n{at}"), "", body.as_bytes(), &write).await
    };
    for changed in join_all((0..40).map(change)).await {
        changed.unwrap();
    }
    let options = ReadOptions::default();
    let sum = engine.list(project, &owner, "notes", "select=qty.sum()", &options).await.unwrap();
    assert_eq!(&sum.body[..], br#"[{"sum":780}]"#);
    engine.delete(project, &owner, "notes", "qty=gte.20", &write).await.unwrap();
    assert_eq!(world.list("select=count()").await.unwrap(), r#"[{"count":20}]"#);
    engine.drop_project(project).await.unwrap();
}
