//! Tests of differences between manifests.

use kernel::locale::Locale;

use super::*;
use crate::{
    Category,
    manifest::{
        AiPermission, AiProfile, ConnectorPermission, CredentialHeader, DataAccess, DataPermission,
        EgressMethod, EgressPermission, HttpMethod, ManifestTrigger, Permissions, SecretPermission,
        SecretUse,
    },
};

fn manifest(egress: &[(&str, Option<Vec<EgressMethod>>)]) -> Manifest {
    let mut manifest = Manifest::minimal("Orders", "Takes orders.", "workshop", Category::Data);
    let permission = |(host, methods): &(&str, _)| EgressPermission::new(*host, Clone::clone(methods));
    manifest.permissions.egress = egress.iter().map(permission).collect();
    manifest
}

#[test]
fn a_connection_with_other_limits_widens_access_unless_the_earlier_ones_cover_them() {
    let permission = |methods: Option<&[HttpMethod]>, paths: Option<&[&str]>| ConnectorPermission {
        name: "crm".to_owned(),
        connection_id: kernel::testing::id(9),
        methods: methods.map(<[_]>::to_vec),
        paths: paths.map(|paths| paths.iter().map(|path| (*path).to_owned()).collect()),
    };
    let (get, post) = (&[HttpMethod::Get][..], &[HttpMethod::Get, HttpMethod::Post][..]);
    let all = permission(None, None);
    let cases = [
        (all.clone(), permission(Some(get), None), false),
        (permission(Some(get), None), all.clone(), true),
        (permission(Some(post), None), permission(Some(get), None), false),
        (permission(Some(get), None), permission(Some(post), None), true),
        // Fewer methods do not make up for another path.
        (permission(Some(post), Some(&["/a"])), permission(Some(get), Some(&["/b"])), true),
        (permission(None, Some(&["/a"])), permission(None, Some(&["/a/b", "/a/c"])), false),
        (permission(None, Some(&["/a"])), permission(None, Some(&["/ab"])), true),
        (permission(None, Some(&["/a/b"])), permission(None, Some(&["/a"])), true),
        (permission(None, Some(&["/"])), permission(None, Some(&["/a"])), false),
        (all, ConnectorPermission { connection_id: kernel::testing::id(8), ..permission(None, None) }, true),
    ];
    for (before, after, widens) in cases {
        let with = |connector: &ConnectorPermission| {
            let mut manifest = manifest(&[]);
            manifest.permissions.connectors = vec![connector.clone()];
            manifest
        };
        let found = diff_manifests(&with(&before), &with(&after));
        let brief: Vec<_> = found.iter().map(|it| (it.subject, it.change, it.widens_access)).collect();
        assert_eq!(brief, [(Subject::Connector, DifferenceKind::Changed, widens)], "{before:?} {after:?}");
    }
}

