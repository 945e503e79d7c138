//! What device logins need from a store.

use std::net::IpAddr;

use async_trait::async_trait;
use chrono::TimeDelta;
use kernel::{StoreError, Timestamp, UnitOfWork, id::DeviceLoginId, token::Digest};

use crate::device::{DeviceLogin, DeviceLoginDecision};

/// How many logins are open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenLoginCounts {
    /// Of everybody.
    pub total: u64,
    /// Of one network.
    pub from_network: u64,
}

/// How a command line keeps its pace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PollPace {
    /// Whether this question came too early.
    pub is_too_early: bool,
    /// How long it must wait from now on.
    pub interval: TimeDelta,
}

/// Reads, and the one write that is no change: noting that a question was asked.
#[async_trait]
pub trait DeviceRead: Send + Sync {
    /// The login whose typed code is stored under one of these digests, whatever its state.
    async fn device_login_by_user_code(&self, digests: &[Digest]) -> Result<Option<DeviceLogin>, StoreError>;

    /// The login whose device code is stored under one of these digests, whatever its state.
    async fn device_login_by_device_code(
        &self,
        digests: &[Digest],
    ) -> Result<Option<DeviceLogin>, StoreError>;

    /// Notes a question at `now` and lengthens the interval when it came too early, in one statement.
    async fn record_device_login_poll(
        &self,
        login: DeviceLoginId,
        now: Timestamp,
    ) -> Result<PollPace, StoreError>;
}

/// Writes, and the reads they decide by.
#[async_trait]
pub trait DeviceTx: UnitOfWork {
    /// How many logins are open; nobody else adds one until the transaction ends.
    async fn count_open_device_logins(
        &mut self,
        network: Option<IpAddr>,
        now: Timestamp,
    ) -> Result<OpenLoginCounts, StoreError>;

    /// Adds a login under the digests of its device code and its typed code.
    async fn insert_device_login(
        &mut self,
        login: &DeviceLogin,
        network: Option<IpAddr>,
        device: &Digest,
        user: &Digest,
    ) -> Result<(), StoreError>;

    /// Decides a login that is pending at `now`; whether it was.
    async fn decide_device_login(
        &mut self,
        login: DeviceLoginId,
        decision: &DeviceLoginDecision,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Marks a login delivered that is approved at `now`; whether it was. One of many at once is told yes.
    async fn mark_device_login_delivered(
        &mut self,
        login: DeviceLoginId,
        now: Timestamp,
    ) -> Result<bool, StoreError>;
}
