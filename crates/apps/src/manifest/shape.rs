//! Arrays in place of objects. The code that serde derives for a struct also accepts an array of its members in order;
//! no client means that.

use serde_json::Value;

/// Returns the path of the first array of `json` that was read as an object. `read` is the serialized result.
pub(super) fn array_read_as_object(json: &Value, read: &Value) -> Option<String> {
    match (json, read) {
        (Value::Array(_), Value::Object(_)) => Some(String::new()),
        (Value::Array(items), Value::Array(read)) => {
            items.iter().zip(read).enumerate().find_map(|(index, (item, read))| {
                array_read_as_object(item, read).map(|path| join(&format!("[{index}]"), &path))
            })
        }
        (Value::Object(members), Value::Object(read)) => members.iter().find_map(|(name, member)| {
            array_read_as_object(member, read.get(name)?).map(|path| join(name, &path))
        }),
        _ => None,
    }
}

fn join(segment: &str, path: &str) -> String {
    if path.is_empty() || path.starts_with('[') {
        format!("{segment}{path}")
    } else {
        format!("{segment}.{path}")
    }
}
