//! Device logins.

use std::net::IpAddr;

use ::identity::{
    device::{
        DeviceApproval, DeviceLogin, DeviceLoginDecision, DeviceLoginRequest, POLL_INTERVAL, POLL_LEEWAY,
    },
    ports::{DeviceRead, DeviceTx, OpenLoginCounts, PollPace},
};
use async_trait::async_trait;
use chrono::TimeDelta;
use kernel::{StoreError, Timestamp, id::DeviceLoginId, token::Digest};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait as _, ConnectionTrait as _, DbBackend, EntityTrait as _, FromQueryResult, QueryFilter as _,
    QuerySelect as _,
    sea_query::{Asterisk, Expr, ExprTrait as _, Func, Query},
};

use crate::{
    convert::{RowContext, digest_bytes},
    entity::{
        column::{DbId, DbText, DbTime},
        device_logins::{self, DeviceLoginState},
    },
    error::OrStoreError as _,
    store::Store,
    tx::StoreTx,
};

/// Key of PostgreSQL's advisory lock on adding device logins.
const DEVICE_LOGIN_LOCK_KEY: i64 = 0x0071_616c_615f_6476;

fn device_login(model: device_logins::Model) -> Result<DeviceLogin, StoreError> {
    let row = RowContext::new("device_logins", model.id);
    let missing = |what| move || row.error(format_args!("{what} is missing"));
    let decision = match model.state {
        DeviceLoginState::Pending => DeviceLoginDecision::Pending,
        DeviceLoginState::Approved => DeviceLoginDecision::Approved(DeviceApproval {
            approved_by: model.approved_by.ok_or_else(missing("the approver"))?.0,
            workspace: model.approved_workspace_id.ok_or_else(missing("the workspace"))?.0,
            scopes: model.approved_scopes.ok_or_else(missing("the approved scopes"))?.0,
            expires_in_days: row.number(model.approved_days.ok_or_else(missing("the approved days"))?)?,
        }),
        DeviceLoginState::Denied => DeviceLoginDecision::Denied,
        DeviceLoginState::Delivered => DeviceLoginDecision::Delivered,
    };
    Ok(DeviceLogin {
        id: model.id.0,
        request: DeviceLoginRequest {
            client: model.client,
            purpose: model.purpose.0,
            name: model.name,
            scopes: model.scopes.0,
            expires_in_days: row.number(model.expires_in_days)?,
            host: model.host,
        },
        client_ip: model.address.map(DbText::into_inner),
        created_at: model.created_at.0,
        expires_at: model.expires_at.0,
        decision,
    })
}

#[span_macros::traced]
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
        use device_logins::Column;
        let is_early = || {
            let next_poll = Expr::from(Func::abs(Expr::col(Column::LastPollAt)))
                .add(Expr::col(Column::IntervalSeconds).mul(1000_i64));
            Column::LastPollAt.is_not_null().and(Expr::val(DbTime(now + POLL_LEEWAY)).lt(next_poll))
        };
        let longer = Expr::col(Column::IntervalSeconds).add(POLL_INTERVAL.num_seconds());
        let interval = Expr::case(is_early(), longer).finally(Expr::col(Column::IntervalSeconds));
        // The new row alone does not say whether the poll was too early, so the sign of its time does: a poll that was
        // is noted as a negative one.
        let polled_at = Expr::case(is_early(), -now.timestamp_millis()).finally(now.timestamp_millis());
        let updated = device_logins::Entity::update_many()
            .col_expr(Column::IntervalSeconds, Expr::Case(Box::new(interval)))
            .col_expr(Column::LastPollAt, Expr::Case(Box::new(polled_at)))
            .filter(Column::Id.eq(DbId(id)))
            .exec_with_returning(&*self.write().await?)
            .await
            .or_store_error()?;
        Ok(match updated.first() {
            Some(login) => PollPace {
                is_too_early: login.last_poll_at.is_some_and(|at| at < 0),
                interval: TimeDelta::seconds(login.interval_seconds),
            },
            // It was deleted since it was read.
            None => PollPace { is_too_early: false, interval: POLL_INTERVAL },
        })
    }
}

