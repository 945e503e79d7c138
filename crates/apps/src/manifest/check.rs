//! The bounds of a manifest's fields. Each error names the field by its path.

use std::collections::BTreeSet;

use super::{Manifest, ManifestTrigger, Permissions};
use crate::{InvalidManifest, InvalidText};

impl Manifest {
    /// Checks every field against its bounds.
    ///
    /// # Errors
    /// [`InvalidManifest`] with the path of the first field that is out of bounds.
    pub fn check(&self) -> Result<(), InvalidManifest> {
        check_name(&self.name, 2, 60).map_err(|error| InvalidManifest::new("name", error.to_string()))?;
        check_text(&self.description, 4, 280)
            .map_err(|error| InvalidManifest::new("description", error.to_string()))?;
        if !is_archetype(&self.archetype) {
            return Err(InvalidManifest::new("archetype", "must have 2 to 32 lower-case letters"));
        }
        check_permissions(&self.permissions)?;
        check_triggers(&self.triggers)?;
        if !(0.0..=1440.0).contains(&self.roi.manual_minutes_per_run) {
            return Err(InvalidManifest::new("roi.manualMinutesPerRun", "must be from 0 to 1440"));
        }
        Ok(())
    }
}

fn check_permissions(permissions: &Permissions) -> Result<(), InvalidManifest> {
    const AT: &str = "permissions";
    check_count(&format!("{AT}.data"), permissions.data.len(), 16)?;
    check_count(&format!("{AT}.connectors"), permissions.connectors.len(), 16)?;
    check_count(&format!("{AT}.secrets"), permissions.secrets.len(), 50)?;
    check_count(&format!("{AT}.egress"), permissions.egress.len(), 32)?;

    let mut names = BTreeSet::new();
    for (index, data) in permissions.data.iter().enumerate() {
        let at = format!("{AT}.data[{index}]");
        check_binding(&format!("{at}.name"), &data.name, &mut names)?;
        if let Some(tables) = &data.tables {
            check_count(&format!("{at}.tables"), tables.len(), 64)?;
        }
    }
    let mut names = BTreeSet::new();
    for (index, connector) in permissions.connectors.iter().enumerate() {
        let at = format!("{AT}.connectors[{index}]");
        check_binding(&format!("{at}.name"), &connector.name, &mut names)?;
        if connector.methods.as_ref().is_some_and(Vec::is_empty) {
            let message = "must list at least one method; leave it out to allow all";
            return Err(InvalidManifest::new(format!("{at}.methods"), message));
        }
        if let Some(paths) = &connector.paths {
            check_paths(&format!("{at}.paths"), paths)?;
        }
    }
    let mut names = BTreeSet::new();
    for (index, secret) in permissions.secrets.iter().enumerate() {
        let at = format!("{AT}.secrets[{index}]");
        check_binding(&format!("{at}.name"), &secret.name, &mut names)?;
        if secret.uses.as_ref().is_some_and(Vec::is_empty) {
            let message = "must list at least one use; leave it out to allow all";
            return Err(InvalidManifest::new(format!("{at}.uses"), message));
        }
    }
    let mut hosts = BTreeSet::new();
    for (index, egress) in permissions.egress.iter().enumerate() {
        let at = format!("{AT}.egress[{index}]");
        check_host(&format!("{at}.host"), &egress.host)?;
        if !hosts.insert(&egress.host) {
            return Err(InvalidManifest::new(format!("{at}.host"), "is listed twice"));
        }
        if egress.methods.as_ref().is_some_and(Vec::is_empty) {
            return Err(InvalidManifest::new(
                format!("{at}.methods"),
                "must list at least one method; leave it out to allow all",
            ));
        }
        let mut headers = BTreeSet::new();
        if let Some(index) = egress.headers.iter().position(|header| !headers.insert(*header)) {
            return Err(InvalidManifest::new(format!("{at}.headers[{index}]"), "is listed twice"));
        }
    }
    if let Some(ai) = &permissions.ai {
        check_count(&format!("{AT}.ai.models"), ai.models.len(), 16)?;
        if !(0.0..=10_000.0).contains(&ai.monthly_budget_usd) {
            return Err(InvalidManifest::new(format!("{AT}.ai.monthlyBudgetUsd"), "must be from 0 to 10000"));
        }
    }
    Ok(())
}

