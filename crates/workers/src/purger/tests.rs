use std::sync::{Mutex, MutexGuard};

use kernel::Id;
use uuid::Uuid;

use super::*;

fn id<K>(number: u128) -> Id<K> {
    Id::from_uuid(Uuid::from_u128(number))
}

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

#[derive(Default)]
struct State {
    /// Deleted workspaces and when, and the ids of those whose purge began.
    workspaces: Vec<(WorkspaceId, Timestamp)>,
    purging: HashSet<WorkspaceId>,
    /// Projects with the time of their own deletion.
    projects: Vec<(PurgedProject, Option<Timestamp>)>,
    /// Deletions, in order.
    steps: Vec<String>,
    /// Projects whose rows cannot be deleted.
    locked_rows: Vec<String>,
}

#[derive(Default, Clone)]
struct FakeStore(Arc<Mutex<State>>);

impl FakeStore {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }
}

#[async_trait]
impl WorkspacePurge for FakeStore {
    async fn begin_workspace_purges(
        &self,
        deleted_before: Timestamp,
        _: Timestamp,
        limit: u32,
    ) -> Result<Vec<WorkspaceId>, StoreError> {
        let mut state = self.state();
        let due: Vec<_> = state.workspaces.iter().filter(|(_, at)| *at <= deleted_before).collect();
        let due: Vec<_> = due.into_iter().map(|(id, _)| *id).take(limit as usize).collect();
        state.purging.extend(&due);
        Ok(due)
    }

    async fn purge_workspace(&self, workspace: WorkspaceId) -> Result<bool, StoreError> {
        let mut state = self.state();
        assert!(state.projects.iter().all(|(project, _)| project.workspace != workspace), "it has projects");
        state.steps.push(format!("workspace {}", workspace.uuid().as_u128()));
        state.workspaces.retain(|(known, _)| *known != workspace);
        Ok(true)
    }
}

#[async_trait]
impl ProjectPurge for FakeStore {
    async fn begin_project_purges(
        &self,
        deleted_before: Timestamp,
        _: Timestamp,
        after: Option<ProjectId>,
        limit: u32,
    ) -> Result<Vec<PurgedProject>, StoreError> {
        let state = self.state();
        let is_due = |project: &PurgedProject, at: &Option<Timestamp>| {
            at.is_some_and(|at| at <= deleted_before) || state.purging.contains(&project.workspace)
        };
        let due = state.projects.iter().filter(|(project, at)| {
            is_due(project, at) && after.is_none_or(|after| project.project.uuid() > after.uuid())
        });
        Ok(due.map(|(project, _)| *project).take(limit as usize).collect())
    }

    async fn purge_project(&self, project: ProjectId) -> Result<bool, StoreError> {
        let mut state = self.state();
        state.steps.push(format!("project {}", project.uuid().as_u128()));
        state.projects.retain(|(known, _)| known.project != project);
        Ok(true)
    }
}

struct FakeRows(FakeStore);

#[async_trait]
impl RowPurge for FakeRows {
    async fn drop_project(&self, project: &ProjectRef) -> backend_data::Result<()> {
        let mut state = self.0.state();
        if state.locked_rows.contains(&project.id.to_string()) {
            return Err(backend_data::store::StoreError::Unavailable("locked".into()).into());
        }
        let number =
            state.projects.iter().find(|(known, _)| known.project.to_string() == project.id.as_str());
        let number = number.map(|(known, _)| known.project.uuid().as_u128());
        state.steps.push(format!("rows {} of shard {}", number.unwrap_or_default(), project.shard));
        Ok(())
    }
}

fn project(number: u128, workspace: u128, deleted_at: Option<&str>) -> (PurgedProject, Option<Timestamp>) {
    let project = PurgedProject { project: id(number), workspace: id(workspace), shard: 2 };
    (project, deleted_at.map(time))
}

async fn purge_at(store: &FakeStore, now: &str) {
    let rows = Arc::new(FakeRows(store.clone()));
    Purger::new(store.clone(), rows, Arc::new(time(now))).purge_due().await.unwrap();
}

#[tokio::test]
async fn what_was_deleted_a_week_ago_is_purged_rows_first_and_workspaces_last() {
    let store = FakeStore::default();
    store.state().workspaces = vec![(id(1), time("2026-11-01T00:00:00Z"))];
    store.state().projects = vec![
        project(10, 1, None),
        project(11, 2, Some("2026-11-01T00:00:00Z")),
        project(12, 2, Some("2026-11-01T00:00:01Z")),
        project(13, 2, None),
    ];
    purge_at(&store, "2026-11-07T23:59:59Z").await;
    assert!(store.state().steps.is_empty(), "it can still be restored: {:?}", store.state().steps);
    purge_at(&store, "2026-11-08T00:00:00Z").await;
    let steps = ["rows 10 of shard 2", "project 10", "rows 11 of shard 2", "project 11", "workspace 1"];
    assert_eq!(store.state().steps, steps);
    assert_eq!(store.state().projects.len(), 2);
    purge_at(&store, "2026-11-08T00:00:00Z").await;
    assert_eq!(store.state().steps.len(), steps.len(), "nothing is left to do");
}

#[tokio::test]
async fn a_workspace_waits_for_rows_that_cannot_be_deleted_and_others_do_not() {
    let store = FakeStore::default();
    let deleted = || time("2026-11-01T00:00:00Z");
    store.state().workspaces = vec![(id(1), deleted()), (id(2), deleted())];
    store.state().projects = (10..210).map(|number| project(number, number % 2 + 1, None)).collect();
    store.state().locked_rows = vec![id::<kernel::id::kind::Project>(11).to_string()];
    purge_at(&store, "2026-11-09T00:00:00Z").await;
    assert_eq!(store.state().projects, [project(11, 2, None)]);
    assert_eq!(store.state().workspaces, [(id(2), deleted())]);
    store.state().locked_rows.clear();
    purge_at(&store, "2026-11-09T00:01:00Z").await;
    assert!(store.state().projects.is_empty() && store.state().workspaces.is_empty());
}
