//! The safe band: what a caller may publish without a person who approves it, because it gives the app nothing that it does
//! not have. One rule for versions, new apps, templates, drafts, rollbacks, imports and planned changes.

use kernel::{
    Caller,
    authority::{Role, Sharing},
    caller::Scope,
};

use crate::{
    AppError, Manifest,
    manifest::diff::{Difference, Subject, diff_manifests, widens},
    trust::TrustBand,
};

/// A reason why a version is outside the safe band.
#[derive(Debug, Clone, PartialEq)]
pub enum OutsideBand {
    /// The app gains a permission.
    Permission(Difference),
    /// The app gains a connection, by its name in the code.
    Connector(String),
    /// The code gains headers with credentials that it may set itself.
    Header(Difference),
    /// The budget for AI models rises.
    Budget,
    /// More people can see the app.
    Sharing,
    /// The trust band is worse.
    Trust,
    /// Visitors may see what they could not see before: the app answers their requests, and may use rows, secrets, connections
    /// or models that it did not use, or it begins to answer.
    Visitors,
}

/// The reach of a version: what it may do, and how far it can be trusted.
#[derive(Debug, Clone, Copy)]
pub struct Reach<'a> {
    /// Manifest.
    pub manifest: &'a Manifest,
    /// Trust score, 0 to 100.
    pub trust_score: u8,
    /// True if it answers requests of visitors.
    pub has_fetch: bool,
    /// Sharing of the app.
    pub sharing: Sharing,
}

/// The rule that decides whether a caller may publish what is outside the safe band. A connection and a header with
/// credentials need an admin in the console under every rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PublishRule {
    /// The caller publishes what they wrote: a token without the scope `admin`, an agent and a person below builder stay
    /// inside.
    Direct,
    /// The caller approves what they planned: a token stays inside. A session of any role does not (specification part B,
    /// "States and transitions").
    Planned,
    /// The caller turns on what was reviewed.
    Reviewed,
}

/// Returns why a version is outside the safe band; nothing if it is inside.
#[must_use]
pub fn reasons_outside(before: Reach<'_>, after: Reach<'_>) -> Vec<OutsideBand> {
    let is_budget_alone = only_budget_changes(before.manifest, after.manifest);
    let mut gains = diff_manifests(before.manifest, after.manifest);
    gains.retain(|it| it.widens_access && it.subject.is_permission());
    gains.retain(|it| !(it.subject == Subject::Ai && is_budget_alone));
    let budget =
        |manifest: &Manifest| manifest.permissions.ai.as_ref().map_or(0.0, |ai| ai.monthly_budget_usd);
    let rises = budget(after.manifest) > budget(before.manifest);
    let shows_more = if before.has_fetch {
        gains.iter().any(|it| is_something_to_show(it.subject))
    } else {
        has_something_to_show(after.manifest)
    };
    let mut reasons: Vec<OutsideBand> = gains
        .into_iter()
        .map(|it| match it.subject {
            Subject::Connector => OutsideBand::Connector(it.name),
            Subject::Header => OutsideBand::Header(it),
            _ => OutsideBand::Permission(it),
        })
        .collect();
    reasons.extend(rises.then_some(OutsideBand::Budget));
    reasons.extend(widens(before.sharing, after.sharing).then_some(OutsideBand::Sharing));
    let band = |score| TrustBand::from_score(score) as u8;
    // The bands are declared from the best to the worst.
    reasons.extend((band(after.trust_score) > band(before.trust_score)).then_some(OutsideBand::Trust));
    reasons.extend((after.has_fetch && shows_more).then_some(OutsideBand::Visitors));
    reasons
}

