//! Deserialization of internally tagged enums from JSON objects alone.
//!
//! The derived code of an internally tagged enum also accepts an array: its first item is the tag, the others are the
//! members by position. The API gives positions no meaning, so a type that is read from a request derives with
//! `#[serde(remote = "Self")]` and deserializes through [`Object`].

use std::fmt;

use serde::{
    Deserializer,
    de::{MapAccess, Visitor},
    forward_to_deserialize_any,
};

/// A deserializer that accepts maps and nothing else.
pub(crate) struct Object<D>(pub(crate) D);

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Object<D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_any(MapOnly(visitor))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

struct MapOnly<V>(V);

impl<'de, V: Visitor<'de>> Visitor<'de> for MapOnly<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(map)
    }
}

/// Implements serde's traits for enums that derive with `#[serde(remote = "Self")]`; they are read from objects alone.
macro_rules! object_only {
    ($($type:ty),+) => { $(
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                <$type>::deserialize($crate::objects::Object(deserializer))
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                <$type>::serialize(self, serializer)
            }
        }
    )+ };
}

pub(crate) use object_only;