#[test]
fn an_entry_widens_access_unless_an_earlier_one_covers_it() {
    let data = |name: &str, project: u128, access, tables: Option<&[&str]>| {
        let tables = tables.map(|tables| tables.iter().map(|table| (*table).to_owned()).collect());
        let data = DataPermission {
            name: name.to_owned(),
            project_id: kernel::testing::id(project),
            access,
            tables,
        };
        Permissions { data: vec![data], ..Permissions::default() }
    };
    let egress = |host: &str, methods: Option<&[EgressMethod]>| {
        let egress = EgressPermission::new(host, methods.map(<[_]>::to_vec));
        Permissions { egress: vec![egress], ..Permissions::default() }
    };
    let secret = |uses: Option<&[SecretUse]>, clear| {
        let secret = SecretPermission { name: "KEY".to_owned(), uses: uses.map(<[_]>::to_vec), clear };
        Permissions { secrets: vec![secret], ..Permissions::default() }
    };
    let ai = |profile, budget, models: &[&str]| {
        let models = models.iter().map(|model| (*model).to_owned()).collect();
        let ai = AiPermission { profile, monthly_budget_usd: budget, models };
        Permissions { ai: Some(ai), ..Permissions::default() }
    };
    let (read, write) = (DataAccess::Read, DataAccess::Write);
    let (get, post) = (&[EgressMethod::Get][..], &[EgressMethod::Get, EgressMethod::Post][..]);
    let (sign, verify) = (&[SecretUse::Sign][..], &[SecretUse::Sign, SecretUse::Verify][..]);
    let (private, standard) = (AiProfile::Private, AiProfile::Standard);
    let cases = [
        // Less of one project does not make up for another.
        (data("rows", 1, write, None), data("rows", 2, read, None), true),
        (data("rows", 1, write, Some(&["a"])), data("rows", 1, read, None), true),
        (data("rows", 1, write, Some(&["a", "b"])), data("rows", 1, read, Some(&["c"])), true),
        (data("rows", 1, read, None), data("rows", 1, write, Some(&["a"])), true),
        (data("rows", 1, write, None), data("rows", 1, read, Some(&["a"])), false),
        (data("rows", 1, write, Some(&["a", "b"])), data("rows", 1, write, Some(&["b"])), false),
        // Another name in the code is nothing new.
        (data("rows", 1, write, None), data("table", 1, read, None), false),
        (data("rows", 1, read, None), data("table", 1, write, None), true),
        (egress("a.example", Some(post)), egress("a.example", Some(&[EgressMethod::Delete])), true),
        (egress("a.example", Some(post)), egress("a.example", Some(get)), false),
        (egress("a.example", None), egress("a.example", Some(post)), false),
        (egress("a.example", Some(post)), egress("a.example", None), true),
        (egress("a.example", None), egress("b.a.example", Some(get)), true),
        (secret(Some(verify), false), secret(Some(&[SecretUse::Header]), false), true),
        (secret(Some(verify), false), secret(Some(sign), false), false),
        (secret(Some(sign), true), secret(None, false), true),
        (secret(None, false), secret(Some(sign), true), true),
        (ai(private, 20.0, &[]), ai(standard, 10.0, &[]), true),
        (ai(standard, 20.0, &["a"]), ai(private, 10.0, &["a"]), false),
        (ai(standard, 20.0, &["a"]), ai(standard, 10.0, &["b"]), true),
        (ai(standard, 20.0, &["a"]), ai(standard, 10.0, &[]), true),
        (ai(standard, 20.0, &["a"]), ai(standard, 30.0, &["a"]), true),
        (ai(standard, 20.0, &["a", "b"]), ai(standard, 20.0, &["b"]), false),
    ];
    for (before, after, widens) in cases {
        let with = |permissions: &Permissions| Manifest { permissions: permissions.clone(), ..manifest(&[]) };
        let found = diff_manifests(&with(&before), &with(&after));
        assert!(!found.is_empty(), "{before:?} {after:?}");
        assert_eq!(found.iter().any(|it| it.widens_access), widens, "{before:?} {after:?}: {found:?}");
        assert!(diff_manifests(&with(&after), &with(&after)).is_empty());
    }
}

#[test]
fn names_sharing_and_time_saved_are_differences_and_only_wider_sharing_is_a_gain() {
    let before = manifest(&[]);
    let mut after = Manifest { name: "Sales".to_owned(), description: "Sells.".to_owned(), ..before.clone() };
    after.sharing.default = Sharing::Team;
    after.roi.manual_minutes_per_run = 15.0;
    let brief = |before: &Manifest, after: &Manifest| -> Vec<(Subject, bool, String)> {
        let found = diff_manifests(before, after).into_iter();
        found.map(|it| (it.subject, it.widens_access, it.details)).collect()
    };
    let text = str::to_owned;
    assert_eq!(
        brief(&before, &after),
        [
            (Subject::Sharing, true, text("team")),
            (Subject::Name, false, text("Sales")),
            (Subject::Description, false, text("Sells.")),
            (Subject::Roi, false, text("15")),
        ]
    );
    assert!(brief(&after, &before).iter().all(|(_, widens, _)| !widens));
    for locale in [Locale::En, Locale::Ru, Locale::Kk] {
        let sentences: BTreeSet<_> =
            diff_manifests(&before, &after).iter().map(|it| it.describe(locale)).collect();
        assert_eq!(sentences.len(), 4, "{sentences:?}");
    }
}

#[test]
fn the_order_of_a_list_is_no_difference_and_terms_have_no_stray_space() {
    let reversed = [EgressMethod::Post, EgressMethod::Get];
    let before = manifest(&[("a.example", Some(vec![EgressMethod::Get, EgressMethod::Post]))]);
    assert!(diff_manifests(&before, &manifest(&[("a.example", Some(reversed.to_vec()))])).is_empty());
    let mut after = before.clone();
    after.permissions.ai =
        Some(AiPermission { profile: AiProfile::Standard, monthly_budget_usd: 20.0, models: Vec::new() });
    let found = diff_manifests(&before, &after);
    assert_eq!(found[0].describe(Locale::En), "The manifest now names AI models (20 USD).");
}

