//! Types of columns: the domains' values as tables store them.

use std::{borrow::Cow, fmt, str::FromStr};

use kernel::{Id, Timestamp};
use sea_orm::{
    ColIdx, DbErr, QueryResult, TryFromU64, TryGetError, TryGetable, Value,
    sea_query::{ArrayType, ColumnType, Nullable, ValueType, ValueTypeErr},
};
use uuid::Uuid;

/// An id, stored as its bare UUID.
pub struct DbId<K>(pub Id<K>);

/// A time, stored in milliseconds since 1970 in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DbTime(pub Timestamp);

/// A domain value, stored as the text that its domain spells it with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DbText<T>(pub T);

/// A domain value, stored as the number that its domain gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DbNumber<T>(pub T);

/// A domain value that columns store as text.
pub trait StoredText: Sized {
    /// The stored text.
    fn to_text(&self) -> Cow<'_, str>;

    /// Parses a stored text; the error says what is wrong with it.
    fn from_text(text: &str) -> Result<Self, String>;
}

/// Implements [`StoredText`] by a domain's own spelling, in both directions.
macro_rules! stored_text {
    ($($type:ty: $to_text:expr;)*) => {$(
        impl StoredText for $type {
            fn to_text(&self) -> Cow<'_, str> {
                let to_text: fn(&$type) -> Cow<'_, str> = $to_text;
                to_text(self)
            }

            fn from_text(text: &str) -> Result<Self, String> {
                <$type>::from_str(text).map_err(|error| error.to_string())
            }
        }
    )*};
}

stored_text! {
    ::apps::Category: |value| value.as_str().into();
    ::apps::VersionKind: |value| value.as_str().into();
    ::apps::versions::ChangeBuilder: |value| value.as_str().into();
    ::connections::GateStatus: |value| value.as_str().into();
    ::identity::oauth::ClientKind: |value| value.as_str().into();
    ::identity::device::Purpose: |value| value.as_str().into();
    ::identity::sessions::SignInMethod: |value| value.as_str().into();
    ::imports::Format: |value| value.as_str().into();
    ::imports::imports::ImportStatus: |value| value.as_str().into();
    ::observability::notifications::Channel: |value| value.as_str().into();
    ::observability::notifications::DeliveryReason: |value| value.as_str().into();
    ::observability::notifications::DeliveryState: |value| value.as_str().into();
    ::observability::notifications::NotificationKind: |value| value.as_str().into();
    ::projects::KeyKind: |value| value.as_str().into();
    ::runs::AutomationStatus: |value| value.as_str().into();
    ::runs::RunStatus: |value| value.as_str().into();
    ::runs::TriggerKind: |value| value.as_str().into();
    ::runs::approvals::ApprovalState: |value| value.as_str().into();
    ::runs::automations::occurrences::CatchUp: |value| value.as_str().into();
    ::runs::automations::occurrences::Overlap: |value| value.as_str().into();
    ::runs::dead_letters::DeadLetterKind: |value| value.as_str().into();
    ::runs::dead_letters::DeadLetterState: |value| value.as_str().into();
    ::runs::webhooks::ProofMode: |value| value.as_str().into();
    ::workspace::Plan: |value| value.as_str().into();
    ::workspace::invites::InviteRole: |value| value.as_str().into();
    ::workspace::join_domains::JoinRole: |value| value.as_str().into();
    ::workspace::workspaces::Currency: |value| value.as_str().into();
    ::workspace::workspaces::Profile: |value| value.as_str().into();
    ::workspace::workspaces::TeamSize: |value| value.as_str().into();
    ::connections::connection::ConnectionStatusName: |value| value.as_str().into();
    ::connections::connection::SecretPurpose: |value| value.as_str().into();
    kernel::Locale: |value| value.as_str().into();
    kernel::authority::Role: |value| value.as_str().into();
    kernel::authority::Sharing: |value| value.as_str().into();
    ::connections::GateHost: |value| value.as_str().into();
    ::identity::oauth::AgentAccess: |value| value.as_str().into();
    ::identity::oauth::RedirectUri: |value| value.as_str().into();
    ::projects::KeyScopes: |value| value.to_string().into();
    ::workspace::join_domains::Domain: |value| value.as_str().into();
    kernel::caller::Scopes: |value| value.to_string().into();
    std::net::IpAddr: |value| value.to_string().into();
}

/// A domain value that columns store as a small number.
pub trait StoredNumber: Sized {
    /// The stored number.
    fn to_number(self) -> i16;

    /// Returns the value of a stored number, if there is one.
    fn from_number(number: i16) -> Option<Self>;
}

/// Implements [`StoredNumber`] by a domain's own numbers.
macro_rules! stored_number {
    ($($type:ty: $to_number:ident, $from_number:ident;)*) => {$(
        impl StoredNumber for $type {
            fn to_number(self) -> i16 {
                self.$to_number()
            }

            fn from_number(number: i16) -> Option<Self> {
                <$type>::$from_number(number)
            }
        }
    )*};
}

stored_number! {
    ::observability::LogLevel: number, from_number;
    ::observability::LogSource: number, from_number;
    ::observability::Resolution: minutes, from_minutes;
}

/// A stored value that is not one of the column's type. It names its column, since the row is not known here.
fn invalid(index: impl ColIdx, what: impl fmt::Display) -> TryGetError {
    TryGetError::DbErr(DbErr::Type(format!("column {index:?}: {what}")))
}

