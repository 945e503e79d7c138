//! Conversions between the columns' types and the domains'.

use std::str::FromStr;

use kernel::{Id, StoreError, Timestamp, token::Digest};
use uuid::Uuid;

use crate::{entity::column::DbId, error::inconsistent};

/// Returns a time as its column stores it.
pub(crate) fn millis(timestamp: Timestamp) -> i64 {
    timestamp.timestamp_millis()
}

/// Returns a time as its column gives it back.
pub(crate) fn truncate_to_millis(timestamp: Timestamp) -> Timestamp {
    Timestamp::from_timestamp_millis(millis(timestamp)).unwrap_or(timestamp)
}

/// Latest time of a UUIDv7, in milliseconds since 1970 (RFC 9562, section 5.7).
const MAX_UUID_MILLIS: u64 = (1 << 48) - 1;

/// Returns the smallest id of version 7 of a time: these begin with it, in milliseconds (RFC 9562, section 5.7).
pub(crate) fn min_uuid_v7_at(timestamp: Timestamp) -> Uuid {
    // An id has 48 bits of time: later ones are after every id.
    let millis = u64::try_from(millis(timestamp)).unwrap_or_default().min(MAX_UUID_MILLIS);
    uuid::Builder::from_unix_timestamp_millis(millis, &[0; 10]).into_uuid()
}

/// A row on its way into a domain value, which errors name.
#[derive(Clone, Copy)]
pub(crate) struct RowContext {
    pub(crate) table: &'static str,
    pub(crate) id: Uuid,
}

impl RowContext {
    pub(crate) fn new<K>(table: &'static str, id: impl Into<DbId<K>>) -> Self {
        Self { table, id: id.into().0.uuid() }
    }

    pub(crate) fn error(self, what: impl std::fmt::Display) -> StoreError {
        inconsistent(self.table, self.id, what)
    }

    pub(crate) fn timestamp(self, millis: i64) -> Result<Timestamp, StoreError> {
        Timestamp::from_timestamp_millis(millis)
            .ok_or_else(|| self.error(format_args!("{millis} is no moment")))
    }

    pub(crate) fn optional_timestamp(self, millis: Option<i64>) -> Result<Option<Timestamp>, StoreError> {
        millis.map(|millis| self.timestamp(millis)).transpose()
    }

    pub(crate) fn parse<T: FromStr<Err: std::fmt::Display>>(self, text: &str) -> Result<T, StoreError> {
        text.parse().map_err(|error| self.error(error))
    }

    pub(crate) fn number<T: TryFrom<i64>>(self, number: i64) -> Result<T, StoreError> {
        T::try_from(number).map_err(|_| self.error(format_args!("{number} is out of range")))
    }

    pub(crate) fn json<T: serde::de::DeserializeOwned>(self, text: &str) -> Result<T, StoreError> {
        serde_json::from_str(text).map_err(|error| self.error(error))
    }
}

/// Returns a value as JSON text; our own types do not fail to be serialised.
pub(crate) fn to_json<T: serde::Serialize>(value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Failed(error.into()))
}

pub(crate) fn ids<K>(ids: &[Id<K>]) -> Vec<Uuid> {
    ids.iter().map(|id| id.uuid()).collect()
}

/// Digests as their columns store them.
pub(crate) fn digest_bytes(digests: &[Digest]) -> Vec<Vec<u8>> {
    digests.iter().map(|digest| digest.as_bytes().to_vec()).collect()
}

/// Returns the digest that a row is stored under.
pub(crate) fn parse_digest(row: RowContext, bytes: &[u8]) -> Result<[u8; Digest::LEN], StoreError> {
    let digest = Digest::from_slice(bytes).ok_or_else(|| row.error("the digest has another length"))?;
    Ok(*digest.as_bytes())
}

/// A text as a part of a pattern whose escape character is `\`.
pub(crate) fn escape_like(text: &str) -> String {
    text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_")
}