#[test]
fn a_secret_in_clear_widens_access_and_fewer_uses_do_not() {
    let with = |secrets: Vec<SecretPermission>| {
        let mut manifest = manifest(&[]);
        manifest.permissions.secrets = secrets;
        manifest
    };
    let secret = |uses: Option<&[SecretUse]>, clear| {
        vec![SecretPermission { name: "KEY".to_owned(), uses: uses.map(<[_]>::to_vec), clear }]
    };
    let (sign, both) = (&[SecretUse::Sign][..], &[SecretUse::Verify, SecretUse::Sign][..]);
    for (before, after, expected) in [
        (Vec::new(), secret(Some(sign), false), Some((DifferenceKind::Added, true, "sign"))),
        (
            secret(Some(sign), false),
            secret(Some(both), false),
            Some((DifferenceKind::Changed, true, "sign, verify")),
        ),
        (
            secret(Some(both), false),
            secret(Some(sign), false),
            Some((DifferenceKind::Changed, false, "sign")),
        ),
        (secret(None, false), secret(None, true), Some((DifferenceKind::Changed, true, "clear"))),
        (secret(None, true), secret(None, false), Some((DifferenceKind::Changed, false, ""))),
        (secret(Some(sign), false), secret(None, false), Some((DifferenceKind::Changed, true, ""))),
        (secret(None, false), Vec::new(), Some((DifferenceKind::Removed, false, ""))),
        (secret(None, false), secret(None, false), None),
    ] {
        let found = diff_manifests(&with(before), &with(after));
        let brief = found.first().map(|it| (it.change, it.widens_access, it.details.as_str()));
        assert_eq!(brief, expected);
        assert!(found.iter().all(|it| it.subject == Subject::Secret));
    }
}

#[test]
fn differences_tell_what_came_went_and_changed() {
    let before = manifest(&[("a.example", None), ("b.example", Some(vec![EgressMethod::Get]))]);
    let mut after =
        manifest(&[("b.example", Some(vec![EgressMethod::Get, EgressMethod::Post])), ("c.example", None)]);
    after.triggers.retain(|trigger| !matches!(trigger, ManifestTrigger::Webhook {}));
    let found = diff_manifests(&before, &after);
    let brief: Vec<_> =
        found.iter().map(|it| (it.subject, it.change, it.name.as_str(), it.widens_access)).collect();
    assert_eq!(
        brief,
        [
            (Subject::Egress, DifferenceKind::Changed, "b.example", true),
            (Subject::Egress, DifferenceKind::Added, "c.example", true),
            (Subject::Egress, DifferenceKind::Removed, "a.example", false),
            (Subject::Trigger, DifferenceKind::Removed, "webhook", false),
        ]
    );
    assert!(diff_manifests(&before, &before).is_empty());
    let english: Vec<_> = found.iter().map(|it| it.describe(Locale::En)).collect();
    assert_eq!(
        english,
        [
            "The manifest entry for the host b.example (GET, POST) changed.",
            "The manifest now names the host c.example.",
            "The manifest no longer names the host a.example.",
            "The manifest no longer names the trigger webhook.",
        ]
    );
    for locale in [Locale::En, Locale::Ru, Locale::Kk] {
        assert!(found.iter().all(|it| it.describe(locale).contains(&it.name)));
    }
    let fewer = diff_manifests(&after, &before);
    assert!(fewer.iter().any(|it| it.change == DifferenceKind::Changed && !it.widens_access), "{fewer:?}");
}

#[test]
fn headers_with_credentials_are_told_apart_from_their_host() {
    use CredentialHeader::{Authorization, Cookie};
    let with = |host: &str, headers: &[CredentialHeader]| {
        let mut manifest = manifest(&[(host, None)]);
        manifest.permissions.egress[0].headers = headers.to_vec();
        manifest
    };
    let brief = |before: &Manifest, after: &Manifest| -> Vec<(Subject, DifferenceKind, String, bool)> {
        let found = diff_manifests(before, after).into_iter();
        found.map(|it| (it.subject, it.change, it.details, it.widens_access)).collect()
    };
    let header = |change, details: &str, widens| (Subject::Header, change, details.to_owned(), widens);
    let (none, one, both) =
        (with("a.example", &[]), with("a.example", &[Cookie]), with("a.example", &[Cookie, Authorization]));
    assert_eq!(brief(&none, &one), [header(DifferenceKind::Added, "cookie", true)]);
    assert_eq!(brief(&one, &both), [header(DifferenceKind::Changed, "authorization, cookie", true)]);
    assert_eq!(brief(&both, &one), [header(DifferenceKind::Changed, "cookie", false)]);
    assert_eq!(brief(&both, &none), [header(DifferenceKind::Removed, "authorization, cookie", false)]);
    assert_eq!(brief(&both, &with("a.example", &[Authorization, Cookie])), []);
    let another = brief(&both, &with("b.example", &[Cookie]));
    assert_eq!(another.iter().filter(|it| it.0 == Subject::Header).count(), 2);
    let sentences = |before, after| -> Vec<String> {
        let locales = [Locale::En, Locale::Ru, Locale::Kk];
        locales.iter().map(|locale| diff_manifests(before, after)[0].describe(*locale)).collect()
    };
    let (gained, lost) = (sentences(&none, &one), sentences(&one, &none));
    assert_eq!(gained[0], "In requests to a.example, the code itself may set credentials: cookie.");
    assert!(gained.iter().chain(&lost).all(|it| it.contains("a.example") && it.contains("cookie")));
    assert_eq!(gained.iter().chain(&lost).collect::<BTreeSet<_>>().len(), 6);
}
