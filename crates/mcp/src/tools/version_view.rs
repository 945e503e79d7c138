//! Versions as tools show them.

use apps::AppVersion;
use kernel::{id::VersionId, rfc3339::to_rfc3339};
use serde_json::{Value, json};

/// Returns a version without its content.
pub(super) fn summary(version: &AppVersion, current: Option<VersionId>) -> Value {
    json!({
        "id": version.id,
        "number": version.number,
        "summary": version.summary,
        "kind": version.kind.as_str(),
        "createdAt": to_rfc3339(&version.created_at),
        "createdByName": version.created_by_name,
        "trustScore": version.trust_score,
        "trustBand": version.trust_band(),
        "isCurrent": current == Some(version.id),
    })
}
