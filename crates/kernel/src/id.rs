//! Typed ids: a UUIDv7 inside, `prefix_` and 26 characters on the wire (TypeID).
//!
//! Each entity has its own kind, so that code that swaps two ids does not compile, and an id of the wrong kind does not
//! parse.
//! See `docs/decisions/0001-ids-are-prefixed-uuidv7.md`.

use std::{cmp::Ordering, fmt, hash::Hash, hash::Hasher, marker::PhantomData, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use uuid::Uuid;

use crate::{Randomness, Timestamp};

/// The kind of entity that an [`Id`] identifies.
pub trait Kind: 'static {
    /// The part before the underscore on the wire.
    const PREFIX: &'static str;
}

/// The id of an entity of kind `K`.
pub struct Id<K>(Uuid, PhantomData<fn() -> K>);

macro_rules! kinds {
    ($($(#[$doc:meta])* $alias:ident = $kind:ident, $prefix:literal;)*) => {
        /// The kinds of [`Id`]; they exist only as types.
        pub mod kind {
            $(
                $(#[$doc])*
                #[derive(Debug)]
                pub enum $kind {}
                impl super::Kind for $kind { const PREFIX: &'static str = $prefix; }
            )*
        }
        $($(#[$doc])* pub type $alias = Id<kind::$kind>;)*
    };
}

kinds! {
    /// A person.
    UserId = User, "usr";
    /// A session: a person's sign-in in one browser.
    SessionId = Session, "ses";
    /// An unfinished e-mail sign-in.
    SignInId = SignIn, "sgn";
    /// An unfinished sign-in of a command line.
    DeviceLoginId = DeviceLogin, "dvl";
    /// A passkey of a person.
    PasskeyId = Passkey, "pk";
    /// An unfinished passkey ceremony.
    CeremonyId = Ceremony, "pkc";
    /// A personal access token.
    TokenId = Token, "tok";
    /// A registered OAuth client.
    OAuthClientId = OAuthClient, "qac";
    /// An authorization request of an OAuth client.
    AuthorizationId = Authorization, "oaz";
    /// A grant of a person to an agent or an OAuth client.
    GrantId = Grant, "grant";
    /// A workspace.
    WorkspaceId = Workspace, "ws";
    /// An invite into a workspace.
    InviteId = Invite, "inv";
    /// An app.
    AppId = App, "app";
    /// One version of an app.
    VersionId = Version, "ver";
    /// A rollback: a move of an app to another of its versions.
    RollbackId = Rollback, "rbk";
    /// An approval: a question that a run asks a person.
    ApprovalId = Approval, "apv";
    /// A planned change of an app.
    ChangeId = Change, "chg";
    /// An import of another tool's workflow.
    ImportId = Import, "imp";
    /// A gate: the permission of apps to reach one host.
    GateId = Gate, "gate";
    /// A stored credential of an external service.
    ConnectionId = Connection, "conn";
    /// An automation, called `road` on the wire.
    AutomationId = Automation, "auto";
    /// A webhook.
    HookId = Hook, "hook";
    /// A tool of agents: an automation that agents can start by name.
    AgentToolId = AgentTool, "tool";
    /// A delivery: one call of a webhook.
    DeliveryId = Delivery, "dlv";
    /// A run: one execution of an automation.
    RunId = Run, "run";
    /// A dead letter: a failed run or refused call, kept for replay.
    DeadLetterId = DeadLetter, "dl";
    /// An occurrence of a schedule.
    OccurrenceId = Occurrence, "occ";
    /// A backend project.
    ProjectId = Project, "proj";
    /// A key of a backend project.
    ProjectKeyId = ProjectKey, "pkey";
    /// An entry of the audit log.
    AuditId = Audit, "aud";
    /// An e-mail in the outbox.
    MailId = Mail, "mail";
    /// A delivery of a notification to a person.
    NotificationDeliveryId = NotificationDelivery, "nd";
    /// An HTTP request.
    RequestId = Request, "req";
    /// A node: one process of Qala.
    NodeId = Node, "node";
}

impl<K> Id<K> {
    /// Creates an id from the UUID that a store keeps.
    #[must_use]
    pub const fn from_uuid(uuid: Uuid) -> Self {
        Self(uuid, PhantomData)
    }

    /// Returns the UUID, as stores keep it.
    #[must_use]
    pub const fn uuid(self) -> Uuid {
        self.0
    }

    /// Generates an id. Ids sort by the milliseconds of `now`.
    #[must_use]
    pub fn generate(random: &dyn Randomness, now: Timestamp) -> Self {
        Self::from_uuid(random.uuid_v7(now))
    }
}

/// A text that is not an id of the expected kind.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("expected an id of the form `{prefix}_` and 26 characters")]
pub struct InvalidId {
    prefix: &'static str,
}

/// Crockford's base 32 in lower case, as in TypeID.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const ENCODED_LEN: usize = 26;
const MAX_PREFIX_LEN: usize = 8;

fn encode(uuid: Uuid) -> [u8; ENCODED_LEN] {
    let mut rest = uuid.as_u128();
    let mut out = [0_u8; ENCODED_LEN];
    for slot in out.iter_mut().rev() {
        *slot = ALPHABET[(rest & 31) as usize];
        rest >>= 5;
    }
    out
}

fn decode(text: &str) -> Option<Uuid> {
    // 26 characters carry 130 bits: a first character above 7 would overflow 128.
    if text.len() != ENCODED_LEN || text.as_bytes()[0] > b'7' {
        return None;
    }
    text.bytes()
        .try_fold(0_u128, |value, byte| {
            let digit = ALPHABET.iter().position(|candidate| *candidate == byte)?;
            Some(value << 5 | digit as u128)
        })
        .map(Uuid::from_u128)
}

impl<K: Kind> fmt::Display for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const { assert!(K::PREFIX.len() <= MAX_PREFIX_LEN) }
        // Written at once, since a `String` would grow with each part.
        let mut text = [b'_'; MAX_PREFIX_LEN + 1 + ENCODED_LEN];
        let (start, end) = (K::PREFIX.len() + 1, K::PREFIX.len() + 1 + ENCODED_LEN);
        text[..start - 1].copy_from_slice(K::PREFIX.as_bytes());
        text[start..end].copy_from_slice(&encode(self.0));
        f.write_str(std::str::from_utf8(&text[..end]).map_err(|_| fmt::Error)?)
    }
}

impl<K: Kind> fmt::Debug for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<K: Kind> FromStr for Id<K> {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        text.strip_prefix(K::PREFIX)
            .and_then(|rest| rest.strip_prefix('_'))
            .and_then(decode)
            .map(Self::from_uuid)
            .ok_or(InvalidId { prefix: K::PREFIX })
    }
}

impl<K: Kind> Serialize for Id<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de, K: Kind> Deserialize<'de> for Id<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

// Not derived, since derived implementations would require the same of `K`.
impl<K> Clone for Id<K> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<K> Copy for Id<K> {}
impl<K> PartialEq for Id<K> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
impl<K> Eq for Id<K> {}
impl<K> PartialOrd for Id<K> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<K> Ord for Id<K> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.cmp(&other.0)
    }
}
impl<K> Hash for Id<K> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

#[cfg(feature = "openapi")]
impl<K: Kind> utoipa::PartialSchema for Id<K> {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
        utoipa::openapi::ObjectBuilder::new()
            .schema_type(utoipa::openapi::schema::Type::String)
            .pattern(Some(format!("^{}_[0-7][0-9a-hjkmnp-tv-z]{{25}}$", K::PREFIX)))
            .examples([format!("{}_01h455vb4pex5vsknk084sn02q", K::PREFIX)])
            .into()
    }
}