/// Device logins that are open.
#[derive(FromQueryResult)]
struct OpenCountsRow {
    total: i64,
    from_network: i64,
}

#[span_macros::traced]
#[async_trait]
impl DeviceTx for StoreTx {
    async fn count_open_device_logins(
        &mut self,
        network: Option<IpAddr>,
        now: Timestamp,
    ) -> Result<OpenLoginCounts, StoreError> {
        // SQLite has one writer, which this transaction is.
        if self.read().get_database_backend() == DbBackend::Postgres {
            let lock = Func::cust("pg_advisory_xact_lock").arg(DEVICE_LOGIN_LOCK_KEY);
            self.read().execute(Query::select().expr(lock)).await.or_store_error()?;
        }
        use device_logins::Column;
        // Compared as it is: an unknown network equals none.
        let is_from_network = Expr::col(Column::Network).eq(network.map(DbText));
        let from_network = Func::count(Expr::Case(Box::new(Expr::case(is_from_network, 1))));
        let counts = device_logins::Entity::find()
            .filter(Column::ExpiresAt.gt(DbTime(now)))
            .filter(Column::State.is_in([DeviceLoginState::Pending, DeviceLoginState::Approved]))
            .select_only()
            .expr_as(Func::count(Expr::col(Asterisk)), "total")
            .expr_as(from_network, "from_network")
            .into_model::<OpenCountsRow>()
            .one(self.read())
            .await
            .or_store_error()?;
        Ok(counts.map_or(OpenLoginCounts { total: 0, from_network: 0 }, |counts| OpenLoginCounts {
            total: counts.total.unsigned_abs(),
            from_network: counts.from_network.unsigned_abs(),
        }))
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
            id: Set(DbId(login.id)),
            device_digest: Set(device.as_bytes().to_vec()),
            user_digest: Set(user.as_bytes().to_vec()),
            client: Set(asked.client.clone()),
            purpose: Set(DbText(asked.purpose)),
            name: Set(asked.name.clone()),
            scopes: Set(DbText(asked.scopes)),
            expires_in_days: Set(asked.expires_in_days.into()),
            host: Set(asked.host.clone()),
            address: Set(login.client_ip.map(DbText)),
            network: Set(network.map(DbText)),
            created_at: Set(DbTime(login.created_at)),
            expires_at: Set(DbTime(login.expires_at)),
            state: Set(DeviceLoginState::Pending),
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
        let changes = match decision {
            DeviceLoginDecision::Approved(approval) => device_logins::ActiveModel {
                state: Set(DeviceLoginState::Approved),
                approved_by: Set(Some(DbId(approval.approved_by))),
                approved_workspace_id: Set(Some(DbId(approval.workspace))),
                approved_scopes: Set(Some(DbText(approval.scopes))),
                approved_days: Set(Some(approval.expires_in_days.into())),
                ..Default::default()
            },
            DeviceLoginDecision::Denied => {
                device_logins::ActiveModel { state: Set(DeviceLoginState::Denied), ..Default::default() }
            }
            DeviceLoginDecision::Pending | DeviceLoginDecision::Delivered => return Ok(false),
        };
        self.transition_device_login(id, DeviceLoginState::Pending, changes, now).await
    }

    async fn mark_device_login_delivered(
        &mut self,
        id: DeviceLoginId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let delivered =
            device_logins::ActiveModel { state: Set(DeviceLoginState::Delivered), ..Default::default() };
        self.transition_device_login(id, DeviceLoginState::Approved, delivered, now).await
    }
}

impl StoreTx {
    /// Changes a login that is in the state `from` and has not expired; returns `true` if it was.
    async fn transition_device_login(
        &mut self,
        id: DeviceLoginId,
        from: DeviceLoginState,
        changes: device_logins::ActiveModel,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        use device_logins::Column;
        let updated = device_logins::Entity::update_many()
            .set(changes)
            .filter(Column::Id.eq(DbId(id)))
            .filter(Column::State.eq(from))
            .filter(Column::ExpiresAt.gt(DbTime(now)))
            .exec(self.conditional_write())
            .await
            .or_store_error()?;
        if updated.rows_affected == 0 {
            return Ok(false);
        }
        self.mark_written();
        Ok(true)
    }
}