fn check_triggers(triggers: &[ManifestTrigger]) -> Result<(), InvalidManifest> {
    check_count("triggers", triggers.len(), 16)?;
    for (index, trigger) in triggers.iter().enumerate() {
        let (field, text) = match trigger {
            ManifestTrigger::Schedule { cron, timezone } => {
                if timezone.as_ref().is_some_and(|zone| zone.len() > 64) {
                    return Err(InvalidManifest::new(
                        format!("triggers[{index}].timezone"),
                        "may have at most 64 characters",
                    ));
                }
                ("cron", cron)
            }
            ManifestTrigger::Event { event } => ("event", event),
            ManifestTrigger::Webhook {} | ManifestTrigger::Form {} | ManifestTrigger::Manual {} => continue,
        };
        if text.as_ref().is_some_and(|text| text.len() > 128) {
            return Err(InvalidManifest::new(
                format!("triggers[{index}].{field}"),
                "may have at most 128 characters",
            ));
        }
    }
    Ok(())
}

fn check_count(path: &str, count: usize, max: usize) -> Result<(), InvalidManifest> {
    if count > max {
        Err(InvalidManifest::new(path, format!("must have at most {max} entries")))
    } else {
        Ok(())
    }
}

/// Checks a name that becomes a property of `env`: an ASCII identifier of JavaScript. A leading `__` is refused, since
/// `__proto__` would replace the object's prototype.
fn check_binding<'a>(path: &str, name: &'a str, seen: &mut BTreeSet<&'a str>) -> Result<(), InvalidManifest> {
    let valid = (1..=40).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !name.as_bytes()[0].is_ascii_digit()
        && !name.starts_with("__");
    if !valid {
        return Err(InvalidManifest::new(
            path,
            "must be 1 to 40 ASCII letters, digits and `_`, without a leading digit or `__`",
        ));
    }
    if seen.insert(name) { Ok(()) } else { Err(InvalidManifest::new(path, "is used twice")) }
}

/// Checks paths that requests are compared with. Every program must read them in the same way, so they have no encoded
/// characters and no dot segments.
fn check_paths(at: &str, paths: &[String]) -> Result<(), InvalidManifest> {
    check_count(at, paths.len(), 16)?;
    if paths.is_empty() {
        return Err(InvalidManifest::new(at, "must list at least one path; leave it out to allow all"));
    }
    for (index, path) in paths.iter().enumerate() {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~!$&'()*+,;=:@".contains(&byte);
        let has_dot_segment =
            path.split('/').any(|segment| matches!(segment.split(';').next(), Some("." | "..")));
        if path.len() > 512 || !path.starts_with('/') || !path.bytes().all(is_plain) || has_dot_segment {
            let message = "must be a path of at most 512 characters that begins with /, without dot segments, encoded \
                           characters and a query";
            return Err(InvalidManifest::new(format!("{at}[{index}]"), message));
        }
    }
    Ok(())
}

/// Checks the form of a host name. The gate decides later if it may be called.
fn check_host(path: &str, host: &str) -> Result<(), InvalidManifest> {
    if is_host(host) {
        Ok(())
    } else {
        Err(InvalidManifest::new(path, "must be a lower-case host name without scheme, port or path"))
    }
}

/// Returns `true` for a lower-case host name of ASCII labels, the last of them not a number.
pub(crate) fn is_host(host: &str) -> bool {
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    };
    let has_alphabetic_tld =
        host.rsplit('.').next().is_some_and(|tld| tld.bytes().any(|byte| byte.is_ascii_lowercase()));
    host.len() <= 253 && host.contains('.') && host.split('.').all(label) && has_alphabetic_tld
}

