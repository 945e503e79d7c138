//! Every error of a use case has its code in `docs/errors.md`.

use std::{collections::BTreeSet, time::Duration};

use ::apps::changes::ChangeState;
use ::apps::{AppError, InvalidInput as InvalidApp};
use ::connections::{
    Field, InvalidInput as InvalidConnection, Reason,
    app_secrets::{AppSecretError, InvalidSecret},
    connections::ConnectionError,
    gates::{GateError, InvalidGate},
};
use ::identity::{
    IdentityError, InvalidInput as InvalidIdentity, oauth::ConsentError, passkeys::PasskeyRejected,
};
use ::imports::{
    InvalidSource,
    imports::{ImportError, ImportStatus},
};
use ::kernel::{
    StoreError,
    authority::{AppRightName, AuthorityError, LockError, Role},
    caller::InvalidScopes,
    changes::UnreportableChange,
    page::InvalidPage,
};
use ::projects::{InvalidInput as InvalidProject, ProjectError, access::ProjectAccessError};
use ::runs::{
    InvalidInput as InvalidRun, RunsError, WebhookBreakage,
    agent_tools::{AgentToolState, ToolBlock},
    webhooks::{RateLimitExceeded, WebhookRefusal},
};
use ::workspace::{InvalidInput as InvalidWorkspace, WorkspaceError};

use crate::problem::{Problem, ProblemKind};

const DOCUMENTED: &str = include_str!("../../../../docs/errors.md");

/// Returns the problem of each value. An enumeration of which a variant is missing does not compile.
macro_rules! problems {
    ($($error:ident {
        $($variant:ident $(($($value:expr),+))? $({ $($field:ident: $content:expr),+ })?),+ $(,)?
    })+) => {{
        $(let _: fn(&$error) = |error| match error { $($error::$variant { .. } => (),)+ };)+
        vec![$($(
            Problem::from($error::$variant $(($($value),+))? $({ $($field: $content),+ })?)
        ),+),+]
    }};
}

fn every_problem() -> Vec<Problem> {
    let invalid_text = ::apps::InvalidText::ControlCharacters;
    problems! {
        StoreError {
            Duplicate, NotAudited,
            StorageFull { max_bytes: 1 << 20 }, NotReportable(UnreportableChange { action: String::new(), reason: "" }), Contended("".into()), Unavailable("".into()), Failed("".into()),
            Inconsistent { table: "runs", row: String::new(), what: String::new() },
        }
        AuthorityError {
            NotAPerson, NotAMember, RoleRequired(Role::Admin), AppNotVisible,
            AppRightRequired(AppRightName::CanRun),
        }
        LockError { CredentialEnded, Authority(AuthorityError::NotAMember), Store(StoreError::NotAudited) }
        InvalidPage { Limit, Cursor }
        InvalidScopes { Repeated, Empty, Unknown }
        IdentityError {
            InvalidEmail, InvalidInput(InvalidIdentity::PersonName), InvalidCode, TokenNotFound,
            TokenCannotCreateToken, AdminScopeForbidden, TooManyTokens, DeviceLoginNotFound,
            DeviceLoginNotPending, TooManyDeviceLogins, SessionNotFound, StepUpRequired, NoPasskey,
            PasskeyNotFound, TooManyPasskeys, InvalidCeremony, PasskeyRejected(PasskeyRejected(String::new())),
            EmailNotTrusted, Store(StoreError::NotAudited),
        }
        ConsentError {
            AuthorizationNotFound, AlreadyDecided, ExceedsRequestedAccess, GrantNotFound,
            Store(StoreError::NotAudited),
        }
        WorkspaceError {
            InvalidInput(InvalidWorkspace::Name), WorkspaceNotFound, TooManyWorkspaces, WorkspaceNotDeleted, MemberNotFound, AdminOnly, OwnerOnly,
            LastOwner, OwnerAccessCannotExpire, AlreadyOwner, AlreadyMembers(Vec::new()), TooManyInvites,
            InviteNotFound, WrongInviteEmail, InviteExpired, InviteAccepted, InviteWithdrawn,
            InviteNotPending, PublicDomain, JoinDomainNotFound, DomainNotVerified, DomainTaken,
            Store(StoreError::NotAudited),
        }
        ImportError {
            NotFound, NotInReview(ImportStatus::Enabled), AutomationMissing, TooMany, BindingMissing(Vec::new()), UnknownBinding(String::new()),
            UnknownItem(String::new()), Store(StoreError::NotAudited),
        }
        InvalidSource {
            Empty, TooLong, NotJson { line: 1, column: 1, message: String::new() }, UnknownFormat,
        }
        AppError {
            InvalidInput(InvalidApp::Name(invalid_text)), AppNotFound, VersionConflict, StaleVersion, AlreadyCurrent, VersionUnusable,
            MemberNotFound, NothingToChange, TooManyChanges, ChangeNotFound, ChangeNotOpen(ChangeState::Expired),
            ManifestChanged, EmptyPlan, OutsideBand(Vec::new()), GainNeedsApproval(Vec::new()),
            ConnectionNeedsAdmin { in_console: true }, HeaderNeedsAdmin { in_console: true, reason: String::new() },
            MayNotShare, DraftNotFound, NoVersion,
            Store(StoreError::NotAudited),
        }
        GateError {
            InvalidInput(InvalidGate::Methods), NotFound, AlreadyExists, TooManyGates, BelongsToConnection,
            Store(StoreError::NotAudited),
        }
        ConnectionError {
            InvalidInput(InvalidConnection::new(Field::Secret, Reason::Required)), TooMany, NotFound, UnknownConnector,
            NeedsAuthorization, NotAuthorizable, NoOauthApp, Store(StoreError::NotAudited),
        }
        AppSecretError { Invalid(InvalidSecret::Length), TooMany, AppNotFound, NotFound, Store(StoreError::NotAudited) }
        ProjectError {
            InvalidInput(InvalidProject::Origin), TooManyProjects, TooManyKeys, ProjectNotFound, ProjectNotDeleted, KeyNotFound,
            Store(StoreError::NotAudited),
        }
        ProjectAccessError { NotVisible, EditRequired, OwnRequired }
        RunsError {
            InvalidInput(InvalidRun::Retries), AutomationNotFound, NotAWebhook, WebhookNotFound, NoSecret,
            ConfirmationNeeded(WebhookBreakage::ProofRemoved), NotRunnable, QuotaReached, RunNotFound,
            ApprovalNotFound, ApprovalResolved, RunEnded, RunNotFailed, DeadLetterNotFound, DeadLetterResolved,
            CallAccepted("run_00000000000000000000000000".parse().unwrap()), PayloadGone, NoOriginalVersion, VersionUnusable,
            VersionNotPermitted, AgentToolNotFound, ToolBlocked(ToolBlock::NotDeployed), PermissionsChanged, TooManyTools, ToolNameTaken,
            ToolNotLive(AgentToolState::Off), Store(StoreError::NotAudited),
        }
        WebhookRefusal {
            InvalidBody(String::new()), InvalidIdempotencyKey, BadSignature, BadToken, StaleTimestamp,
            Disabled, BadOrigin, NotFound, Replayed, AutomationPaused, NotRunnable, TriggerNotDeclared,
            QuotaReached, TooLarge { limit_kib: 256 }, UnsupportedMediaType, UnsupportedEncoding,
            RateLimited(RateLimitExceeded { retry_after: Duration::ZERO, limit_per_minute: None }),
            SecretUnreadable, Store(StoreError::NotAudited),
        }
    }
}

