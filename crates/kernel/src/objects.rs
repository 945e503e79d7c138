//! Enumerations that are JSON objects on the wire, with their kind in a field.
//!
//! The code that serde derives for an internally tagged enumeration also accepts an array: its first item is the kind,
//! the others are the fields by position. Nothing on the wire has its meaning by position, so a type that is read from a
//! request derives with `#[serde(remote = "Self")]` and deserializes through [`Object`].

use std::fmt;

use serde::{
    Deserializer,
    de::{MapAccess, Visitor},
    forward_to_deserialize_any,
};

/// A deserializer that accepts only maps.
#[derive(Debug)]
pub struct Object<D>(pub D);

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Object<D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_any(MapOnlyVisitor(visitor))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

struct MapOnlyVisitor<V>(V);

impl<'de, V: Visitor<'de>> Visitor<'de> for MapOnlyVisitor<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(map)
    }
}

/// Implements `Deserialize`, and with `and written` also `Serialize`, for an enumeration that derives them with
/// `#[serde(remote = "Self")]`. Accepts only objects.
#[macro_export]
macro_rules! object_only {
    ($type:ty) => {
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                <$type>::deserialize($crate::objects::Object(deserializer))
            }
        }
    };
    ($type:ty, and written) => {
        $crate::object_only!($type);

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                <$type>::serialize(self, serializer)
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};
    use serde_json::json;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(remote = "Self", tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
    enum Shape {
        Point,
        Circle { radius: u32 },
        Both { parts: Vec<Shape> },
    }

    object_only!(Shape, and written);

    #[test]
    fn objects_are_read_and_arrays_are_not() {
        let both = json!({"kind": "both", "parts": [{"kind": "point"}, {"kind": "circle", "radius": 1}]});
        let shape: Shape = serde_json::from_value(both.clone()).unwrap();
        assert_eq!(shape, Shape::Both { parts: vec![Shape::Point, Shape::Circle { radius: 1 }] });
        assert_eq!(serde_json::to_value(&shape).unwrap(), both);
        for bad in [
            json!(["point"]),
            json!(["circle", 1]),
            json!({"kind": "both", "parts": [["point"]]}),
            json!({"kind": "both", "parts": [{"kind": "both", "parts": [["circle", 1]]}]}),
            json!({"kind": "circle", "radius": 1, "colour": "red"}),
            json!("point"),
            json!(null),
        ] {
            assert!(serde_json::from_value::<Shape>(bad.clone()).is_err(), "{bad}");
        }
    }
}
