//! The traits that a store implements for device logins.

use std::net::IpAddr;

use async_trait::async_trait;
use chrono::TimeDelta;
use kernel::{StoreError, Timestamp, UnitOfWork, id::DeviceLoginId, token::Digest};

use crate::device::{DeviceLogin, DeviceLoginDecision};

/// Numbers of open logins: those that are pending, or approved and not delivered, and have not expired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenLoginCounts {
    /// All open logins.
    pub total: u64,
    /// Open logins from one network.
    pub from_network: u64,
}

/// Result of recording a poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PollPace {
    /// True if this poll came before the interval had passed.
    pub is_too_early: bool,
    /// Time the command line must wait before the next poll.
    pub interval: TimeDelta,
}

/// Reads, and the recording of polls, which needs no transaction and no audit entry.
#[async_trait]
pub trait DeviceRead: Send + Sync {
    /// Finds the login whose user code is stored under one of these digests, in any state.
    async fn device_login_by_user_code(&self, digests: &[Digest]) -> Result<Option<DeviceLogin>, StoreError>;

    /// Finds the login whose device code is stored under one of these digests, in any state.
    async fn device_login_by_device_code(
        &self,
        digests: &[Digest],
    ) -> Result<Option<DeviceLogin>, StoreError>;

    /// Records a poll at `now` and lengthens the interval if it came too early, in one statement.
    async fn record_device_login_poll(
        &self,
        login: DeviceLoginId,
        now: Timestamp,
    ) -> Result<PollPace, StoreError>;
}

/// Writes, and the reads they depend on.
#[async_trait]
pub trait DeviceTx: UnitOfWork {
    /// Counts the open logins. Until the transaction ends, no other transaction adds one.
    async fn count_open_device_logins(
        &mut self,
        network: Option<IpAddr>,
        now: Timestamp,
    ) -> Result<OpenLoginCounts, StoreError>;

    /// Adds a login under the digests of its device code and its user code.
    async fn insert_device_login(
        &mut self,
        login: &DeviceLogin,
        network: Option<IpAddr>,
        device: &Digest,
        user: &Digest,
    ) -> Result<(), StoreError>;

    /// Approves or denies a login that is pending at `now`; `true` if it was pending.
    async fn decide_device_login(
        &mut self,
        login: DeviceLoginId,
        decision: &DeviceLoginDecision,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Marks a login that is approved at `now` as delivered; `true` if it was approved. Of several concurrent calls,
    /// one returns `true`.
    async fn mark_device_login_delivered(
        &mut self,
        login: DeviceLoginId,
        now: Timestamp,
    ) -> Result<bool, StoreError>;
}
