//! Names and texts with bounds.

use std::borrow::Cow;

use backend_data::{MAX_COLUMN_NAME, MAX_TABLE_NAME, rule::MAX_TEXT};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        RefOr,
        schema::{ObjectBuilder, Schema, Type},
    },
};

macro_rules! texts {
    ($($(#[doc = $doc:literal])* $name:ident: $schema:expr;)*) => {$(
        $(#[doc = $doc])*
        pub(crate) struct $name;

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                $schema.into()
            }
        }

        impl ToSchema for $name {
            fn name() -> Cow<'static, str> {
                stringify!($name).into()
            }
        }
    )*};
}

texts! {
    /// A table's name.
    TableName: name(MAX_TABLE_NAME, "notes");
    /// A column's name.
    ColumnName: name(MAX_COLUMN_NAME, "title");
    /// A text that a rule compares a column to.
    RuleText: ObjectBuilder::new().schema_type(Type::String).max_length(Some(MAX_TEXT)).examples(["open"]);
}

fn name(most: usize, example: &str) -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some("A lowercase letter, then lowercase letters, digits and underscores."))
        .pattern(Some(format!("^[a-z][a-z0-9_]{{0,{}}}$", most - 1)))
        .examples([example])
}
