//! A digest of what a manifest permits.

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::Manifest;

impl Manifest {
    /// Returns the SHA-256 of the permissions in lower-case hexadecimal. The order in which they are listed does not change
    /// it.
    #[must_use]
    pub fn permissions_hash(&self) -> String {
        // Permissions have plain fields only, so that they always serialize.
        let mut permissions = serde_json::to_value(&self.permissions).unwrap_or_default();
        sort_lists(&mut permissions);
        Sha256::digest(permissions.to_string()).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Sorts every list by its items' JSON: all lists of permissions are sets.
fn sort_lists(value: &mut Value) {
    match value {
        Value::Array(items) => {
            items.iter_mut().for_each(sort_lists);
            items.sort_by_cached_key(Value::to_string);
        }
        Value::Object(members) => members.values_mut().for_each(sort_lists),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::manifest;

    fn hash(egress: &Value) -> String {
        let mut manifest = manifest();
        manifest.permissions = serde_json::from_value(json!({ "egress": egress })).unwrap();
        manifest.permissions_hash()
    }

    #[test]
    fn it_follows_the_permissions_and_nothing_else() {
        let both = hash(&json!([{"host": "a.example"}, {"host": "b.example", "methods": ["GET", "POST"]}]));
        assert_eq!(both.len(), 64);
        let same = hash(&json!([{"host": "b.example", "methods": ["POST", "GET"]}, {"host": "a.example"}]));
        assert_eq!(same, both);
        // A manifest of before there were headers, as it was reviewed.
        let without = hash(
            &json!([{"host": "a.example", "headers": []}, {"host": "b.example", "methods": ["GET", "POST"]}]),
        );
        assert_eq!(without, both);
        for other in [
            json!([]),
            json!([{"host": "a.example"}]),
            json!([{"host": "a.example"}, {"host": "b.example"}]),
            json!([{"host": "a.example"}, {"host": "b.example", "methods": ["GET"]}]),
            json!([{"host": "a.example", "headers": ["cookie"]}, {"host": "b.example", "methods": ["GET", "POST"]}]),
        ] {
            assert_ne!(hash(&other), both, "{other}");
        }
        let renamed = Manifest { name: "Another".to_owned(), triggers: Vec::new(), ..manifest() };
        assert_eq!(renamed.permissions_hash(), manifest().permissions_hash());
    }
}
