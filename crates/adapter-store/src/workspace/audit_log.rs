//! The audit log, as it is read.

use std::collections::BTreeMap;

use ::workspace::audit_log::{ActorFilter, AuditFilter, AuditRead, AuditRecord, AuditedObject};
use async_trait::async_trait;
use kernel::{Actor, StoreError, actor::AGENT_PATTERN, id::WorkspaceId, page::PageRequest};
use sea_orm::{
    ColumnTrait as _, EntityTrait as _, QueryFilter as _, QueryOrder as _, QuerySelect as _, QueryTrait as _,
    sea_query::ExprTrait as _,
};

use super::audited_objects;
use crate::{
    convert::RowContext,
    entity::{
        audit_log,
        column::{DbId, DbTime},
    },
    error::OrStoreError as _,
    store::Store,
};

fn record(model: audit_log::Model) -> Result<AuditRecord, StoreError> {
    let row = RowContext::new("audit_log", model.id);
    Ok(AuditRecord {
        id: model.id.0,
        at: model.at.0,
        actor: row.parse(&model.actor)?,
        action: model.action,
        target: model.target,
        request: model.request_id.0,
        address: model.address,
        detail: model.detail.map(|text| row.json(&text)).transpose()?,
    })
}

#[span_macros::traced]
#[async_trait]
impl AuditRead for Store {
    async fn audit_records(
        &self,
        workspace: WorkspaceId,
        filter: &AuditFilter,
        page: PageRequest,
    ) -> Result<Vec<AuditRecord>, StoreError> {
        use audit_log::Column;
        let found = audit_log::Entity::find()
            .filter(Column::WorkspaceId.eq(DbId(workspace)))
            .apply_if(filter.action.as_deref(), |query, action| query.filter(Column::Action.eq(action)))
            .apply_if(filter.actor, |query, actor| {
                // The underscore of an id stands for itself too.
                query.filter(match actor {
                    ActorFilter::Person(person) => {
                        let own = Column::Actor.eq(Actor::Person(person).to_string());
                        own.or(Column::Actor.like(format!("{}%", Actor::delegate_prefix(person))))
                    }
                    ActorFilter::Agents => Column::Actor.like(AGENT_PATTERN),
                    ActorFilter::Grant(grant) => Column::Actor.like(format!("%{grant}")),
                })
            })
            .apply_if(filter.app, |query, app| query.filter(Column::AppId.eq(DbId(app))))
            .apply_if(filter.target.as_deref(), |query, target| query.filter(Column::Target.eq(target)))
            .apply_if(filter.from, |query, from| query.filter(Column::At.gte(DbTime(from))))
            .apply_if(filter.to, |query, to| query.filter(Column::At.lt(DbTime(to))))
            .apply_if(page.after, |query, after| query.filter(Column::Id.lt(after)))
            .order_by_desc(Column::Id)
            .limit(u64::from(page.limit) + 1)
            .all(self.read())
            .await
            .or_store_error()?;
        found.into_iter().map(record).collect()
    }

    async fn audit_actions(&self, workspace: WorkspaceId) -> Result<Vec<String>, StoreError> {
        use audit_log::Column;
        audit_log::Entity::find()
            .filter(Column::WorkspaceId.eq(DbId(workspace)))
            .select_only()
            .column(Column::Action)
            .distinct()
            .order_by_asc(Column::Action)
            .into_tuple()
            .all(self.read())
            .await
            .or_store_error()
    }

    async fn audited_objects(
        &self,
        workspace: WorkspaceId,
        targets: &[&str],
    ) -> Result<BTreeMap<String, AuditedObject>, StoreError> {
        audited_objects::read(self, workspace, targets).await
    }
}

#[cfg(test)]
mod tests {
    use kernel::{Id, Timestamp};

    use super::*;

    fn by(actor: &str) -> Result<AuditRecord, StoreError> {
        record(audit_log::Model {
            id: DbId(Id::from_uuid(uuid::Uuid::from_u128(1))),
            at: DbTime(Timestamp::UNIX_EPOCH),
            workspace_id: None,
            actor: actor.to_owned(),
            action: "member.join".to_owned(),
            target: None,
            request_id: DbId(Id::from_uuid(uuid::Uuid::from_u128(2))),
            address: None,
            detail: None,
            app_id: None,
        })
    }

    #[test]
    fn an_actor_that_does_not_parse_is_an_inconsistency_of_the_store() {
        assert_eq!(by("visitor").unwrap().actor, Actor::Visitor);
        let refused = by("somebody");
        assert!(matches!(refused, Err(StoreError::Inconsistent { table: "audit_log", .. })), "{refused:?}");
    }
}