/// Implements sea-orm's traits for a column type that is stored as `$stored`.
macro_rules! stored_as {
    ([$($generics:tt)*] $type:ty as $stored:ty) => {
        impl<$($generics)*> Nullable for $type {
            fn null() -> Value {
                <$stored as Nullable>::null()
            }
        }

        impl<$($generics)*> TryFromU64 for $type {
            fn try_from_u64(_: u64) -> Result<Self, DbErr> {
                Err(DbErr::ConvertFromU64(stringify!($type)))
            }
        }

        impl<$($generics)*> ValueType for $type {
            fn try_from(value: Value) -> Result<Self, ValueTypeErr> {
                Self::from_stored(&<$stored as ValueType>::try_from(value)?).map_err(|_| ValueTypeErr)
            }

            fn type_name() -> String {
                stringify!($type).to_owned()
            }

            fn array_type() -> ArrayType {
                <$stored as ValueType>::array_type()
            }

            fn column_type() -> ColumnType {
                <$stored as ValueType>::column_type()
            }
        }

        impl<$($generics)*> TryGetable for $type {
            fn try_get_by<I: ColIdx>(row: &QueryResult, index: I) -> Result<Self, TryGetError> {
                let stored = <$stored as TryGetable>::try_get_by(row, index)?;
                Self::from_stored(&stored).map_err(|what| invalid(index, what))
            }
        }
    };
}

impl<K> DbId<K> {
    /// Returns the id.
    pub fn into_inner(self) -> Id<K> {
        self.0
    }
}

impl DbTime {
    /// Returns the time.
    pub fn into_inner(self) -> Timestamp {
        self.0
    }
}

impl<T> DbText<T> {
    /// Returns the value.
    pub fn into_inner(self) -> T {
        self.0
    }
}

stored_as!([K: 'static] DbId<K> as Uuid);
stored_as!([] DbTime as i64);
stored_as!([T: StoredText] DbText<T> as String);
stored_as!([T: StoredNumber] DbNumber<T> as i16);

impl<K> DbId<K> {
    #[expect(clippy::unnecessary_wraps, reason = "one shape for all column types")]
    fn from_stored(uuid: &Uuid) -> Result<Self, String> {
        Ok(Self(Id::from_uuid(*uuid)))
    }
}

impl DbTime {
    fn from_stored(millis: &i64) -> Result<Self, String> {
        Timestamp::from_timestamp_millis(*millis).map(Self).ok_or_else(|| format!("{millis} is no moment"))
    }
}

impl<T: StoredText> DbText<T> {
    fn from_stored(text: &str) -> Result<Self, String> {
        T::from_text(text).map(Self)
    }
}

impl<T: StoredNumber> DbNumber<T> {
    fn from_stored(number: &i16) -> Result<Self, String> {
        T::from_number(*number).map(Self).ok_or_else(|| format!("{number} is unknown"))
    }
}

impl<K> From<DbId<K>> for Value {
    fn from(DbId(id): DbId<K>) -> Self {
        id.uuid().into()
    }
}

impl From<DbTime> for Value {
    fn from(DbTime(time): DbTime) -> Self {
        time.timestamp_millis().into()
    }
}

impl<T: StoredText> From<DbText<T>> for Value {
    fn from(DbText(value): DbText<T>) -> Self {
        value.to_text().into_owned().into()
    }
}

impl<T: StoredNumber> From<DbNumber<T>> for Value {
    fn from(DbNumber(value): DbNumber<T>) -> Self {
        value.to_number().into()
    }
}

impl<K> From<Id<K>> for DbId<K> {
    fn from(id: Id<K>) -> Self {
        Self(id)
    }
}

// By hand, since a derive would ask the same of `K`, which is only a name.

impl<K> Clone for DbId<K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for DbId<K> {}

impl<K> fmt::Debug for DbId<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.uuid().fmt(f)
    }
}

impl<K> PartialEq for DbId<K> {
    fn eq(&self, other: &Self) -> bool {
        self.0.uuid() == other.0.uuid()
    }
}

impl<K> Eq for DbId<K> {}

impl<K> std::hash::Hash for DbId<K> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.uuid().hash(state);
    }
}

#[cfg(test)]
mod tests {
    use kernel::authority::Role;

    use super::*;

    #[test]
    fn values_survive_their_columns() {
        let id = DbId::<kernel::id::kind::Run>::from(Id::from_uuid(Uuid::from_u128(7)));
        assert!(<DbId<_> as ValueType>::try_from(id.into()).is_ok_and(|stored| stored == id));
        let time = DbTime(Timestamp::from_timestamp_millis(1_800_000_000_123).unwrap());
        assert!(<DbTime as ValueType>::try_from(time.into()).is_ok_and(|stored| stored == time));
        let role = DbText(Role::Builder);
        assert!(<DbText<Role> as ValueType>::try_from(role.into()).is_ok_and(|stored| stored == role));
    }

    #[test]
    fn a_text_that_the_domain_does_not_know_is_no_value() {
        assert!(<DbText<Role> as ValueType>::try_from("emperor".into()).is_err());
        assert!(<DbTime as ValueType>::try_from(i64::MAX.into()).is_err());
    }

    #[test]
    fn an_unset_value_is_the_null_of_its_column() {
        assert_eq!(Value::from(None::<DbTime>), Value::BigInt(None));
        assert_eq!(Value::from(None::<DbText<Role>>), Value::String(None));
        assert_eq!(Value::from(None::<DbId<kernel::id::kind::Run>>), Value::Uuid(None));
    }
}
