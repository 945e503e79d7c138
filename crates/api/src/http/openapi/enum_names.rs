//! Comparison of each enumeration in the description with the names that serde reads and writes.

use std::{
    collections::{BTreeMap, BTreeSet},
    marker::PhantomData,
};

use kernel::names::Named;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::document;

/// Enumerations that only responses have, or whose type is private to its operation. The black-box test of the
/// description sends requests with the latter.
const WITHOUT_A_PUBLIC_TYPE: [&str; 18] = [
    "Answer",
    "AnswerSource",
    "BatchMethod",
    "BulkAction",
    "Decision",
    "Deliver",
    "DeliveryStatus",
    "DevicePollStatus",
    "DeviceStatus",
    "DraftHandler",
    "EgressDecision",
    "FixKind",
    "JoinDomainStatus",
    "OccurrenceOutcome",
    "OutcomeView",
    "SecretState",
    "SuggestionKind",
    "ToolInputType",
];

/// Returns the names that serde accepts for a `T`, from the error for a name that it does not accept.
fn names<T: Serialize + DeserializeOwned>() -> BTreeSet<String> {
    let error = serde_json::from_value::<T>(json!("no such name")).err().map(|error| error.to_string());
    let error = error.unwrap_or_default();
    let (_, expected) = error.split_once("expected").unwrap_or_default();
    let names: BTreeSet<String> = expected.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    for name in &names {
        let value = serde_json::from_value::<T>(json!(name)).unwrap();
        assert_eq!(
            serde_json::to_value(value).unwrap(),
            json!(name),
            "read and written under different names"
        );
    }
    names
}

/// The names that a type declares with [`kernel::names!`], if it does. Autoref picks the second implementation for a
/// type without such names.
struct Declared<T>(PhantomData<T>);

trait WithNames {
    fn names(&self) -> Option<BTreeSet<String>>;
}

impl<T: Named> WithNames for Declared<T> {
    fn names(&self) -> Option<BTreeSet<String>> {
        Some(T::NAMES.iter().map(|name| (*name).to_owned()).collect())
    }
}

trait WithoutNames {
    fn names(&self) -> Option<BTreeSet<String>>;
}

impl<T> WithoutNames for &Declared<T> {
    fn names(&self) -> Option<BTreeSet<String>> {
        None
    }
}

#[test]
fn enumerations_that_are_not_documented_have_their_declared_names() {
    macro_rules! check {
        ($($type:ty,)*) => { $(
            let declared: BTreeSet<String> = <$type>::NAMES.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(declared, names::<$type>(), stringify!($type));
        )* };
    }
    check! {
        connections::egress::RefusalCode,
        identity::device::Purpose,
        runs::engine::FailureCode,
        workspace::Plan,
    }
}

