//! The ports of device logins on the store in memory.

use std::net::IpAddr;

use async_trait::async_trait;
use kernel::{StoreError, Timestamp, id::DeviceLoginId, token::Digest};

use super::FakeStore;
use crate::{
    device::{DeviceLogin, DeviceLoginDecision, DeviceLoginState, POLL_INTERVAL, POLL_LEEWAY},
    ports::{DeviceRead, DeviceTx, OpenLoginCounts, PollPace},
};

#[derive(Debug, Clone)]
pub(crate) struct StoredDeviceLogin {
    pub(crate) login: DeviceLogin,
    pub(crate) network: Option<IpAddr>,
    pub(crate) device_digest: Digest,
    pub(crate) user_digest: Digest,
}

impl FakeStore {
    fn device_login_mut(&mut self, id: DeviceLoginId) -> Option<&mut DeviceLogin> {
        self.device_logins.iter_mut().map(|stored| &mut stored.login).find(|login| login.id == id)
    }
}

#[async_trait]
impl DeviceRead for FakeStore {
    async fn device_login_by_user_code(&self, digests: &[Digest]) -> Result<Option<DeviceLogin>, StoreError> {
        self.check_available()?;
        let found = self.device_logins.iter().find(|stored| digests.contains(&stored.user_digest));
        Ok(found.map(|stored| stored.login.clone()))
    }

    async fn device_login_by_device_code(
        &self,
        digests: &[Digest],
    ) -> Result<Option<DeviceLogin>, StoreError> {
        self.check_available()?;
        let found = self.device_logins.iter().find(|stored| digests.contains(&stored.device_digest));
        Ok(found.map(|stored| stored.login.clone()))
    }

    async fn record_device_login_poll(
        &self,
        login: DeviceLoginId,
        now: Timestamp,
    ) -> Result<PollPace, StoreError> {
        self.check_available()?;
        let mut polls = self.polls.lock().unwrap();
        let last = polls.get(&login).copied();
        let is_too_early = last.is_some_and(|(at, interval)| now + POLL_LEEWAY < at + interval);
        let interval = last.map_or(POLL_INTERVAL, |(_, interval)| interval);
        let interval = if is_too_early { interval + POLL_INTERVAL } else { interval };
        polls.insert(login, (now, interval));
        Ok(PollPace { is_too_early, interval })
    }
}

#[async_trait]
impl DeviceTx for FakeStore {
    async fn count_open_device_logins(
        &mut self,
        network: Option<IpAddr>,
        now: Timestamp,
    ) -> Result<OpenLoginCounts, StoreError> {
        self.check_available()?;
        let is_open = |stored: &&StoredDeviceLogin| {
            matches!(stored.login.state(now), DeviceLoginState::Pending | DeviceLoginState::Approved(_))
        };
        let open: Vec<_> = self.device_logins.iter().filter(is_open).collect();
        let from_network = open.iter().filter(|stored| network.is_some() && stored.network == network);
        Ok(OpenLoginCounts { total: open.len() as u64, from_network: from_network.count() as u64 })
    }

    async fn insert_device_login(
        &mut self,
        login: &DeviceLogin,
        network: Option<IpAddr>,
        device: &Digest,
        user: &Digest,
    ) -> Result<(), StoreError> {
        self.check_available()?;
        let login = login.clone();
        self.device_logins.push(StoredDeviceLogin {
            login,
            network,
            device_digest: *device,
            user_digest: *user,
        });
        Ok(())
    }

    async fn decide_device_login(
        &mut self,
        login: DeviceLoginId,
        decision: &DeviceLoginDecision,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.check_available()?;
        let known = self.device_login_mut(login);
        let Some(login) = known.filter(|login| login.state(now) == DeviceLoginState::Pending) else {
            return Ok(false);
        };
        login.decision = decision.clone();
        Ok(true)
    }

    async fn mark_device_login_delivered(
        &mut self,
        login: DeviceLoginId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.check_available()?;
        let known = self.device_login_mut(login);
        let Some(login) = known.filter(|login| matches!(login.state(now), DeviceLoginState::Approved(_)))
        else {
            return Ok(false);
        };
        login.decision = DeviceLoginDecision::Delivered;
        Ok(true)
    }
}
