//! Rate limits: token buckets, one per person, or per address if nobody is signed in.
//!
//! Buckets belong to the process. With several nodes behind a load balancer, the limits multiply by the number of
//! nodes.
//! See `docs/decisions/0010-rate-limits-per-process.md`.

use std::{
    hash::{BuildHasher as _, RandomState},
    net::{IpAddr, Ipv6Addr},
    num::NonZeroU32,
    time::{Duration, Instant},
};

use governor::{
    Quota, RateLimiter,
    clock::{Clock as _, DefaultClock},
    middleware::StateInformationMiddleware,
    state::keyed::DashMapStateStore,
};
use kernel::id::{HookId, ProjectId, ProjectKeyId, UserId};
use runs::webhooks::RateLimitExceeded;

use crate::Problem;

/// The owner of a bucket, by the purpose of the bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum LimitKey {
    Person(UserId),
    Address(IpAddr),
    /// Requests of agent clients before a person has allowed them, by address.
    Agents(IpAddr),
    /// Sign-in attempts from an address.
    SignIn(IpAddr),
    /// Invites e-mailed by a person.
    Invites(UserId),
    /// E-mails to one recipient, by a hash whose key is the process's.
    Recipient(u64),
    /// Refused webhook calls from an address.
    RefusedHooks(IpAddr),
    /// Calls of a webhook.
    Hook(HookId),
    /// Submissions of a public form from an address.
    Form(HookId, IpAddr),
    /// Requests with a project key.
    Key(ProjectKeyId),
    /// Requests to a project from an address.
    ProjectAddress(ProjectId, IpAddr),
}

type Buckets = RateLimiter<LimitKey, DashMapStateStore<LimitKey>, DefaultClock, StateInformationMiddleware>;

/// Units per minute.
const PERSON_PER_MINUTE: u32 = 600;
const ADDRESS_PER_MINUTE: u32 = 120;
/// High, because the agents of a provider share a few addresses.
const AGENTS_PER_MINUTE: u32 = 600;
const SIGN_INS_PER_MINUTE: u32 = 10;
const REFUSED_HOOKS_PER_MINUTE: u32 = 20;
/// Time a sender waits after too many refused calls: the time in which the bucket regains one.
const REFUSED_HOOK_WAIT: Duration = Duration::from_secs(60 / REFUSED_HOOKS_PER_MINUTE as u64);
/// Invites that a person may e-mail per hour.
const INVITES_PER_HOUR: NonZeroU32 = NonZeroU32::new(60).unwrap();
/// E-mails to one recipient at the request of others: `RECIPIENT_BURST` at once, then one per `RECIPIENT_PERIOD`.
const RECIPIENT_BURST: NonZeroU32 = NonZeroU32::new(5).unwrap();
const RECIPIENT_PERIOD: Duration = Duration::from_secs(120);

/// State of a bucket after a request.
#[derive(Debug, Clone, Copy)]
pub struct RateLimitState {
    /// Units per minute.
    pub limit: u32,
    /// Units left.
    pub remaining: u32,
}

/// Buckets of one size.
struct RateLimit {
    limit: u32,
    buckets: Buckets,
}

impl RateLimit {
    fn new(per_minute: u32) -> Self {
        Self::with_quota(Quota::per_minute(NonZeroU32::new(per_minute).unwrap_or(NonZeroU32::MIN)))
    }

    fn with_quota(quota: Quota) -> Self {
        Self { limit: quota.burst_size().get(), buckets: RateLimiter::dashmap(quota).with_middleware() }
    }

    fn check(&self, key: LimitKey, cost: u32) -> Result<RateLimitState, Problem> {
        let refused = |wait| Problem::rate_limited(wait).with_limit(self.limit);
        let cost = NonZeroU32::new(cost).unwrap_or(NonZeroU32::MIN);
        match self.buckets.check_key_n(&key, cost) {
            Ok(Ok(state)) => {
                Ok(RateLimitState { limit: self.limit, remaining: state.remaining_burst_capacity() })
            }
            Ok(Err(not_until)) => Err(refused(not_until.wait_time_from(DefaultClock::default().now()))),
            // The cost exceeds the capacity of the bucket.
            Err(_) => Err(refused(Duration::from_secs(60))),
        }
    }
}

