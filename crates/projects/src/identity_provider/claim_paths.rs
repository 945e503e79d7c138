//! Claims by a path, for tokens whose claims are objects or have names that rules cannot have.

use std::collections::BTreeMap;

use serde_json::Value;

/// Returns the claim of this very name, or what a path such as `a.b` leads to in the claim `a`.
///
/// A name may contain dots itself: of several ways to read a path, the one with the longest first name counts.
///
/// ```
/// use projects::identity_provider::find_claim;
/// use serde_json::json;
///
/// let claims = serde_json::from_value(json!({ "realm_access": { "roles": ["admin"] } })).unwrap();
/// assert_eq!(find_claim(&claims, "realm_access.roles"), Some(&json!(["admin"])));
/// ```
#[must_use]
pub fn find_claim<'a>(claims: &'a BTreeMap<String, Value>, path: &str) -> Option<&'a Value> {
    find(&|name| claims.get(name), path)
}

fn find<'a>(get: &dyn Fn(&str) -> Option<&'a Value>, path: &str) -> Option<&'a Value> {
    get(path).or_else(|| {
        let mut splits = path.rmatch_indices('.').map(|(at, _)| (&path[..at], &path[at + 1..]));
        splits.find_map(|(name, rest)| {
            let inside = get(name)?.as_object()?;
            find(&|name| inside.get(name), rest)
        })
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_claim_is_found_by_its_name_or_its_path() {
        let claims = json!({
            "a.b": 1, "a": { "b": 2, "c": { "d": 3 }, "e.f": 4 }, "https://corp.example/app": { "team": 5 },
            "list": [{ "b": 6 }], "": { "": 7 },
        });
        let claims: BTreeMap<String, Value> = serde_json::from_value(claims).unwrap();
        for (path, expected) in [
            ("a.b", Some(1)),
            ("a.c.d", Some(3)),
            ("a.e.f", Some(4)),
            ("https://corp.example/app.team", Some(5)),
            (".", Some(7)),
            ("a.d", None),
            ("a.b.c", None),
            ("a.", None),
            ("list.b", None),
            ("list.0.b", None),
            ("missing", None),
        ] {
            assert_eq!(find_claim(&claims, path).and_then(Value::as_i64), expected, "{path}");
        }
    }
}
