//! Changes of cached callers, as rows that tell the other nodes.

use std::time::Duration;

use ::caller_cache::{ChangeSource, RecordedChange};
use kernel::{
    Id, StoreError,
    id::{AppId, GrantId, SessionId, TokenId, UserId, WorkspaceId},
};
use sea_orm::{
    ConnectionTrait as _, DatabaseConnection, DatabaseTransaction, DbBackend, DerivePartialModel,
    EntityTrait as _, QueryFilter as _,
    sea_query::{Expr, ExprTrait as _, Query},
};
use uuid::Uuid;

use crate::{entity::caller_changes, error::OrStoreError as _, sql::statement_chunks};

/// Milliseconds that a poll goes back; half of it is longer than a transaction takes from its first write to its commit.
const LOOKBACK_MS: i64 = 60_000;

/// Something about callers, or an app, that was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum CallerChange {
    Session(SessionId),
    Token(TokenId),
    Member(WorkspaceId, UserId),
    User(UserId),
    Workspace(WorkspaceId),
    /// An access token of an agent.
    AgentToken(TokenId),
    Grant(GrantId),
    App(AppId),
}

impl CallerChange {
    fn to_columns(self) -> (i16, Uuid, Option<Uuid>) {
        match self {
            Self::Session(id) => (1, id.uuid(), None),
            Self::Token(id) => (2, id.uuid(), None),
            Self::Member(workspace, user) => (3, workspace.uuid(), Some(user.uuid())),
            Self::User(id) => (4, id.uuid(), None),
            Self::Workspace(id) => (5, id.uuid(), None),
            Self::AgentToken(id) => (6, id.uuid(), None),
            Self::Grant(id) => (7, id.uuid(), None),
            Self::App(id) => (8, id.uuid(), None),
        }
    }

    /// Returns the change of a row, as [`Self::from_columns`] does.
    fn from_row(row: &ChangeRow) -> Option<Self> {
        Self::from_columns(row.kind, row.subject, row.beside)
    }

    /// Returns the change of a row; none for a kind that only a newer version knows.
    fn from_columns(kind: i16, subject: Uuid, beside: Option<Uuid>) -> Option<Self> {
        Some(match (kind, beside) {
            (1, _) => Self::Session(Id::from_uuid(subject)),
            (2, _) => Self::Token(Id::from_uuid(subject)),
            (3, Some(user)) => Self::Member(Id::from_uuid(subject), Id::from_uuid(user)),
            (4, _) => Self::User(Id::from_uuid(subject)),
            (5, _) => Self::Workspace(Id::from_uuid(subject)),
            (6, _) => Self::AgentToken(Id::from_uuid(subject)),
            (7, _) => Self::Grant(Id::from_uuid(subject)),
            (8, _) => Self::App(Id::from_uuid(subject)),
            _ => return None,
        })
    }
}

/// A change that some node wrote. Its time is not read.
#[derive(Debug, DerivePartialModel)]
#[sea_orm(entity = "caller_changes::Entity")]
struct ChangeRow {
    id: i64,
    kind: i16,
    subject: Uuid,
    beside: Option<Uuid>,
}

/// The changes that every node of a database has recorded.
pub(crate) struct ChangeTable(pub(crate) DatabaseConnection);

impl ChangeSource for ChangeTable {
    type Change = CallerChange;
    type Error = StoreError;

    const LOOKBACK: Duration = Duration::from_millis(LOOKBACK_MS as u64);

    async fn recent_changes(&self) -> Result<Vec<RecordedChange<CallerChange>>, StoreError> {
        let begin = database_now_ms(self.0.get_database_backend()).sub(LOOKBACK_MS);
        let rows = caller_changes::Entity::find()
            .filter(Expr::col(caller_changes::Column::At).gt(begin))
            .into_partial_model::<ChangeRow>()
            .all(&self.0)
            .await
            .or_store_error()?;
        Ok(rows
            .into_iter()
            .map(|row| RecordedChange { id: row.id, change: CallerChange::from_row(&row) })
            .collect())
    }
}

/// Deletes rows that every node has seen, or was away too long to trust its cache.
pub(crate) async fn delete_old_changes(db: &DatabaseConnection) -> Result<(), StoreError> {
    let before = database_now_ms(db.get_database_backend()).sub(2 * LOOKBACK_MS);
    caller_changes::Entity::delete_many()
        .filter(Expr::col(caller_changes::Column::At).lt(before))
        .exec(db)
        .await
        .or_store_error()?;
    Ok(())
}

/// Inserts changes, for the other nodes to poll.
pub(crate) async fn insert_changes(
    tx: &DatabaseTransaction,
    changes: &[CallerChange],
) -> Result<(), StoreError> {
    use caller_changes::Column;
    for changes in statement_chunks(changes) {
        let mut insert = Query::insert();
        insert.into_table(caller_changes::Entity).columns([
            Column::At,
            Column::Kind,
            Column::Subject,
            Column::Beside,
        ]);
        for change in changes {
            let (kind, subject, beside) = change.to_columns();
            let now = database_now_ms(tx.get_database_backend());
            insert
                .values([now, Expr::val(kind), Expr::val(subject), Expr::val(beside)])
                .map_err(|error| StoreError::Failed(error.into()))?;
        }
        tx.execute(&insert).await.or_store_error()?;
    }
    Ok(())
}

/// The database's own time in milliseconds, by which nodes whose clocks differ agree.
fn database_now_ms(backend: DbBackend) -> Expr {
    Expr::cust(if backend == DbBackend::Postgres {
        "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
    } else {
        "CAST(unixepoch('subsec') * 1000 AS INTEGER)"
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id<K>(number: u128) -> Id<K> {
        Id::from_uuid(Uuid::from_u128(number))
    }

    #[test]
    fn changes_survive_their_columns() {
        let changes = [
            CallerChange::Session(id(1)),
            CallerChange::Token(id(2)),
            CallerChange::Member(id(3), id(4)),
            CallerChange::User(id(5)),
            CallerChange::Workspace(id(6)),
            CallerChange::AgentToken(id(7)),
            CallerChange::Grant(id(8)),
            CallerChange::App(id(9)),
        ];
        for change in changes {
            let (kind, subject, beside) = change.to_columns();
            assert_eq!(CallerChange::from_columns(kind, subject, beside), Some(change));
        }
        assert_eq!(CallerChange::from_columns(99, Uuid::nil(), None), None);
    }
}