/// Checks that a caller may publish what is outside the safe band for these reasons.
///
/// # Errors
/// * [`AppError::ConnectionNeedsAdmin`] and [`AppError::HeaderNeedsAdmin`] when the app gains a connection or a header with
///   credentials, and the caller is no admin in the console
/// * [`AppError::OutsideBand`] when a person in the console has to approve it
pub fn check_gains(
    caller: &Caller,
    role: Role,
    rule: PublishRule,
    reasons: &[OutsideBand],
) -> Result<(), AppError> {
    let is_connector = |reason: &OutsideBand| matches!(reason, OutsideBand::Connector(_));
    if reasons.iter().any(is_connector) {
        check_connection_gain(caller, role)?;
    }
    let header = reasons.iter().find_map(|reason| match reason {
        OutsideBand::Header(difference) => Some(difference),
        _ => None,
    });
    if let Some(header) = header
        && !is_admin_in_console(caller, role)
    {
        let reason = header.describe(kernel::Locale::En);
        return Err(AppError::HeaderNeedsAdmin { in_console: is_in_console(caller), reason });
    }
    if reasons.is_empty() || !is_confined(caller, role, rule) {
        return Ok(());
    }
    let reasons = reasons.iter().map(|reason| reason.describe(kernel::Locale::En)).collect();
    Err(match rule {
        PublishRule::Planned => AppError::OutsideBand(reasons),
        PublishRule::Direct | PublishRule::Reviewed => AppError::GainNeedsApproval(reasons),
    })
}

/// Checks that a caller may let an app use a connection that it did not use: an admin in the console.
///
/// # Errors
/// [`AppError::ConnectionNeedsAdmin`] otherwise.
pub fn check_connection_gain(caller: &Caller, role: Role) -> Result<(), AppError> {
    if is_admin_in_console(caller, role) {
        Ok(())
    } else {
        Err(AppError::ConnectionNeedsAdmin { in_console: is_in_console(caller) })
    }
}

fn is_in_console(caller: &Caller) -> bool {
    matches!(caller, Caller::Session(_) | Caller::System(_))
}

fn is_admin_in_console(caller: &Caller, role: Role) -> bool {
    is_in_console(caller) && role.at_least(Role::Admin)
}

/// Returns `true` if a caller publishes inside the safe band only.
#[must_use]
pub fn is_confined(caller: &Caller, role: Role, rule: PublishRule) -> bool {
    match (rule, caller) {
        (PublishRule::Reviewed, _) | (_, Caller::System(_)) => false,
        (PublishRule::Planned, caller) => !matches!(caller, Caller::Session(_)),
        (PublishRule::Direct, Caller::Token(token)) => {
            token.grant.is_some() || !token.scopes.allows(Scope::Admin) || !role.at_least(Role::Builder)
        }
        (PublishRule::Direct, _) => !role.at_least(Role::Builder),
    }
}

fn only_budget_changes(before: &Manifest, after: &Manifest) -> bool {
    match (&before.permissions.ai, &after.permissions.ai) {
        (Some(before), Some(after)) => before.profile == after.profile && before.models == after.models,
        _ => false,
    }
}

/// Returns `true` for permissions with which code can tell a visitor more than it has itself. What hosts tell, a visitor could
/// ask for, unless the code signs in there.
fn is_something_to_show(subject: Subject) -> bool {
    matches!(subject, Subject::Data | Subject::Secret | Subject::Connector | Subject::Header | Subject::Ai)
}

/// Returns `true` if code with this manifest can tell a visitor more than it has itself.
fn has_something_to_show(manifest: &Manifest) -> bool {
    let it = &manifest.permissions;
    let signs_in = it.egress.iter().any(|egress| !egress.headers.is_empty());
    !it.data.is_empty() || !it.secrets.is_empty() || !it.connectors.is_empty() || signs_in || it.ai.is_some()
}

#[cfg(test)]
mod tests {
    use kernel::{
        caller::{Scopes, TokenCaller},
        testing::{id, session_of, token_of},
    };

    use super::*;
    use crate::{
        manifest::{AiPermission, AiProfile, CredentialHeader, DataAccess, DataPermission, EgressPermission},
        testing::manifest,
    };

