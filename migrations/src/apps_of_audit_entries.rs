//! The apps of audit entries from before the migration `m0075_audit_of_apps`.

use std::collections::HashMap;

use kernel::{
    Id,
    id::{Kind, kind},
};
use sea_orm::{
    ConnectionTrait, DatabaseTransaction, DbErr,
    prelude::Uuid,
    sea_query::{Expr, ExprTrait as _, Order, Query, SelectStatement},
};

use crate::migration::StepFuture;

/// Entries that are read at once.
const PAGE: u64 = 500;

/// Sets the app of the entries that are there already. What is deleted since then says no longer whose it was.
pub(crate) fn set(tx: &DatabaseTransaction) -> StepFuture<'_> {
    Box::pin(set_apps(tx))
}

async fn set_apps(db: &impl ConnectionTrait) -> Result<(), DbErr> {
    let mut after = Uuid::nil();
    loop {
        let page = Query::select()
            .columns(["id", "target"])
            .from("audit_log")
            .and_where(Expr::col("workspace_id").is_not_null())
            .and_where(Expr::col("target").is_not_null())
            .and_where(Expr::col("id").gt(after))
            .order_by("id", Order::Asc)
            .limit(PAGE)
            .to_owned();
        let mut entries: Vec<(Uuid, String)> = Vec::new();
        for row in db.query_all(&page).await? {
            entries.push((row.try_get_by_index(0)?, row.try_get_by_index(1)?));
        }
        let Some(last) = entries.last() else { return Ok(()) };
        after = last.0;
        let owners = Owners::read(db, &entries).await?;
        let mut by_app = HashMap::<Uuid, Vec<Uuid>>::new();
        for (entry, target) in &entries {
            if let Some(app) = owners.app_of(target) {
                by_app.entry(app).or_default().push(*entry);
            }
        }
        for (app, entries) in by_app {
            let update = Query::update()
                .table("audit_log")
                .value("app_id", app)
                .and_where(Expr::col("id").is_in(entries))
                .to_owned();
            db.execute(&update).await?;
        }
    }
}

/// The apps that objects belong to, by the ids of the objects.
struct Owners(HashMap<String, Uuid>);

impl Owners {
    /// Reads the apps of the objects of these entries.
    async fn read(db: &impl ConnectionTrait, entries: &[(Uuid, String)]) -> Result<Self, DbErr> {
        let mut owners = Self(HashMap::new());
        owners.add::<kind::Version>(db, entries, "app_versions").await?;
        owners.add::<kind::Change>(db, entries, "app_changes").await?;
        owners.add::<kind::Approval>(db, entries, "approvals").await?;
        owners.add::<kind::Import>(db, entries, "imports").await?;
        owners.add::<kind::Automation>(db, entries, "automations").await?;
        owners.add::<kind::AgentTool>(db, entries, "agent_tools").await?;
        owners.add::<kind::Run>(db, entries, "runs").await?;
        owners.add::<kind::DeadLetter>(db, entries, "dead_letters").await?;
        owners.add_webhooks(db, entries).await?;
        Ok(owners)
    }

    async fn add<K: Kind>(
        &mut self,
        db: &impl ConnectionTrait,
        entries: &[(Uuid, String)],
        table: &'static str,
    ) -> Result<(), DbErr> {
        let query = Query::select()
            .columns(["id", "app_id"])
            .from(table)
            .and_where(Expr::col("id").is_in(ids_of::<K>(entries)))
            .and_where(Expr::col("app_id").is_not_null())
            .to_owned();
        self.add_found::<K>(db, &query).await
    }

    async fn add_webhooks(
        &mut self,
        db: &impl ConnectionTrait,
        entries: &[(Uuid, String)],
    ) -> Result<(), DbErr> {
        let query = Query::select()
            .columns([("webhooks", "id"), ("automations", "app_id")])
            .from("webhooks")
            .inner_join("automations", Expr::col(("automations", "id")).equals(("webhooks", "automation_id")))
            .and_where(Expr::col(("webhooks", "id")).is_in(ids_of::<kind::Hook>(entries)))
            .to_owned();
        self.add_found::<kind::Hook>(db, &query).await
    }

    async fn add_found<K: Kind>(
        &mut self,
        db: &impl ConnectionTrait,
        query: &SelectStatement,
    ) -> Result<(), DbErr> {
        for row in db.query_all(query).await? {
            let id = Id::<K>::from_uuid(row.try_get_by_index(0)?);
            self.0.insert(id.to_string(), row.try_get_by_index(1)?);
        }
        Ok(())
    }

    fn app_of(&self, target: &str) -> Option<Uuid> {
        let app = target.parse::<Id<kind::App>>().ok().map(Id::uuid);
        app.or_else(|| self.0.get(target).copied())
    }
}

/// Returns the ids of one kind among the targets.
fn ids_of<K: Kind>(entries: &[(Uuid, String)]) -> Vec<Uuid> {
    entries.iter().filter_map(|(_, target)| target.parse::<Id<K>>().ok()).map(Id::uuid).collect()
}
