//! The overview of a workspace of twenty and of 20,000 apps, beside other workspaces.

use ::apps::AppsRead as _;
use ::observability::HealthRead as _;
use kernel::{
    authority::{Sharing, Visibility},
    id::AppId,
    page::PageRequest,
};
use sea_orm::ConnectionTrait as _;

use super::{World, assert_found_by_index, now, open_recording};
use crate::{Store, group_commit::quarter_of};

/// Adds copies of the app, each of which was observed; of a tenth, runs were blocked. As many are in 500 other workspaces.
pub(super) async fn add_apps(store: &Store, count: u32) {
    let db = store.write().await.unwrap();
    let workspaces = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) \
         INSERT INTO workspaces (id, slug, name, profile, team_size, intents, locale, timezone, currency, hourly_cost_minor, plan, \
         revision, created_at) \
         SELECT unhex(printf('01900000000070009000%012x', i)), slug || '-' || i, name, profile, team_size, intents, locale, timezone, \
         currency, hourly_cost_minor, plan, revision, created_at FROM n CROSS JOIN workspaces WHERE slug = 'acme'";
    let others = format!(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count}) \
         INSERT INTO apps (id, workspace_id, slug, name, description, archetype, category, sharing, paused, in_review, \
         current_version_id, declares_webhook, declares_form, created_by, created_at, revision) \
         SELECT unhex(printf('01900000000070009000%012x', i)), unhex(printf('01900000000070009000%012x', i % 500 + 1)), \
         slug || '-of-others-' || i, name, description, archetype, category, sharing, paused, in_review, NULL, declares_webhook, \
         declares_form, created_by, created_at, 1 FROM n CROSS JOIN apps WHERE slug = 'invoices'"
    );
    let apps = format!(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count}) \
         INSERT INTO apps (id, workspace_id, slug, name, description, archetype, category, sharing, paused, in_review, \
         current_version_id, declares_webhook, declares_form, created_by, created_at, revision) \
         SELECT unhex(printf('01900000000070008000%012x', i)), workspace_id, slug || '-' || i, name, description, archetype, \
         category, sharing, paused, in_review, current_version_id, declares_webhook, declares_form, created_by, created_at, 1 \
         FROM n CROSS JOIN apps WHERE slug = 'invoices'"
    );
    let observed = "INSERT INTO app_observations (app_id, workspace_id, observed_at) SELECT id, workspace_id, created_at FROM apps";
    let blocked = format!(
        "INSERT INTO app_blocked_runs (workspace_id, app_id, quarter, runs) \
         SELECT workspace_id, id, {}, 3 FROM apps WHERE slug LIKE 'invoices-%7' AND slug NOT LIKE '%others%'",
        quarter_of(now())
    );
    for sql in [workspaces, apps.as_str(), &others, observed, &blocked, "ANALYZE"] {
        db.execute_unprepared(sql).await.unwrap();
    }
}

#[tokio::test]
async fn the_overview_is_found_by_indexes_whatever_the_number_of_apps() {
    for count in [20, 20_000] {
        let folder = tempfile::tempdir().unwrap();
        let world = World::new();
        {
            let (store, _) = open_recording(&folder).await;
            world.seed(&store).await;
            add_apps(&store, count).await;
        }
        // A connection reads statistics when it is opened.
        let (store, sent) = open_recording(&folder).await;
        sent.take();
        let shared = Visibility::Shared { user: Some(world.user), sharing_levels: &[Sharing::Team] };
        for visible in [Visibility::All, shared] {
            let health = store.workspace_health(world.workspace, visible, now()).await.unwrap();
            assert_eq!(health.noted.len() as u32, count / 10);
            assert_found_by_index(&store, &sent, "the health of a workspace", "apps_by_workspace").await;
            let page = PageRequest::first(200);
            let apps = store.apps(world.workspace, world.user, visible, page).await.unwrap();
            assert_found_by_index(&store, &sent, "the newest apps", "apps_by_workspace").await;
            let ids: Vec<AppId> = apps.iter().map(|(app, _)| app.id).collect();
            store.apps_by_id(world.workspace, &ids).await.unwrap();
            assert_found_by_index(&store, &sent, "apps by their ids", "apps_by_workspace").await;
        }
    }
}
