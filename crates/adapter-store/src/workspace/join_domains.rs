//! Join domains.

use ::workspace::join_domains::{
    Domain, DomainState, JoinDomain, JoinDomainsRead, JoinDomainsTx, JoinSuggestion,
};
use async_trait::async_trait;
use kernel::{
    Id, StoreError, Timestamp,
    id::{UserId, WorkspaceId},
};

use crate::{
    Store, StoreTx,
    convert::{RowContext, millis},
    sql::{Sql, SqlExecutor, SqlRow, column},
};

const SELECT_JOIN_DOMAINS: &str = "SELECT workspace_id, domain, proof, auto_join, role, created_at, verified_at, recheck_at, \
                       misses FROM join_domains WHERE ";

fn join_domain(found: &SqlRow) -> Result<JoinDomain, StoreError> {
    let row = RowContext { table: "join_domains", id: column(found, 0)? };
    let moments = (row.optional_timestamp(column(found, 6)?)?, row.optional_timestamp(column(found, 7)?)?);
    let state = match moments {
        (None, None) => DomainState::Pending,
        (Some(at), Some(recheck_at)) => {
            DomainState::Verified { at, recheck_at, misses: row.number(column(found, 8)?)? }
        }
        _ => return Err(row.error("it is verified by half")),
    };
    Ok(JoinDomain {
        workspace: Id::from_uuid(row.id),
        domain: row.parse(&column::<String>(found, 1)?)?,
        verification_record: column(found, 2)?,
        auto_join: column(found, 3)?,
        role: row.parse(&column::<String>(found, 4)?)?,
        created_at: row.timestamp(column(found, 5)?)?,
        state,
    })
}

async fn find_by_workspace<D: SqlExecutor>(
    db: &D,
    workspace: WorkspaceId,
) -> Result<Option<JoinDomain>, StoreError> {
    let mut sql = Sql::new(SELECT_JOIN_DOMAINS);
    sql.push("workspace_id = ").bind(workspace.uuid());
    sql.fetch_optional(db).await?.as_ref().map(join_domain).transpose()
}

#[async_trait]
impl JoinDomainsRead for Store {
    async fn join_domain(&self, workspace: WorkspaceId) -> Result<Option<JoinDomain>, StoreError> {
        find_by_workspace(self.read(), workspace).await
    }

    async fn join_suggestion(
        &self,
        domain: &Domain,
        user: UserId,
        now: Timestamp,
    ) -> Result<Option<JoinSuggestion>, StoreError> {
        let mut sql = Sql::new(
            "SELECT w.id, w.name, d.role, (SELECT count(*) FROM members other WHERE other.workspace_id = w.id AND \
             (other.access_ends_at IS NULL OR other.access_ends_at > ",
        );
        sql.bind(millis(now)).push(
            ")) FROM join_domains d JOIN workspaces w ON w.id = d.workspace_id \
             WHERE d.verified_at IS NOT NULL AND d.domain = ",
        );
        sql.bind(domain.as_str());
        sql.push(" AND NOT EXISTS (SELECT 1 FROM members m WHERE m.workspace_id = w.id AND m.user_id = ");
        sql.bind(user.uuid());
        sql.push(") AND NOT EXISTS (SELECT 1 FROM departures g WHERE g.workspace_id = w.id AND g.user_id = ");
        sql.bind(user.uuid()).push(" AND g.kind = 'removed')");
        let found = sql.fetch_optional(self.read()).await?;
        found
            .map(|found| {
                let row = RowContext { table: "join_domains", id: column(&found, 0)? };
                Ok(JoinSuggestion {
                    workspace: Id::from_uuid(row.id),
                    name: column(&found, 1)?,
                    role: row.parse(&column::<String>(&found, 2)?)?,
                    member_count: row.number(column(&found, 3)?)?,
                })
            })
            .transpose()
    }

    async fn due_join_domains(&self, now: Timestamp, limit: u32) -> Result<Vec<JoinDomain>, StoreError> {
        let mut sql = Sql::new(SELECT_JOIN_DOMAINS);
        sql.push("verified_at IS NOT NULL AND recheck_at <= ").bind(millis(now));
        sql.push(" ORDER BY recheck_at LIMIT ").bind(i64::from(limit));
        sql.fetch_all(self.read()).await?.iter().map(join_domain).collect()
    }
}

#[async_trait]
impl JoinDomainsTx for StoreTx {
    async fn join_domain_of(&mut self, workspace: WorkspaceId) -> Result<Option<JoinDomain>, StoreError> {
        find_by_workspace(self.read(), workspace).await
    }

    async fn verified_join_domain(&mut self, domain: &Domain) -> Result<Option<JoinDomain>, StoreError> {
        let mut sql = Sql::new(SELECT_JOIN_DOMAINS);
        sql.push("verified_at IS NOT NULL AND domain = ").bind(domain.as_str());
        sql.fetch_optional(self.read()).await?.as_ref().map(join_domain).transpose()
    }

    async fn upsert_join_domain(&mut self, domain: &JoinDomain) -> Result<(), StoreError> {
        let (verified_at, recheck_at, misses) = match domain.state {
            DomainState::Pending => (None, None, 0),
            DomainState::Verified { at, recheck_at, misses } => {
                (Some(millis(at)), Some(millis(recheck_at)), misses)
            }
        };
        let mut sql = Sql::new(
            "INSERT INTO join_domains (workspace_id, domain, proof, auto_join, role, created_at, verified_at, \
             recheck_at, misses) VALUES (",
        );
        sql.bind(domain.workspace.uuid()).push(", ").bind(domain.domain.as_str()).push(", ");
        sql.bind(domain.verification_record.as_str()).push(", ").bind(domain.auto_join).push(", ");
        sql.bind(domain.role.role().as_str()).push(", ").bind(millis(domain.created_at)).push(", ");
        sql.bind(verified_at).push(", ").bind(recheck_at).push(", ").bind(i64::from(misses)).push(
            ") ON CONFLICT (workspace_id) DO UPDATE SET domain = excluded.domain, proof = excluded.proof, \
             auto_join = excluded.auto_join, role = excluded.role, created_at = excluded.created_at, \
             verified_at = excluded.verified_at, recheck_at = excluded.recheck_at, misses = excluded.misses",
        );
        sql.execute(self.write()).await.map(drop)
    }

    async fn delete_join_domain(&mut self, workspace: WorkspaceId) -> Result<bool, StoreError> {
        let mut sql = Sql::new("DELETE FROM join_domains WHERE workspace_id = ");
        sql.bind(workspace.uuid());
        let deleted = sql.execute(self.read()).await? > 0;
        if deleted {
            self.write();
        }
        Ok(deleted)
    }
}