pub(crate) fn is_archetype(text: &str) -> bool {
    (2..=32).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Checks the length of a name in characters after trimming, and that it is one line of visible characters.
pub(crate) fn check_name(text: &str, min: usize, max: usize) -> Result<(), InvalidText> {
    check_text(text, min, max)?;
    if text.contains('\n') { Err(InvalidText::ControlCharacters) } else { Ok(()) }
}

/// Checks the length of a text in characters after trimming, and that it has visible characters and line feeds only.
pub(crate) fn check_text(text: &str, min: usize, max: usize) -> Result<(), InvalidText> {
    let length = text.trim().chars().count();
    if !(min..=max).contains(&length) {
        return Err(InvalidText::Length { min, max });
    }
    if !kernel::text::is_visible_text(text) {
        return Err(InvalidText::ControlCharacters);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::Category;

    fn manifest(change: impl FnOnce(&mut Value)) -> Result<Manifest, InvalidManifest> {
        let plain = Manifest::minimal("Orders", "Takes orders.", "workshop", Category::Data);
        let mut json = serde_json::to_value(plain).unwrap();
        change(&mut json);
        Manifest::parse(&json)
    }

    #[test]
    fn each_refusal_names_its_field() {
        assert!(manifest(|_| ()).is_ok());
        let project = "proj_01h455vb4pex5vsknk084sn02q";
        let connector = |limits: Value| {
            let mut entry = json!({"name": "crm", "connectionId": "conn_01h455vb4pex5vsknk084sn02q"});
            entry.as_object_mut().unwrap().extend(limits.as_object().unwrap().clone());
            json!([entry])
        };
        let cases: [(&str, Value, &str); 31] = [
            ("", json!(["Orders", "Takes orders.", "workshop", "data"]), ""),
            ("/permissions", json!([[], [], [], [], null]), "permissions"),
            (
                "/permissions/egress",
                json!([{"host": "a.example"}, ["b.example", ["GET"]]]),
                "permissions.egress[1]",
            ),
            ("/triggers", json!([["manual"]]), "triggers[0]"),
            ("/name", json!("x"), "name"),
            ("/description", json!("abc"), "description"),
            ("/archetype", json!("Tower!"), "archetype"),
            ("/category", json!("fun"), "category"),
            ("/permissions/egress", json!([{"host": "https://a.example"}]), "permissions.egress[0].host"),
            ("/permissions/egress", json!([{"host": "10.0.0.1"}]), "permissions.egress[0].host"),
            (
                "/permissions/egress",
                json!([{"host": "a.example", "methods": []}]),
                "permissions.egress[0].methods",
            ),
            ("/permissions/egress", json!([{"host": "a.example", "port": 1}]), "permissions.egress[0].port"),
            (
                "/permissions/egress",
                json!([{"host": "a.example", "methods": ["CONNECT"]}]),
                "permissions.egress[0].methods[0]",
            ),
            (
                "/permissions/egress",
                json!([{"host": "a.example", "headers": ["authorization", "host"]}]),
                "permissions.egress[0].headers[1]",
            ),
            (
                "/permissions/egress",
                json!([{"host": "a.example", "headers": ["cookie", "cookie"]}]),
                "permissions.egress[0].headers[1]",
            ),
            (
                "/permissions/data",
                json!([{"name": "1a", "projectId": project, "access": "read"}]),
                "permissions.data[0].name",
            ),
            (
                "/permissions/data",
                json!([{"name": "__proto__", "projectId": project, "access": "read"}]),
                "permissions.data[0].name",
            ),
            (
                "/permissions/data",
                json!([{"name": "a", "projectId": "x", "access": "read"}]),
                "permissions.data[0].projectId",
            ),
            (
                "/permissions/connectors",
                connector(json!({"methods": []})),
                "permissions.connectors[0].methods",
            ),
            (
                "/permissions/connectors",
                connector(json!({"methods": ["TRACE"]})),
                "permissions.connectors[0].methods[0]",
            ),
            ("/permissions/connectors", connector(json!({"paths": []})), "permissions.connectors[0].paths"),
            (
                "/permissions/connectors",
                connector(json!({"paths": ["/a", "b"]})),
                "permissions.connectors[0].paths[1]",
            ),
            (
                "/permissions/connectors",
                connector(json!({"paths": ["/a/../b"]})),
                "permissions.connectors[0].paths[0]",
            ),
            (
                "/permissions/connectors",
                connector(json!({"paths": ["/a%2fb"]})),
                "permissions.connectors[0].paths[0]",
            ),
            ("/permissions/secrets", json!([{"name": "a b"}]), "permissions.secrets[0].name"),
            ("/permissions/secrets", json!([{"name": "A"}, {"name": "A"}]), "permissions.secrets[1].name"),
            ("/permissions/secrets", json!([{"name": "A", "uses": []}]), "permissions.secrets[0].uses"),
            (
                "/permissions/secrets",
                json!([{"name": "A", "uses": ["show"]}]),
                "permissions.secrets[0].uses[0]",
            ),
            ("/triggers", json!([{"type": "telepathy"}]), "triggers[0]"),
            ("/roi/manualMinutesPerRun", json!(1441), "roi.manualMinutesPerRun"),
            (
                "/permissions/ai",
                json!({"profile": "standard", "monthlyBudgetUsd": -1}),
                "permissions.ai.monthlyBudgetUsd",
            ),
        ];
        for (pointer, value, field) in cases {
            let error = manifest(|json| *json.pointer_mut(pointer).unwrap() = value.clone()).unwrap_err();
            assert!(error.to_string().contains(&format!("`{field}")), "{value}: {error}");
        }
    }
}
