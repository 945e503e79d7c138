//! Device logins.

use std::net::IpAddr;

use ::identity::{
    device::{
        DeviceApproval, DeviceLogin, DeviceLoginDecision, DeviceLoginRequest, POLL_INTERVAL, POLL_LEEWAY,
        Purpose,
    },
    ports::{DeviceRead, DeviceTx, OpenLoginCounts, PollPace},
};
use async_trait::async_trait;
use chrono::TimeDelta;
use kernel::{Id, StoreError, Timestamp, id::DeviceLoginId, token::Digest};
use sea_orm::{
    ActiveValue::Set, ColumnTrait as _, ConnectionTrait as _, DbBackend, EntityTrait as _, QueryFilter as _,
};

use super::digest_bytes;
use crate::{
    Store, StoreTx,
    convert::{RowContext, millis},
    entity::device_logins,
    error::OrStoreError as _,
    sql::{Sql, column},
};

/// What PostgreSQL's advisory lock on adding device logins is called.
const DEVICE_LOGIN_LOCK_KEY: i64 = 0x0071_616c_615f_6476;

const PENDING: &str = "pending";
pub(crate) const APPROVED: &str = "approved";
pub(crate) const DENIED: &str = "denied";
const DELIVERED: &str = "delivered";

fn device_login(model: device_logins::Model) -> Result<DeviceLogin, StoreError> {
    let row = RowContext { table: "device_logins", id: model.id };
    let missing = |what| move || row.error(format_args!("{what} is missing"));
    let decision = match model.state.as_str() {
        PENDING => DeviceLoginDecision::Pending,
        APPROVED => DeviceLoginDecision::Approved(DeviceApproval {
            approved_by: Id::from_uuid(model.approved_by.ok_or_else(missing("the approver"))?),
            workspace: Id::from_uuid(model.approved_workspace_id.ok_or_else(missing("the workspace"))?),
            scopes: row.parse(&model.approved_scopes.ok_or_else(missing("the approved scopes"))?)?,
            expires_in_days: row.number(model.approved_days.ok_or_else(missing("the approved days"))?)?,
        }),
        DENIED => DeviceLoginDecision::Denied,
        DELIVERED => DeviceLoginDecision::Delivered,
        other => return Err(row.error(format_args!("{other} is no state"))),
    };
    let purpose = match model.purpose.as_str() {
        "login" => Purpose::Login,
        "token" => Purpose::Token,
        other => return Err(row.error(format_args!("{other} is no purpose"))),
    };
    Ok(DeviceLogin {
        id: Id::from_uuid(model.id),
        request: DeviceLoginRequest {
            client: model.client,
            purpose,
            name: model.name,
            scopes: row.parse(&model.scopes)?,
            expires_in_days: row.number(model.expires_in_days)?,
            host: model.host,
        },
        client_ip: model.address.map(|address| row.parse(&address)).transpose()?,
        created_at: row.timestamp(model.created_at)?,
        expires_at: row.timestamp(model.expires_at)?,
        decision,
    })
}

#[async_trait]
impl DeviceRead for Store {
    async fn device_login_by_user_code(
        &self,
        candidates: &[Digest],
    ) -> Result<Option<DeviceLogin>, StoreError> {
        let found = device_logins::Entity::find()
            .filter(device_logins::Column::UserDigest.is_in(digest_bytes(candidates)))
            .one(self.read())
            .await
            .or_store_error()?;
        found.map(device_login).transpose()
    }

    async fn device_login_by_device_code(
        &self,
        candidates: &[Digest],
    ) -> Result<Option<DeviceLogin>, StoreError> {
        let found = device_logins::Entity::find()
            .filter(device_logins::Column::DeviceDigest.is_in(digest_bytes(candidates)))
            .one(self.read())
            .await
            .or_store_error()?;
        found.map(device_login).transpose()
    }

    async fn record_device_login_poll(
        &self,
        id: DeviceLoginId,
        now: Timestamp,
    ) -> Result<PollPace, StoreError> {
        // `early` cannot be told from the new row alone, so the statement leaves it in the sign of the moment:
        // a question that came too early is noted as a negative one.
        let mut sql = Sql::new("UPDATE device_logins SET interval_seconds = CASE WHEN ");
        push_is_early(&mut sql, now);
        sql.push(" THEN interval_seconds + ").bind(POLL_INTERVAL.num_seconds());
        sql.push(" ELSE interval_seconds END, last_poll_at = CASE WHEN ");
        push_is_early(&mut sql, now);
        sql.push(" THEN ").bind(-millis(now)).push(" ELSE ").bind(millis(now)).push(" END WHERE id = ");
        sql.bind(id.uuid()).push(" RETURNING interval_seconds, last_poll_at");
        match sql.fetch_optional(&self.write()).await? {
            Some(row) => Ok(PollPace {
                is_too_early: column::<i64>(&row, 1)? < 0,
                interval: TimeDelta::seconds(column(&row, 0)?),
            }),
            // It was swept away since it was read.
            None => Ok(PollPace { is_too_early: false, interval: POLL_INTERVAL }),
        }
    }
}