#[test]
fn each_code_is_documented() {
    let documented: BTreeSet<&str> = DOCUMENTED
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once("` | "))
        .map(|(code, _)| code)
        .collect();
    assert!(documented.contains("rate_limited"), "the table of the page was not found");
    let missing: BTreeSet<String> = every_problem()
        .into_iter()
        .chain([Problem::changed_meanwhile()])
        .map(|problem| problem.code.into_owned())
        .filter(|code| !documented.contains(&**code))
        .collect();
    assert_eq!(missing, BTreeSet::new(), "describe these codes in docs/errors.md");
}

#[test]
fn a_recorded_delivery_has_the_code_of_the_response() {
    for refusal in [
        WebhookRefusal::InvalidBody(String::new()),
        WebhookRefusal::InvalidIdempotencyKey,
        WebhookRefusal::Disabled,
        WebhookRefusal::BadOrigin,
        WebhookRefusal::Replayed,
        WebhookRefusal::AutomationPaused,
        WebhookRefusal::NotRunnable,
        WebhookRefusal::TriggerNotDeclared,
        WebhookRefusal::QuotaReached,
    ] {
        let recorded = refusal.delivery_code();
        assert_eq!(recorded, Some(&*Problem::from(refusal).code));
    }
}

#[test]
fn a_problem_of_the_server_keeps_its_cause_for_the_log() {
    for problem in every_problem() {
        if matches!(problem.kind, ProblemKind::Internal) {
            assert!(std::error::Error::source(&problem).is_some(), "{problem}");
        }
    }
}

#[test]
fn a_missing_role_is_named_in_the_response() {
    let of = |role| Problem::from(AuthorityError::RoleRequired(role));
    assert_eq!((&*of(Role::Admin).code, of(Role::Admin).kind), ("admin_only", ProblemKind::Forbidden));
    assert_eq!(&*of(Role::Owner).message, "Only owners of the workspace can do this.");
    assert_eq!(&*of(Role::Builder).message, "This requires the role builder or higher.");
    let right = Problem::from(AuthorityError::AppRightRequired(AppRightName::CanEdit));
    assert_eq!(&*right.message, "This requires the right `can_edit` on the app.");
}

#[test]
fn a_refused_manifest_is_named_by_the_field_of_the_request() {
    let manifest = |path: &str| ::apps::InvalidManifest { path: path.to_owned(), what: "is off".to_owned() };
    assert_eq!(&*Problem::from(manifest("")).message, "`manifest` is off");
    assert_eq!(&*Problem::from(manifest("roi.x")).message, "`manifest.roi.x` is off");
}
