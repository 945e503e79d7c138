//! The names that a type reads, from its implementation of `Deserialize`.

use serde::{
    Deserialize, Deserializer,
    de::{Error as _, Visitor, value::Error},
    forward_to_deserialize_any,
};

/// Returns the names of the variants of an enumeration, or of the fields of a struct, in the order of their declaration.
/// A derived `Deserialize` tells them to the format that it reads from. Empty for any other type.
pub(super) fn serde_names<'de, T: Deserialize<'de>>() -> &'static [&'static str] {
    let mut names: &[&str] = &[];
    // Always an error: the names are known before there is a value.
    drop(T::deserialize(NameCollector(&mut names)));
    names
}

/// A format that keeps the names it is told and has no value.
struct NameCollector<'a>(&'a mut &'static [&'static str]);

impl NameCollector<'_> {
    fn collect<T>(self, names: &'static [&'static str]) -> Result<T, Error> {
        *self.0 = names;
        Err(Error::custom("no value"))
    }
}

impl<'de> Deserializer<'de> for NameCollector<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        self.collect(&[])
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Error> {
        self.collect(variants)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Error> {
        self.collect(fields)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map identifier ignored_any
    }
}