    fn reach(manifest: &Manifest) -> Reach<'_> {
        Reach { manifest, trust_score: 100, has_fetch: false, sharing: Sharing::Private }
    }

    fn with_rows() -> Manifest {
        let mut manifest = manifest();
        let data = DataPermission {
            name: "main".to_owned(),
            project_id: id(5),
            access: DataAccess::Read,
            tables: None,
        };
        manifest.permissions.data.push(data);
        manifest
    }

    #[test]
    fn visitors_are_a_gain_where_there_is_something_to_show() {
        let (bare, rows) = (manifest(), with_rows());
        let serving = |manifest| Reach { has_fetch: true, ..reach(manifest) };
        assert_eq!(reasons_outside(reach(&bare), serving(&bare)), []);
        assert_eq!(reasons_outside(reach(&rows), serving(&rows)), [OutsideBand::Visitors]);
        assert_eq!(reasons_outside(serving(&rows), serving(&rows)), []);
        assert_eq!(reasons_outside(serving(&rows), reach(&rows)), []);
        // Hosts alone are nothing that a visitor could not read.
        let mut hosts = manifest();
        hosts.permissions.egress.push(EgressPermission::new("a.example", None));
        assert_eq!(reasons_outside(reach(&hosts), serving(&hosts)), []);
    }

    #[test]
    fn what_an_app_that_answers_visitors_gains_is_theirs_too() {
        let serving = |manifest| Reach { has_fetch: true, ..reach(manifest) };
        let (bare, rows) = (manifest(), with_rows());
        let of = |before, after| {
            let reasons = reasons_outside(before, after);
            (reasons.len(), reasons.contains(&OutsideBand::Visitors))
        };
        assert_eq!(of(serving(&bare), serving(&rows)), (2, true));
        // Rows of another project, for an app that shows some already.
        let mut more = rows.clone();
        more.permissions.data[0].project_id = id(6);
        assert_eq!(of(serving(&rows), serving(&more)), (2, true));
        let mut fewer = rows.clone();
        fewer.permissions.data[0].tables = Some(vec!["orders".to_owned()]);
        assert_eq!(of(serving(&rows), serving(&fewer)), (0, false));
        // Nobody asks an app without a handler.
        assert_eq!(of(reach(&bare), reach(&rows)), (1, false));
        assert_eq!(of(serving(&bare), reach(&rows)), (1, false));
        // Hosts, sharing and budgets show nothing.
        let mut other = rows.clone();
        other.permissions.egress.push(EgressPermission::new("a.example", None));
        let ai = |budget| AiPermission {
            profile: AiProfile::Standard,
            models: Vec::new(),
            monthly_budget_usd: budget,
        };
        other.permissions.ai = Some(ai(9.0));
        let mut known = rows.clone();
        known.permissions.ai = Some(ai(5.0));
        let shared = Reach { sharing: Sharing::Team, ..serving(&other) };
        assert_eq!(of(serving(&known), shared), (3, false));
        // A host where the code signs in does.
        let mut signed_in = other.clone();
        signed_in.permissions.egress[0].headers.push(CredentialHeader::Authorization);
        assert_eq!(of(serving(&other), serving(&signed_in)), (2, true));
        assert!(of(reach(&bare), serving(&signed_in)).1);
        // Models do.
        assert_eq!(of(serving(&rows), serving(&known)), (3, true));
    }

    #[test]
    fn sharing_and_trust_count() {
        let bare = manifest();
        let before = reach(&bare);
        assert_eq!(
            reasons_outside(before, Reach { sharing: Sharing::Team, ..before }),
            [OutsideBand::Sharing]
        );
        assert_eq!(reasons_outside(before, Reach { trust_score: 79, ..before }), [OutsideBand::Trust]);
        assert_eq!(reasons_outside(before, Reach { trust_score: 80, ..before }), []);
    }

    #[test]
    fn who_stays_inside_follows_from_caller_role_and_rule() {
        use PublishRule::{Direct, Planned, Reviewed};
        let token = |scope| token_of(id(1), id(2), Scopes::of(scope));
        let agent = match token(Scope::Admin) {
            Caller::Token(token) => Caller::Token(TokenCaller { grant: Some(id(9)), ..token }),
            other => other,
        };
        let session = session_of(id(1));
        for (caller, role, [direct, planned]) in [
            (&session, Role::Owner, [false, false]),
            (&session, Role::Builder, [false, false]),
            (&session, Role::Member, [true, false]),
            (&session, Role::Viewer, [true, false]),
            (&token(Scope::Write), Role::Owner, [true, true]),
            (&token(Scope::Admin), Role::Builder, [false, true]),
            (&token(Scope::Admin), Role::Member, [true, true]),
            (&agent, Role::Owner, [true, true]),
            (&Caller::System("worker"), Role::Viewer, [false, false]),
        ] {
            assert_eq!(is_confined(caller, role, Direct), direct, "{caller:?} {role}");
            assert_eq!(is_confined(caller, role, Planned), planned, "{caller:?} {role}");
            assert!(!is_confined(caller, role, Reviewed));
        }
    }

    #[test]
    fn a_connection_needs_an_admin_in_the_console_under_every_rule() {
        let gain = [OutsideBand::Connector("crm".to_owned())];
        for rule in [PublishRule::Direct, PublishRule::Planned, PublishRule::Reviewed] {
            check_gains(&session_of(id(1)), Role::Admin, rule, &gain).unwrap();
            let refused = check_gains(&session_of(id(1)), Role::Builder, rule, &gain);
            assert!(
                matches!(refused, Err(AppError::ConnectionNeedsAdmin { in_console: true })),
                "{refused:?}"
            );
            let token = token_of(id(1), id(2), Scopes::of(Scope::Admin));
            let refused = check_gains(&token, Role::Owner, rule, &gain);
            assert!(
                matches!(refused, Err(AppError::ConnectionNeedsAdmin { in_console: false })),
                "{refused:?}"
            );
        }
    }

    #[test]
    fn a_header_with_credentials_needs_an_admin_in_the_console_under_every_rule() {
        let with = |headers: &[CredentialHeader]| {
            let mut manifest = manifest();
            let egress = EgressPermission::new("a.example", None);
            manifest.permissions.egress.push(EgressPermission { headers: headers.to_vec(), ..egress });
            manifest
        };
        let (plain, token, both) = (
            with(&[]),
            with(&[CredentialHeader::Authorization]),
            with(&[CredentialHeader::Cookie, CredentialHeader::Authorization]),
        );
        let gain = reasons_outside(reach(&plain), reach(&token));
        assert!(matches!(gain.as_slice(), [OutsideBand::Header(it)] if it.name == "a.example"), "{gain:?}");
        // The host comes with it, but is agreed to on its own.
        assert_eq!(reasons_outside(reach(&manifest()), reach(&token)).len(), 2);
        assert_eq!(reasons_outside(reach(&token), reach(&both)).len(), 1);
        assert_eq!(reasons_outside(reach(&both), reach(&token)), []);
        // That of one host is none of another.
        let mut other = both.clone();
        other.permissions.egress[0].host = "b.example".to_owned();
        assert_eq!(reasons_outside(reach(&both), reach(&other)).len(), 2);
        for rule in [PublishRule::Direct, PublishRule::Planned, PublishRule::Reviewed] {
            check_gains(&session_of(id(1)), Role::Admin, rule, &gain).unwrap();
            let agent = token_of(id(1), id(2), Scopes::of(Scope::Admin));
            for (caller, role, here) in
                [(session_of(id(1)), Role::Builder, true), (agent, Role::Owner, false)]
            {
                let refused = check_gains(&caller, role, rule, &gain);
                assert!(
                    matches!(&refused, Err(AppError::HeaderNeedsAdmin { in_console, reason })
                        if *in_console == here && reason.contains("a.example")),
                    "{refused:?}"
                );
            }
        }
    }
}