#[cfg(feature = "openapi")]
impl<K: Kind> utoipa::ToSchema for Id<K> {
    fn name() -> std::borrow::Cow<'static, str> {
        let mut name = K::PREFIX.to_owned();
        name[..1].make_ascii_uppercase();
        (name + "Id").into()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_wire_form_is_typeid() {
        // A test vector of the TypeID specification, with the prefix replaced.
        let id = UserId::from_uuid("01890a5d-ac96-774b-bcce-b302099a8057".parse().unwrap());
        assert_eq!(id.to_string(), "usr_01h455vb4pex5vsknk084sn02q");
    }

    #[test]
    fn an_id_of_another_kind_or_shape_is_refused() {
        for text in [
            "",
            "usr",
            "usr_",
            "app_01h455vb4pex5vsknk084sn02q",
            "usr_81h455vb4pex5vsknk084sn02q",
            "usr_01h455vb4pex5vsknk084sn02",
            "usr_01H455VB4PEX5VSKNK084SN02Q",
            "usr_01h455vb4pex5vsknk084sn02é",
        ] {
            assert!(text.parse::<UserId>().is_err(), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn every_id_survives_the_wire(bits: u128) {
            let id = RunId::from_uuid(Uuid::from_u128(bits));
            prop_assert_eq!(id.to_string().parse::<RunId>(), Ok(id));
        }
    }
}
