//! JSON of request bodies: read as by serde_json, except that an array is never read as an object.
//!
//! The code that serde derives for a struct also accepts an array of its members in order. No client means that, and an
//! array in place of an object would have effects that nobody intended. Values of any shape ([`RawValue`], `Value`) are
//! left to serde_json.

use std::{borrow::Cow, collections::VecDeque, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{
        DeserializeSeed, Error as _, IntoDeserializer, MapAccess, Unexpected, Visitor,
        value::{MapDeserializer, SeqDeserializer},
    },
};
use serde_json::{Error, value::RawValue};

/// Parses a text.
///
/// # Errors
/// [`Error`] if it is not JSON. Whether it matches a type is checked when it is deserialized.
pub(super) fn parse(bytes: &[u8]) -> Result<StrictJson<'_>, Error> {
    serde_json::from_slice::<&RawValue>(bytes).map(StrictJson)
}

/// Text of one JSON value.
#[derive(Clone, Copy)]
pub(super) struct StrictJson<'de>(&'de RawValue);

/// Members of an object in their order. Duplicate names are left for the type to refuse.
struct Members<'de>(VecDeque<(Cow<'de, str>, StrictJson<'de>)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = VecDeque::new();
                while let Some((name, value)) = map.next_entry_seed(MemberName, std::marker::PhantomData)? {
                    members.push_back((name, StrictJson(value)));
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(Reader)
    }
}

/// Name of a member, borrowed unless it has escapes.
struct MemberName;

impl<'de> DeserializeSeed<'de> for MemberName {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        Cow::deserialize(deserializer)
    }
}

impl<'de> StrictJson<'de> {
    fn begins_with(self, byte: u8) -> bool {
        self.0.get().as_bytes().first() == Some(&byte)
    }

    fn members(
        self,
    ) -> Result<MapDeserializer<'de, impl Iterator<Item = (Cow<'de, str>, Self)>, Error>, Error> {
        let Members(members) = serde_json::from_str(self.0.get())?;
        Ok(MapDeserializer::new(members.into_iter()))
    }
}

impl<'de> IntoDeserializer<'de, Error> for StrictJson<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// Deserializes a kind of value with serde_json.
macro_rules! as_serde_json {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            serde_json::Deserializer::from_str(self.0.get()).$method(visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for StrictJson<'de> {
    type Error = Error;

    as_serde_json! {
        deserialize_any deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128 deserialize_f32 deserialize_f64
        deserialize_char deserialize_str deserialize_string deserialize_bytes deserialize_byte_buf deserialize_unit
        deserialize_identifier deserialize_ignored_any
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.0.get() == "null" { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        // The name, which is not public, with which serde_json marks types that take the text of a value.
        if name == "$serde_json::private::RawValue" {
            return serde_json::Deserializer::from_str(self.0.get())
                .deserialize_newtype_struct(name, visitor);
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if !self.begins_with(b'[') {
            return serde_json::Deserializer::from_str(self.0.get()).deserialize_seq(visitor);
        }
        let items: Vec<&RawValue> = serde_json::from_str(self.0.get())?;
        visitor.visit_seq(SeqDeserializer::new(items.into_iter().map(StrictJson)))
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if !self.begins_with(b'{') {
            return serde_json::Deserializer::from_str(self.0.get()).deserialize_map(visitor);
        }
        visitor.visit_map(self.members()?)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        if self.begins_with(b'[') {
            return Err(Error::invalid_type(Unexpected::Seq, &"an object"));
        }
        if !self.begins_with(b'{') {
            return serde_json::Deserializer::from_str(self.0.get())
                .deserialize_struct(name, fields, visitor);
        }
        visitor.visit_map(self.members()?)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        serde_json::Deserializer::from_str(self.0.get()).deserialize_enum(name, variants, visitor)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Outer {
        name: String,
        #[serde(default)]
        inner: Option<Inner>,
        #[serde(default)]
        list: Vec<Inner>,
        #[serde(default)]
        named: BTreeMap<String, Inner>,
        #[serde(default)]
        pair: Option<(u8, Inner)>,
        #[serde(default)]
        raw: Option<Box<RawValue>>,
        #[serde(default)]
        any: Value,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        n: u64,
    }

    fn read<T: for<'de> Deserialize<'de>>(text_of: &str) -> Result<T, Error> {
        T::deserialize(parse(text_of.as_bytes())?)
    }

    #[test]
    fn an_array_is_never_read_as_an_object() {
        for bad in [
            r#"["a"]"#,
            r#"["a",[1]]"#,
            r#" [ "a" ] "#,
            r#"{"name":"a","inner":[1]}"#,
            r#"{"name":"a","list":[[1]]}"#,
            r#"{"name":"a","list":[{"n":1},[1]]}"#,
            r#"{"name":"a","named":{"x":[1]}}"#,
            r#"{"name":"a","pair":[1,[1]]}"#,
            r#"{"name":"a","inner":"x"}"#,
            r#"{"name":"a","name":"b"}"#,
            r#"{"name":"a","surprise":1}"#,
            r#"{"name":"a"} x"#,
            "",
        ] {
            assert!(read::<Outer>(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn everything_else_is_read_as_by_serde_json() {
        let good = r#" {"n\u0061me":"a\n", "inner": null, "list":[{"n":1}], "named":{"x":{"n":2}}, "pair":[3,{"n":4}],
            "raw": [1e400, {"b" : 1}], "any": [[1], {"a": [null]}]} "#;
        let read: Outer = read(good).unwrap();
        assert_eq!(read.name, "a\n");
        assert!(read.inner.is_none());
        assert_eq!((read.list[0].n, read.named["x"].n), (1, 2));
        assert_eq!(read.pair.map(|(a, b)| (a, b.n)), Some((3, 4)));
        assert_eq!(read.raw.unwrap().get(), r#"[1e400, {"b" : 1}]"#);
        assert_eq!(read.any, json!([[1], {"a": [null]}]));
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            ".{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(".{0,3}", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn values_without_a_shape_are_read_as_serde_json_reads_them(value in any_json()) {
            let written = serde_json::to_string_pretty(&value).unwrap();
            prop_assert_eq!(read::<Value>(&written).unwrap(), value.clone());
            let listed = format!("[{written},{written}]");
            prop_assert_eq!(read::<Vec<Value>>(&listed).unwrap(), vec![value.clone(), value]);
        }
    }
}