/// Whether a question at `now` comes before its time.
fn push_is_early(sql: &mut Sql, now: Timestamp) {
    sql.push("last_poll_at IS NOT NULL AND ").bind(millis(now + POLL_LEEWAY));
    sql.push(" < abs(last_poll_at) + interval_seconds * 1000");
}

#[async_trait]
impl DeviceTx for StoreTx {
    async fn count_open_device_logins(
        &mut self,
        network: Option<IpAddr>,
        now: Timestamp,
    ) -> Result<OpenLoginCounts, StoreError> {
        // SQLite has one writer, which this transaction is.
        if self.read().get_database_backend() == DbBackend::Postgres {
            let mut sql = Sql::new("SELECT pg_advisory_xact_lock(");
            sql.bind(DEVICE_LOGIN_LOCK_KEY).push(")");
            sql.execute(self.read()).await?;
        }
        let mut sql = Sql::new("SELECT count(*), count(CASE WHEN network = ");
        sql.bind(network.map(|network| network.to_string()));
        sql.push(" THEN 1 END) FROM device_logins WHERE expires_at > ").bind(millis(now));
        sql.push(" AND state IN (").bind_all([PENDING, APPROVED]).push(")");
        let row = sql.fetch_optional(self.read()).await?;
        let count = |index| -> Result<u64, StoreError> {
            let count = row.as_ref().map(|row| column::<i64>(row, index)).transpose()?.unwrap_or_default();
            Ok(count.try_into().unwrap_or_default())
        };
        Ok(OpenLoginCounts { total: count(0)?, from_network: count(1)? })
    }

    async fn insert_device_login(
        &mut self,
        login: &DeviceLogin,
        network: Option<IpAddr>,
        device: &Digest,
        user: &Digest,
    ) -> Result<(), StoreError> {
        let asked = &login.request;
        let row = device_logins::ActiveModel {
            id: Set(login.id.uuid()),
            device_digest: Set(device.as_bytes().to_vec()),
            user_digest: Set(user.as_bytes().to_vec()),
            client: Set(asked.client.clone()),
            purpose: Set(asked.purpose.as_str().to_owned()),
            name: Set(asked.name.clone()),
            scopes: Set(asked.scopes.to_string()),
            expires_in_days: Set(asked.expires_in_days.into()),
            host: Set(asked.host.clone()),
            address: Set(login.client_ip.map(|address| address.to_string())),
            network: Set(network.map(|network| network.to_string())),
            created_at: Set(millis(login.created_at)),
            expires_at: Set(millis(login.expires_at)),
            state: Set(PENDING.to_owned()),
            approved_by: Set(None),
            approved_workspace_id: Set(None),
            approved_scopes: Set(None),
            approved_days: Set(None),
            interval_seconds: Set(POLL_INTERVAL.num_seconds()),
            last_poll_at: Set(None),
        };
        device_logins::Entity::insert(row).exec_without_returning(self.write()).await.or_store_error()?;
        Ok(())
    }

    async fn decide_device_login(
        &mut self,
        id: DeviceLoginId,
        decision: &DeviceLoginDecision,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut sql = Sql::new("UPDATE device_logins SET state = ");
        match decision {
            DeviceLoginDecision::Approved(approval) => {
                sql.bind(APPROVED).push(", approved_by = ").bind(approval.approved_by.uuid());
                sql.push(", approved_workspace_id = ").bind(approval.workspace.uuid());
                sql.push(", approved_scopes = ").bind(approval.scopes.to_string());
                sql.push(", approved_days = ").bind(i64::from(approval.expires_in_days));
            }
            DeviceLoginDecision::Denied => {
                sql.bind(DENIED);
            }
            DeviceLoginDecision::Pending | DeviceLoginDecision::Delivered => return Ok(false),
        }
        self.transition_device_login(sql, id, PENDING, now).await
    }

    async fn mark_device_login_delivered(
        &mut self,
        id: DeviceLoginId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut sql = Sql::new("UPDATE device_logins SET state = ");
        sql.bind(DELIVERED);
        self.transition_device_login(sql, id, APPROVED, now).await
    }
}

impl StoreTx {
    /// Ends a statement that moves a login out of a state, and says whether it was in it.
    async fn transition_device_login(
        &mut self,
        mut sql: Sql,
        id: DeviceLoginId,
        from: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        sql.push(" WHERE id = ").bind(id.uuid()).push(" AND state = ").bind(from);
        sql.push(" AND expires_at > ").bind(millis(now));
        if sql.execute(self.read()).await? == 0 {
            return Ok(false);
        }
        self.write();
        Ok(true)
    }
}