/// Returns the limit and the waiting time of a refusal, for callers that word it themselves.
fn to_used_up(refused: &Problem) -> RateLimitExceeded {
    RateLimitExceeded {
        retry_after: refused.retry_after.unwrap_or_default(),
        limit_per_minute: refused.limit.map(NonZeroU32::get),
    }
}

/// The rate limits of a process.
pub struct RateLimits {
    is_enabled: bool,
    person: RateLimit,
    address: RateLimit,
    agents: RateLimit,
    sign_in: RateLimit,
    recipient: RateLimit,
    recipient_hasher: RandomState,
    refused_hooks: RateLimit,
    /// Time until which senders wait that were refused too often.
    waiting_senders: moka::sync::Cache<IpAddr, Instant>,
    invites: RateLimit,
    /// Limits whose size is configured, by units per minute.
    custom: moka::sync::Cache<u32, std::sync::Arc<RateLimit>>,
}

impl RateLimits {
    /// Creates the limits of a process; nothing is counted unless `enabled`.
    #[must_use]
    pub fn new(enabled: bool) -> Self {
        Self {
            is_enabled: enabled,
            person: RateLimit::new(PERSON_PER_MINUTE),
            address: RateLimit::new(ADDRESS_PER_MINUTE),
            agents: RateLimit::new(AGENTS_PER_MINUTE),
            sign_in: RateLimit::new(SIGN_INS_PER_MINUTE),
            recipient: RateLimit::with_quota(
                Quota::with_period(RECIPIENT_PERIOD)
                    .unwrap_or_else(|| Quota::per_minute(RECIPIENT_BURST))
                    .allow_burst(RECIPIENT_BURST),
            ),
            recipient_hasher: RandomState::new(),
            refused_hooks: RateLimit::new(REFUSED_HOOKS_PER_MINUTE),
            waiting_senders: moka::sync::Cache::builder()
                .max_capacity(100_000)
                .time_to_live(REFUSED_HOOK_WAIT)
                .build(),
            invites: RateLimit::with_quota(Quota::per_hour(INVITES_PER_HOUR)),
            custom: moka::sync::Cache::new(1_000),
        }
    }

    /// Takes `cost` units from the limit of the person or, without a person, of the address. Returns the state of the
    /// bucket, or `None` if nothing was counted.
    ///
    /// # Errors
    /// 429 `rate_limited`.
    pub fn check(
        &self,
        person: Option<UserId>,
        address: Option<IpAddr>,
        cost: u32,
    ) -> Result<Option<RateLimitState>, Problem> {
        let state = match (person, address) {
            _ if !self.is_enabled || cost == 0 => return Ok(None),
            (Some(person), _) => self.person.check(LimitKey::Person(person), cost),
            (None, Some(address)) => self.address.check(LimitKey::Address(network_prefix(address)), cost),
            (None, None) => return Ok(None),
        };
        state.map(Some)
    }

