//! Gives each variant of a tagged enumeration a schema of its own. Generators name types after schemas: they number
//! variants without a name, and cannot generate a variant that contains its own enumeration.

use std::collections::BTreeMap;

use utoipa::openapi::{
    Ref, RefOr, Schema,
    schema::{Discriminator, Object},
};

/// Moves the variants of tagged enumerations to the components.
pub(super) fn name_variants(schemas: &mut BTreeMap<String, RefOr<Schema>>) {
    let mut named = BTreeMap::new();
    for (enumeration, schema) in schemas.iter_mut() {
        let RefOr::T(Schema::OneOf(one_of)) = schema else { continue };
        let tags: Option<Vec<(String, String)>> = one_of.items.iter().map(tag).collect();
        let Some(tags) = tags.filter(|tags| !tags.is_empty()) else { continue };
        let mut mapping = Vec::with_capacity(tags.len());
        for (item, (_, value)) in one_of.items.iter_mut().zip(&tags) {
            let name = format!("{enumeration}{}", pascal(value));
            let variant = std::mem::replace(item, Ref::from_schema_name(&name).into());
            mapping.push((value.clone(), format!("#/components/schemas/{name}")));
            named.insert(name, variant);
        }
        let mut discriminator = Discriminator::new(tags[0].0.clone());
        discriminator.mapping = mapping.into_iter().collect();
        one_of.discriminator = Some(discriminator);
    }
    schemas.extend(named);
}

/// Returns the member that holds the tag of a variant, and its only value.
fn tag(variant: &RefOr<Schema>) -> Option<(String, String)> {
    let RefOr::T(Schema::Object(object)) = variant else { return None };
    object.properties.iter().find_map(|(name, schema)| match schema {
        RefOr::T(Schema::Object(Object { enum_values: Some(values), .. })) => match &values[..] {
            [value] => Some((name.clone(), value.as_str()?.to_owned())),
            _ => None,
        },
        _ => None,
    })
}

fn pascal(value: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>())
    };
    value.split('_').filter_map(word).collect()
}
