//! Reads that explain a run.

use ::runs::{Run, RunStatus, RunsRead as _, diagnosis::DiagnosisRead};
use async_trait::async_trait;
use kernel::{StoreError, id::kind};
use sea_orm::{
    ColumnTrait as _, EntityTrait as _, FromQueryResult, Order, QueryFilter as _, QueryOrder as _,
    QuerySelect as _, QueryTrait as _,
    sea_query::{Expr, ExprTrait as _, Query},
};

use crate::{
    entity::{
        column::{DbId, DbText},
        runs,
    },
    query,
    store::Store,
};

/// Runs of the app before this one that are looked through; at most. Without a bound, an app that never succeeded would
/// have all of its history read.
const LOOK_BACK: u64 = 2000;

/// An earlier run.
#[derive(FromQueryResult)]
struct EarlierRow {
    id: DbId<kind::Run>,
}

#[span_macros::traced]
#[async_trait]
impl DiagnosisRead for Store {
    async fn last_good(&self, run: &Run) -> Result<Option<Run>, StoreError> {
        use runs::Column;
        let earlier = runs::Entity::find()
            .filter(Column::AppId.eq(DbId(run.app)))
            .filter(Column::Id.lt(DbId(run.id)))
            .order_by_desc(Column::Id)
            .limit(LOOK_BACK)
            .select_only()
            .columns([Column::Id, Column::WorkspaceId, Column::AutomationId, Column::Status])
            .into_query();
        let automation = Expr::col(Column::AutomationId);
        let last_good = Query::select()
            .column(Column::Id)
            .from_subquery(earlier, "earlier")
            .and_where(Expr::col(Column::Status).eq(DbText(RunStatus::Succeeded)))
            .and_where(Expr::col(Column::WorkspaceId).eq(DbId(run.workspace)))
            .and_where(match run.automation {
                Some(id) => automation.eq(DbId(id)),
                None => automation.is_null(),
            })
            .order_by(Column::Id, Order::Desc)
            .limit(1)
            .to_owned();
        match query::fetch_one::<EarlierRow>(&last_good, self.read()).await? {
            Some(found) => self.run(run.workspace, found.id.0).await,
            None => Ok(None),
        }
    }
}
