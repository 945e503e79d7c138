//! Descriptions of enumerations.

use serde::Deserialize;
use utoipa::openapi::{
    ObjectBuilder, RefOr, Schema,
    schema::{SchemaType, Type},
};

use super::serde_names::serde_names;

/// Describes enumerations of domain crates: a doc comment, which becomes the description, the name of the schema, and the
/// type that has the names.
macro_rules! enumerations {
    ($($(#[doc = $line:literal])+ $name:ident: $type:ty;)+) => {$(
        $(#[doc = $line])+
        #[derive(Debug)]
        pub(crate) struct $name;

        // The descriptions of structs read the names of the type as well.
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                <$type as serde::Deserialize>::deserialize(deserializer).map(|_| Self)
            }
        }

        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                $crate::http::schemas::enumeration::describe::<$type>(&[$($line),+])
            }
        }

        impl utoipa::ToSchema for $name {
            fn name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
        }
    )+};
}
pub(super) use enumerations;

/// Returns the schema of a `T`, with the lines of a doc comment as its description.
pub(super) fn describe<'de, T: Deserialize<'de>>(doc: &[&str]) -> RefOr<Schema> {
    let description: Vec<&str> = doc.iter().map(|line| line.trim()).collect();
    ObjectBuilder::new()
        .schema_type(SchemaType::new(Type::String))
        .description(Some(description.join("\n")))
        .enum_values(Some(serde_names::<T>().iter().copied()))
        .into()
}
