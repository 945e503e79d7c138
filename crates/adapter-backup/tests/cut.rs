//! Backups of databases that are written to without a pause.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected has failed")]

use std::{
    collections::BTreeMap,
    ops::ControlFlow,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use adapter_backup::{BackupError, BackupSources, back_up};
use rusqlite::Connection;

/// Number of projects; enough for their snapshots to be apart in time.
const PROJECTS: usize = 40;
/// Number of backups.
const BACKUPS: usize = 10;

fn open(path: &Path) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection.busy_timeout(std::time::Duration::from_secs(5)).unwrap();
    connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF").unwrap();
    connection
}

fn query_number(connection: &Connection, statement: &str) -> i64 {
    connection.query_row(statement, [], |row| row.get(0)).unwrap()
}

/// Creates an installation: runs write rows and are then recorded as ended, audit rows move from outboxes to the log.
fn installation(folder: &Path) -> (BackupSources, Connection, Vec<Connection>) {
    let rows = folder.join("rows");
    std::fs::create_dir_all(rows.join("0")).unwrap();
    let control_plane = folder.join("qala.db");
    let control = open(&control_plane);
    control
        .execute_batch(
            "CREATE TABLE backend_projects (shard INTEGER); INSERT INTO backend_projects VALUES (0); \
             CREATE TABLE ended (project INTEGER, run INTEGER); CREATE TABLE audit (project INTEGER, change INTEGER)",
        )
        .unwrap();
    let projects = (0..PROJECTS).map(|project| {
        let project = open(&rows.join("0").join(format!("{project:02}.sqlite3")));
        project
            .execute_batch("CREATE TABLE rows (run INTEGER); CREATE TABLE outbox (change INTEGER)")
            .unwrap();
        project
    });
    let projects = projects.collect();
    (
        BackupSources { control_plane, rows: BTreeMap::from([(0, rows)]), external_shards: Vec::new() },
        control,
        projects,
    )
}

#[test]
fn control_plane_and_rows_are_consistent() {
    let folder = tempfile::tempdir().unwrap();
    let (sources, control, projects) = installation(folder.path());
    let stop = &AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(move || {
            for run in 0.. {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                for (number, project) in projects.iter().enumerate() {
                    let write = |connection: &Connection, statement: &str| {
                        connection.execute(statement, [run]).unwrap();
                    };
                    project.execute_batch("BEGIN IMMEDIATE").unwrap();
                    write(project, "INSERT INTO rows VALUES (?1)");
                    write(project, "INSERT INTO outbox VALUES (?1)");
                    project.execute_batch("COMMIT").unwrap();
                    control.execute_batch("BEGIN IMMEDIATE").unwrap();
                    write(&control, &format!("INSERT INTO ended VALUES ({number}, ?1)"));
                    write(&control, &format!("INSERT INTO audit VALUES ({number}, ?1)"));
                    control.execute_batch("COMMIT").unwrap();
                    write(project, "DELETE FROM outbox WHERE change = ?1");
                }
            }
        });
        let _stops = StopOnDrop(stop);
        for number in 0..BACKUPS {
            let backup = folder.path().join(format!("backup-{number}"));
            back_up(&sources, &backup, |_| ControlFlow::Continue(())).unwrap();
            assert_consistent(&backup);
        }
    });
}

/// Stops the writer, also if a check fails.
struct StopOnDrop<'s>(&'s AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Every ended run has its row; the audit row of every row is in the log or in the outbox.
fn assert_consistent(backup: &Path) {
    let control = Connection::open(backup.join("qala.db")).unwrap();
    for project in 0..PROJECTS {
        let path = backup.join(format!("rows/0/{project:02}.sqlite3"));
        control.execute("ATTACH ?1 AS project", [path.to_str().unwrap()]).unwrap();
        let without_row = format!(
            "SELECT count(*) FROM ended WHERE project = {project} AND run NOT IN (SELECT run FROM project.rows)"
        );
        assert_eq!(query_number(&control, &without_row), 0, "runs that ended without their rows");
        let unaudited = format!(
            "SELECT count(*) FROM project.rows WHERE run NOT IN (SELECT change FROM project.outbox) AND run NOT IN \
             (SELECT change FROM audit WHERE project = {project})"
        );
        assert_eq!(query_number(&control, &unaudited), 0, "changes without an audit row");
        control.execute_batch("DETACH project").unwrap();
    }
}

#[test]
fn a_stopped_backup_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (sources, ..) = installation(folder.path());
    let (new, empty) = (folder.path().join("new"), folder.path().join("empty"));
    std::fs::create_dir(&empty).unwrap();
    for directory in [&new, &empty] {
        let mut reports = 0;
        let stopped = back_up(&sources, directory, |_| {
            reports += 1;
            if reports > 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert!(matches!(stopped, Err(BackupError::Stopped)), "{stopped:?}");
    }
    assert!(!new.exists());
    assert_eq!(std::fs::read_dir(&empty).unwrap().count(), 0);
}

#[test]
fn a_shard_that_is_not_named_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let (mut sources, control, _) = installation(folder.path());
    control.execute("INSERT INTO backend_projects VALUES (3)", []).unwrap();
    let target = folder.path().join("backup");
    let refused = back_up(&sources, &target, |_| ControlFlow::Continue(()));
    assert!(matches!(refused, Err(BackupError::UnknownShard(3))), "{refused:?}");
    assert!(!target.exists());
    let third = folder.path().join("third");
    std::fs::create_dir_all(third.join("3")).unwrap();
    open(&third.join("3/a.sqlite3")).execute_batch("CREATE TABLE rows (run INTEGER)").unwrap();
    sources.rows.insert(3, third);
    let made = back_up(&sources, &target, |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(made.files, PROJECTS + 2);
    assert!(target.join("rows-3/3/a.sqlite3").is_file());
}