#[test]
fn documented_enumerations_have_the_names_on_the_wire() {
    macro_rules! table {
        ($($name:literal: $type:ty,)*) => {{
            $(if let Some(declared) = (&Declared::<$type>(PhantomData)).names() {
                assert_eq!(declared, names::<$type>(), "{}: declared and serialised under different names", $name);
            })*
            BTreeMap::from([$(($name, names::<$type>()),)*])
        }};
    }
    let known = table! {
        "Action": backend_data::rule::Action,
        "AgentAccess": identity::oauth::AgentAccess,
        "AgentAlert": application::feeds::AgentAlert,
        "AgentEventKind": application::feeds::AgentEventKind,
        "AgentToolState": runs::agent_tools::AgentToolState,
        "AiProfile": apps::manifest::AiProfile,
        "AppRightName": kernel::authority::AppRightName,
        "AppStatus": apps::AppStatus,
        "ApprovalState": runs::approvals::ApprovalState,
        "AutomationStatus": runs::automations::AutomationStatus,
        "CatchUp": runs::automations::occurrences::CatchUp,
        "Category": apps::Category,
        "Cell": workspace::workspaces::Cell,
        "ChangeBuilder": apps::versions::ChangeBuilder,
        "ChangeState": apps::changes::ChangeState,
        "Checked": connections::connection_test::Checked,
        "ClientAuthStyle": connections::auth::ClientAuthStyle,
        "ClientKind": identity::oauth::ClientKind,
        "Color": identity::user::Color,
        "ColumnType": backend_data::ColumnType,
        "Comparison": backend_data::rule::Comparison,
        "Confidence": runs::diagnosis::Confidence,
        "ConnectionStatus": connections::connection::ConnectionStatusName,
        "ConnectorAuth": connections::catalogue::CatalogueAuth,
        "ConnectorCategory": connections::catalogue::CatalogueCategory,
        "ConnectorGroup": connections::catalogue::CatalogueGroup,
        "ConnectorRegion": connections::catalogue::CatalogueRegion,
        "ConnectorStatus": connections::catalogue::CatalogueStatus,
        "CredentialHeader": apps::manifest::CredentialHeader,
        "Currency": workspace::workspaces::Currency,
        "DataAccess": apps::manifest::DataAccess,
        "EgressMethod": apps::manifest::EgressMethod,
        "FailureClass": runs::diagnosis::FailureClass,
        "FieldForm": connections::catalogue::FieldForm,
        "GateStatus": connections::GateStatus,
        "HttpMethod": apps::manifest::HttpMethod,
        "ImportFormat": imports::Format,
        "ImportGrade": imports::Grade,
        "FoundKind": application::search::FoundKind,
        "HealthReasonCode": observability::health::HealthReasonCode,
        "ImportStatus": imports::imports::ImportStatus,
        "ImportTrigger": imports::report::TriggerKind,
        "SecretUse": apps::manifest::SecretUse,
        "SettingKind": apps::templates::SettingKind,
        "TemplateTrigger": apps::templates::TemplateTrigger,
        "Intent": workspace::workspaces::Intent,
        "InviteRole": workspace::invites::InviteRole,
        "InviteStatus": workspace::invites::InviteStatus,
        "JoinRole": workspace::join_domains::JoinRole,
        "KeyKind": projects::KeyKind,
        "KeyPlace": connections::auth::KeyPlace,
        "IgnoredKeyReason": projects::identity_provider::IgnoredKeyReason,
        "KeyScope": projects::KeyScope,
        "LetterKind": runs::dead_letters::DeadLetterKind,
        "LetterState": runs::dead_letters::DeadLetterState,
        "Locale": kernel::Locale,
        "NotificationChannel": observability::notifications::Channel,
        "NotificationKind": observability::notifications::NotificationKind,
        "NotificationReason": observability::notifications::DeliveryReason,
        "LogLevel": observability::LogLevel,
        "LogSource": observability::LogSource,
        "Method": connections::gates::Method,
        "Overlap": runs::automations::occurrences::Overlap,
        "Profile": workspace::workspaces::Profile,
        "ProofMode": runs::webhooks::ProofMode,
        "Purpose": identity::device::Purpose,
        "Role": kernel::authority::Role,
        "RunStatus": runs::RunStatus,
        "Scope": kernel::caller::Scope,
        "Sharing": kernel::authority::Sharing,
        "StepStatus": runs::runs::StepStatus,
        "TeamSize": workspace::workspaces::TeamSize,
        "ToolBlock": runs::agent_tools::ToolBlock,
        "TriggerKind": runs::automations::TriggerKind,
        "TrustBand": apps::trust::TrustBand,
        "TrustRule": apps::trust::TrustRule,
        "VersionKind": apps::VersionKind,
        "WhichVersion": runs::dead_letters::WhichVersion,
    };

    let document = serde_json::to_value(document()).unwrap();
    let schemas = document["components"]["schemas"].as_object().unwrap();
    let mut untested = BTreeSet::new();
    for (name, schema) in schemas {
        let Some(documented) = schema["enum"].as_array() else { continue };
        let documented: BTreeSet<String> =
            documented.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        match known.get(name.as_str()) {
            Some(names) => assert_eq!(&documented, names, "{name}"),
            None => {
                untested.insert(name.as_str());
            }
        }
    }
    assert_eq!(
        untested,
        BTreeSet::from(WITHOUT_A_PUBLIC_TYPE),
        "each enumeration must be in one of the lists"
    );
}
