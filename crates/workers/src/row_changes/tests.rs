use kernel::{
    clock::ManualClock,
    testing::{at, id},
};

use super::*;

/// Records reports with the time since the start of the test.
struct RecordingStore {
    started: Instant,
    reported: Mutex<Vec<(Duration, Vec<String>)>>,
    lookups: Mutex<usize>,
    fails: Mutex<bool>,
}

#[async_trait]
impl RowChangeStore for RecordingStore {
    async fn workspace_of(&self, project: ProjectId) -> Result<Option<WorkspaceId>, StoreError> {
        *self.lookups.lock().unwrap() += 1;
        Ok((project == id(1)).then_some(id(9)))
    }

    async fn publish(&self, events: Vec<Event>) -> Result<(), StoreError> {
        if std::mem::take(&mut *self.fails.lock().unwrap()) {
            return Err(StoreError::Unavailable("away".into()));
        }
        let tables = events.into_iter().map(|event| {
            assert_eq!((event.workspace, event.audience), (id(9), Audience::Members(Role::Member)));
            let EventKind::Changed(change) = event.kind else { panic!("{:?}", event.kind) };
            assert_eq!((change.kind, change.project, change.by), (ChangedKind::Rows, Some(id(1)), None));
            change.table.unwrap()
        });
        let mut tables: Vec<String> = tables.collect();
        tables.sort();
        self.reported.lock().unwrap().push((self.started.elapsed(), tables));
        Ok(())
    }
}

struct Fixture {
    changes: Arc<RowChanges>,
    store: Arc<RecordingStore>,
    stop: CancellationToken,
    loop_end: tokio::task::JoinHandle<()>,
}

impl Fixture {
    fn start() -> Self {
        let changes = Arc::new(RowChanges::default());
        let store = Arc::new(RecordingStore {
            started: Instant::now(),
            reported: Mutex::default(),
            lookups: Mutex::default(),
            fails: Mutex::default(),
        });
        let clock = Arc::new(ManualClock::new(at(0)));
        let reporter = RowChangeReporter::new(Arc::clone(&changes), Arc::clone(&store) as _, clock);
        let stop = CancellationToken::new();
        let loop_end = tokio::spawn(reporter.run(stop.clone()));
        Self { changes, store, stop, loop_end }
    }

    fn write(&self, project: u128, table: &str) {
        let project = id::<kernel::id::kind::Project>(project).to_string();
        self.changes.rows_written(&ProjectRef::new(project.parse().unwrap(), 0), table);
    }

    fn take_reports(&self) -> Vec<(u64, Vec<String>)> {
        let reports = std::mem::take(&mut *self.store.reported.lock().unwrap());
        reports.into_iter().map(|(after, tables)| (after.as_millis() as u64, tables)).collect()
    }
}

fn tables(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[tokio::test(start_paused = true)]
async fn the_first_write_is_reported_at_once_and_later_ones_at_the_end_of_the_second() {
    let fixture = Fixture::start();
    for _ in 0..3 {
        fixture.write(1, "notes");
    }
    sleep(Duration::from_millis(500)).await;
    fixture.write(1, "notes");
    fixture.write(1, "orders");
    sleep(Duration::from_millis(1_000)).await;
    let expected = [(10, tables(&["notes"])), (510, tables(&["orders"])), (1_010, tables(&["notes"]))];
    assert_eq!(fixture.take_reports(), expected);
    assert_eq!(*fixture.store.lookups.lock().unwrap(), 2, "a table's workspace is looked up once");

    // Nothing was written since, so nothing is reported, and nothing is kept.
    sleep(Duration::from_secs(5)).await;
    assert_eq!(fixture.take_reports(), []);
    let marked = fixture.changes.lock();
    assert!(marked.by_project.is_empty());
    assert_eq!(marked.count, 0);
}

#[tokio::test(start_paused = true)]
async fn a_busy_table_is_reported_once_a_second() {
    let fixture = Fixture::start();
    for _ in 0..350 {
        fixture.write(1, "notes");
        sleep(Duration::from_millis(10)).await;
    }
    let times: Vec<u64> = fixture.take_reports().into_iter().map(|(after, _)| after).collect();
    assert_eq!(times, [10, 1_010, 2_010, 3_010]);
}

#[tokio::test(start_paused = true)]
async fn the_end_reports_what_is_left() {
    let fixture = Fixture::start();
    fixture.write(1, "notes");
    sleep(Duration::from_millis(100)).await;
    fixture.write(1, "notes");
    fixture.write(1, "orders");
    fixture.stop.cancel();
    fixture.loop_end.await.unwrap();
    let reports: Vec<_> = std::mem::take(&mut *fixture.store.reported.lock().unwrap())
        .into_iter()
        .map(|(_, tables)| tables)
        .collect();
    assert_eq!(reports, [tables(&["notes"]), tables(&["notes", "orders"])]);
}

#[tokio::test(start_paused = true)]
async fn a_report_that_fails_is_tried_again() {
    let fixture = Fixture::start();
    *fixture.store.fails.lock().unwrap() = true;
    fixture.write(1, "notes");
    sleep(Duration::from_secs(2)).await;
    assert_eq!(fixture.take_reports(), [(1_010, tables(&["notes"]))]);
}

#[tokio::test(start_paused = true)]
async fn rows_of_an_unknown_project_are_not_reported() {
    let fixture = Fixture::start();
    fixture.write(2, "notes");
    sleep(Duration::from_millis(100)).await;
    assert_eq!(*fixture.store.lookups.lock().unwrap(), 1);
    assert_eq!(fixture.take_reports(), []);
}

#[tokio::test(start_paused = true)]
async fn so_many_tables_are_followed_and_no_more() {
    let changes = RowChanges::default();
    let project = ProjectRef::new("shop".parse().unwrap(), 0);
    for number in 0..=MAX_TABLES {
        changes.rows_written(&project, &format!("table_{number}"));
    }
    assert_eq!(changes.lock().count, MAX_TABLES);
    assert_eq!(changes.take_written(Instant::now(), false).len(), MAX_TABLES);
    // They make room a second later.
    tokio::time::advance(REPORT_INTERVAL).await;
    assert!(changes.take_written(Instant::now(), false).is_empty());
    changes.rows_written(&project, "notes");
    assert_eq!(changes.lock().count, 1);
}