    /// Takes units from the limit that agent clients have at an address before a person has allowed them. Returns the
    /// state of the bucket, or `None` if nothing was counted.
    ///
    /// # Errors
    /// 429 `rate_limited`.
    pub fn check_agent(&self, address: Option<IpAddr>, cost: u32) -> Result<Option<RateLimitState>, Problem> {
        match address {
            Some(address) if self.is_enabled => {
                self.agents.check(LimitKey::Agents(network_prefix(address)), cost).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Counts an attempt to sign in.
    ///
    /// # Errors
    /// 429 `rate_limited`.
    pub fn check_sign_in(&self, address: Option<IpAddr>) -> Result<(), Problem> {
        match address {
            Some(address) if self.is_enabled => {
                self.sign_in.check(LimitKey::SignIn(network_prefix(address)), 1).map(drop)
            }
            _ => Ok(()),
        }
    }

    /// Counts e-mailed invites against a person's limit per hour.
    ///
    /// # Errors
    /// 429 `rate_limited`.
    pub fn check_invites(&self, person: UserId, mails: usize) -> Result<(), Problem> {
        if !self.is_enabled || mails == 0 {
            return Ok(());
        }
        let mails = u32::try_from(mails).unwrap_or(u32::MAX);
        self.invites.check(LimitKey::Invites(person), mails).map(drop)
    }

    /// Counts an e-mail to an address that others asked for. The limit does not depend on whether the address is known.
    ///
    /// # Errors
    /// 429 `rate_limited`.
    pub fn check_recipient(&self, address: &str) -> Result<(), Problem> {
        if !self.is_enabled {
            return Ok(());
        }
        let key = LimitKey::Recipient(self.recipient_hasher.hash_one(address));
        self.recipient.check(key, 1).map(drop)
    }

    /// Checks that the sender of a webhook call does not have to wait.
    ///
    /// # Errors
    /// [`RateLimitExceeded`] if the sender was refused too often; it has the rest of the waiting time.
    pub fn check_hook_sender(&self, address: Option<IpAddr>) -> Result<(), RateLimitExceeded> {
        let until = address.and_then(|address| self.waiting_senders.get(&network_prefix(address)));
        match until.map(|until| until.saturating_duration_since(Instant::now())) {
            Some(wait) if !wait.is_zero() => {
                Err(RateLimitExceeded { retry_after: wait, limit_per_minute: Some(self.refused_hooks.limit) })
            }
            _ => Ok(()),
        }
    }

    /// Counts a refused webhook call against its sender, who has to wait once the limit is used up.
    pub fn count_refused_hook(&self, address: Option<IpAddr>) {
        let Some(address) = address.map(network_prefix).filter(|_| self.is_enabled) else { return };
        let used_up = match self.refused_hooks.check(LimitKey::RefusedHooks(address), 1) {
            Ok(state) => state.remaining == 0,
            Err(_) => true,
        };
        if used_up {
            self.waiting_senders.insert(address, Instant::now() + REFUSED_HOOK_WAIT);
        }
    }

    /// Takes units from the limits of a key and of an address at its project, as the project's settings define them.
    ///
    /// # Errors
    /// 429 `rate_limited`.
    pub fn check_project(
        &self,
        key: ProjectKeyId,
        per_key: u32,
        project: ProjectId,
        address: Option<IpAddr>,
        per_address: u32,
        cost: u32,
    ) -> Result<Option<RateLimitState>, Problem> {
        self.check_project_address(project, address, per_address, cost)?;
        if !self.is_enabled {
            return Ok(None);
        }
        self.custom_limit(per_key).check(LimitKey::Key(key), cost).map(Some)
    }

    /// Takes units from the limit of an address at a project, for requests without a key.
    ///
    /// # Errors
    /// 429 `rate_limited`.
    pub fn check_project_address(
        &self,
        project: ProjectId,
        address: Option<IpAddr>,
        per_address: u32,
        cost: u32,
    ) -> Result<(), Problem> {
        match address {
            Some(address) if self.is_enabled => {
                let key = LimitKey::ProjectAddress(project, network_prefix(address));
                self.custom_limit(per_address).check(key, cost).map(drop)
            }
            _ => Ok(()),
        }
    }

    fn custom_limit(&self, per_minute: u32) -> std::sync::Arc<RateLimit> {
        self.custom.get_with(per_minute, || std::sync::Arc::new(RateLimit::new(per_minute)))
    }

    /// Removes buckets that are full again.
    pub fn evict_idle(&self) {
        let chosen: Vec<_> = self.custom.iter().map(|(_, sized)| sized).collect();
        let fixed = [
            &self.person,
            &self.address,
            &self.agents,
            &self.sign_in,
            &self.recipient,
            &self.refused_hooks,
            &self.invites,
        ];
        for sized in fixed.into_iter().chain(chosen.iter().map(|sized| &**sized)) {
            sized.buckets.retain_recent();
            sized.buckets.shrink_to_fit();
        }
    }
}

impl runs::webhooks::WebhookRateLimiter for RateLimits {
    fn check_call(&self, hook: HookId, per_minute: u16) -> Result<(), RateLimitExceeded> {
        if !self.is_enabled {
            return Ok(());
        }
        self.custom_limit(per_minute.into())
            .check(LimitKey::Hook(hook), 1)
            .map(drop)
            .map_err(|refused| to_used_up(&refused))
    }

    fn check_submission(
        &self,
        hook: HookId,
        address: Option<IpAddr>,
        per_minute: u16,
    ) -> Result<(), RateLimitExceeded> {
        match address {
            Some(address) if self.is_enabled => self
                .custom_limit(per_minute.into())
                .check(LimitKey::Form(hook, network_prefix(address)), 1)
                .map(drop)
                .map_err(|refused| to_used_up(&refused)),
            _ => Ok(()),
        }
    }
}

/// Returns the address that limits count by: of an IPv6 address the /64 prefix, since whoever has one address of it has
/// all of them.
pub fn network_prefix(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_network_share_a_limit() {
        let limits = RateLimits::new(true);
        let take = |address: &str| limits.check(None, Some(address.parse().unwrap()), 60);
        assert!(take("2001:db8::1").is_ok() && take("2001:db8::2").is_ok());
        let refusal = take("2001:db8::3").unwrap_err();
        assert_eq!(refusal.code, "rate_limited");
        assert!(refusal.limit.is_some() && refusal.retry_after.is_some(), "{refusal:?}");
        assert!(refusal.retry_after.is_some());
        assert!(take("2001:db8:0:1::1").is_ok());
        assert!(take("192.0.2.1").is_ok());
    }

    #[test]
    fn emails_to_one_recipient_are_limited() {
        let limits = RateLimits::new(true);
        for _ in 0..5 {
            assert!(limits.check_recipient("aru@example.com").is_ok());
        }
        assert_eq!(limits.check_recipient("aru@example.com").unwrap_err().code, "rate_limited");
        assert!(limits.check_recipient("bek@example.com").is_ok());
    }

    #[test]
    fn a_request_takes_its_cost_from_the_limit() {
        let limits = RateLimits::new(true);
        let random: std::sync::Arc<dyn kernel::Randomness> = std::sync::Arc::new(kernel::SystemRandomness);
        let now = kernel::Clock::now(&kernel::SystemClock);
        let (key, project) = (kernel::Id::generate(&*random, now), kernel::Id::generate(&*random, now));
        let take = |cost| limits.check_project(key, 100, project, None, 100, cost);
        assert!(take(60).is_ok() && take(30).is_ok());
        assert_eq!(take(30).unwrap_err().code, "rate_limited");
    }

    #[test]
    fn a_sender_waits_after_twenty_refused_calls() {
        let limits = RateLimits::new(true);
        let sender = Some("192.0.2.1".parse().unwrap());
        for _ in 0..20 {
            assert!(limits.check_hook_sender(sender).is_ok());
            limits.count_refused_hook(sender);
        }
        let RateLimitExceeded { retry_after: wait, limit_per_minute: limit } =
            limits.check_hook_sender(sender).unwrap_err();
        assert!(wait <= REFUSED_HOOK_WAIT && limit == Some(20), "{wait:?} {limit:?}");
        assert!(limits.check_hook_sender(Some("192.0.2.2".parse().unwrap())).is_ok());
    }

    #[test]
    fn nothing_is_counted_when_limits_are_disabled() {
        let limits = RateLimits::new(false);
        for _ in 0..1000 {
            assert!(limits.check(None, Some("192.0.2.1".parse().unwrap()), 100).is_ok());
        }
    }
}
