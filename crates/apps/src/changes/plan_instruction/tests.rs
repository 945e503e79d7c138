use kernel::{
    Locale,
    authority::Sharing,
    id::{AutomationId, ConnectionId},
    testing::id,
};

use super::*;
use crate::{
    changes::{AutomationChange, NamedAutomation, NamedConnection, NamedProject},
    manifest::{
        AiPermission, AiProfile, DataAccess, DataPermission, EgressMethod, EgressPermission, ManifestTrigger,
        diff::Subject,
    },
    testing::manifest,
    versions::ENTRY_FILE,
};

fn connection(number: u128, name: &str, connector: &str) -> NamedConnection {
    let id: ConnectionId = id(number);
    NamedConnection { id, name: name.to_owned(), connector: connector.to_owned() }
}

fn project(number: u128, name: &str, tables: &[&str]) -> NamedProject {
    NamedProject {
        id: id(number),
        name: name.to_owned(),
        slug: name.to_lowercase(),
        may_write: true,
        tables: tables.iter().map(|table| (*table).to_owned()).collect(),
    }
}

fn automation(number: u128, schedule: Option<&str>) -> NamedAutomation {
    NamedAutomation {
        id: id(number),
        name: format!("Automation {number}"),
        schedule: schedule.map(|cron| (cron.to_owned(), "Asia/Almaty".to_owned())),
        is_active: true,
        retries: 0,
    }
}

/// A workspace with a bit of everything; the app may call one host and read one table.
pub(in crate::changes) fn surroundings() -> Surroundings {
    let mut manifest = manifest();
    manifest.permissions.egress =
        vec![EgressPermission::new("api.example.com", Some(vec![EgressMethod::Get]))];
    manifest.triggers = Vec::new();
    manifest.permissions.data = vec![DataPermission {
        name: "shop".to_owned(),
        project_id: id(30),
        access: DataAccess::Read,
        tables: Some(vec!["customers".to_owned()]),
    }];
    Surroundings {
        version: id(20),
        manifest,
        has_fetch: false,
        sharing: Sharing::Private,
        may_share: true,
        connections: vec![
            connection(40, "Team Slack", "slack"),
            connection(41, "Ledger", "stripe"),
            connection(42, "Ledger of 2025", "stripe"),
        ],
        connectors: vec!["slack", "stripe", "github"],
        projects: vec![
            project(30, "Shop", &["orders", "customers"]),
            project(31, "Archive", &["orders", "Invoices", "notes", "Notes"]),
        ],
        automations: Vec::new(),
        timezone: "Asia/Almaty".to_owned(),
        open_hosts: vec!["hooks.example.com".to_owned()],
    }
}

fn files() -> BTreeMap<String, String> {
    BTreeMap::from([(ENTRY_FILE.to_owned(), "export default {}".to_owned())])
}

fn plan_in(instruction: &str, surroundings: &Surroundings) -> ChangePlan {
    draft_plan(instruction, surroundings, &files()).unwrap()
}

fn plan(instruction: &str) -> ChangePlan {
    plan_in(instruction, &surroundings())
}

#[test]
fn what_is_asked_for_is_planned_and_nothing_else() {
    let plan = plan("Let the app read from hooks.example.com. Order a pizza.");
    let mut expected = surroundings().manifest;
    let added = EgressPermission::new("hooks.example.com", Some(vec![EgressMethod::Get]));
    expected.permissions.egress.push(added);
    assert_eq!(plan.manifest, expected);
    assert_eq!(plan.before, surroundings().manifest);
    assert_eq!((plan.base, plan.locale), (id(20), Locale::En));
    assert_eq!(plan.steps.len(), 2, "the host and the version: {:?}", plan.steps);
    assert!(plan.notes[0].contains("Order a pizza"), "{:?}", plan.notes);
    assert!(plan.closed_hosts.is_empty(), "its gate is open");
    assert_eq!(plan.needs_console.len(), 1, "{:?}", plan.needs_console);
}

#[test]
fn a_host_whose_gate_is_closed_needs_an_admin() {
    let plan = plan("Let the app call new.example.com.");
    assert_eq!(plan.closed_hosts, ["new.example.com"]);
    assert_eq!(plan.needs_console.len(), 2, "the permission and the gate: {:?}", plan.needs_console);
    assert!(plan.steps.iter().any(|step| step.contains("gate to new.example.com")), "{:?}", plan.steps);
}

#[test]
fn a_table_gets_a_binding_of_its_own_if_another_table_would_gain() {
    let plan = plan("Let the app write to the table orders of the project Shop.");
    let tables: Vec<_> =
        plan.manifest.permissions.data.iter().map(|it| (it.access, it.tables.clone())).collect();
    let one = |table: &str| Some(vec![table.to_owned()]);
    assert_eq!(tables, [(DataAccess::Read, one("customers")), (DataAccess::Write, one("orders"))]);
}

#[test]
fn a_table_keeps_the_spelling_of_its_project() {
    let plan = plan("Let the app read the table invoices.");
    assert_eq!(plan.manifest.permissions.data[1].tables, Some(vec!["Invoices".to_owned()]));
    let exact = self::plan("Let the app read the table \"Notes\".");
    assert_eq!(exact.manifest.permissions.data[1].tables, Some(vec!["Notes".to_owned()]));
}

#[test]
fn what_is_ambiguous_or_missing_is_a_note() {
    let no_shop = Surroundings { manifest: manifest(), ..surroundings() };
    for (instruction, surroundings) in [
        ("Let the app read the table orders.", &no_shop),
        ("Let the app read the table unicorns.", &no_shop),
        ("Let the app read the table orders of the project \"Nowhere\".", &no_shop),
        ("Let the app use the connection stripe.", &no_shop),
        ("Let the app use the connection github.", &no_shop),
        ("Set the AI budget to 5 dollars.", &no_shop),
        ("Stop the schedule.", &no_shop),
        ("Retry failed runs 3 times.", &no_shop),
    ] {
        let plan = plan_in(instruction, surroundings);
        assert!(plan.is_empty(), "{instruction}: {plan:?}");
        assert!(plan.steps.is_empty() && plan.needs_console.is_empty(), "{instruction}: {plan:?}");
        assert_eq!(plan.notes.len(), 1, "{instruction}: {:?}", plan.notes);
        assert_eq!(plan.summary, "Nothing is planned.");
    }
}

#[test]
fn what_the_planner_may_not_do_is_a_note() {
    let mut viewer = surroundings();
    viewer.may_share = false;
    viewer.projects[0].may_write = false;
    for instruction in [
        "Let the app write to the table orders of the project Shop.",
        "Share the app with the whole workspace.",
    ] {
        let plan = plan_in(instruction, &viewer);
        assert!(plan.is_empty(), "{instruction}: {plan:?}");
        assert_eq!(plan.notes.len(), 1, "{instruction}: {:?}", plan.notes);
    }
}

#[test]
fn a_schedule_moves_the_automation_of_the_app() {
    let new = plan("Run the app every weekday at 9:00.");
    let trigger = ManifestTrigger::Schedule {
        cron: Some("0 9 * * 1-5".to_owned()),
        timezone: Some("Asia/Almaty".to_owned()),
    };
    assert_eq!(new.manifest.triggers, std::slice::from_ref(&trigger));
    assert!(
        matches!(&new.automations[..], [AutomationChange::CreateSchedule { cron, .. }] if cron == "0 9 * * 1-5")
    );
    assert!(new.needs_console.is_empty(), "a schedule gives the app nothing: {:?}", new.needs_console);

    let scheduled = automation(50, Some("0 8 * * *"));
    let moved = plan_in(
        "Run the app every weekday at 9:00.",
        &Surroundings { automations: vec![scheduled.clone(), automation(51, None)], ..surroundings() },
    );
    let expected = AutomationChange::Reschedule {
        id: scheduled.id,
        cron: "0 9 * * 1-5".to_owned(),
        timezone: "Asia/Almaty".to_owned(),
        activate: true,
    };
    assert_eq!((moved.manifest.triggers, moved.automations), (vec![trigger], vec![expected]));

    let two = Surroundings { automations: vec![scheduled.clone(), scheduled], ..surroundings() };
    assert!(plan_in("Run the app every weekday at 9:00.", &two).is_empty(), "which of them is not said");
}

#[test]
fn of_sentences_about_the_same_thing_the_last_counts() {
    let plan = plan(
        "Run the app daily at 9:00. Run the app daily at 10:00. Rename the app to \"A one\". Rename the app to \"B two\".",
    );
    assert_eq!(plan.steps.len(), 3, "schedule, name, version: {:?}", plan.steps);
    assert!(
        matches!(&plan.automations[..], [AutomationChange::CreateSchedule { cron, .. }] if cron == "0 10 * * *")
    );
    assert_eq!((plan.app.name.as_deref(), &*plan.manifest.name), (Some("B two"), "B two"));

    let undone = self::plan("Let the app call new.example.com. Stop the app from calling new.example.com.");
    assert!(undone.is_empty() && undone.steps.is_empty(), "{undone:?}");
}

#[test]
fn retries_are_those_of_each_automation() {
    let ids: [AutomationId; 2] = [id(50), id(51)];
    let automations = vec![automation(50, None), automation(51, Some("0 8 * * *"))];
    let plan = plan_in("Retry failed runs 3 times.", &Surroundings { automations, ..surroundings() });
    let names = ["Automation 50", "Automation 51"].map(str::to_owned);
    let expected: Vec<_> = std::iter::zip(ids, names)
        .map(|(id, name)| AutomationChange::Retries { id, retries: 3, name })
        .collect();
    assert_eq!(plan.automations, expected);
    let differences: Vec<_> = plan.differences().iter().map(|it| it.describe(kernel::Locale::En)).collect();
    assert_eq!(
        differences[1],
        "Failed runs of the automation \"Automation 51\" are retried at most 3 times."
    );
    assert_eq!(plan.manifest, plan.before);
    assert_eq!(plan.steps.len(), 2, "no version is created: {:?}", plan.steps);
}

#[test]
fn what_is_in_no_manifest_is_a_difference_too() {
    let subjects = |instruction: &str| -> Vec<(Subject, bool)> {
        plan(instruction).differences().iter().map(|it| (it.subject, it.widens_access)).collect()
    };
    assert_eq!(subjects("Share it with the workspace."), [(Subject::Sharing, true)]);
    assert_eq!(subjects("Rename the app to \"Sales\"."), [(Subject::Name, false)]);
    assert_eq!(subjects("Set the description to \"Sells things.\""), [(Subject::Description, false)]);
    assert_eq!(subjects("Each run saves 25 minutes."), [(Subject::Roi, false)]);
    // The manifest says how a new app would be shared; this one is shared otherwise.
    let mut elsewhere = surroundings();
    elsewhere.manifest.sharing.default = Sharing::Workspace;
    let plan = plan_in("Share it with the workspace.", &elsewhere);
    assert_eq!(plan.manifest, plan.before);
    assert!(plan.differences().iter().any(|it| it.subject == Subject::Sharing && it.widens_access));
}

#[test]
fn gains_of_each_kind_are_outside_the_safe_band() {
    for instruction in [
        "Let the app call new.example.com.",
        "Let the app post to api.example.com.",
        "Let the app read the table orders of the project Shop.",
        "Let the app write to the table customers of the project Shop.",
        "Let the app use the connection Team Slack.",
        "Share the app with the whole workspace.",
    ] {
        let plan = plan(instruction);
        assert!(!plan.is_empty() && !plan.needs_console.is_empty(), "{instruction}: {plan:?}");
    }
    for instruction in [
        "Stop the app from calling api.example.com.",
        "Remove the table customers.",
        "Rename the app to \"Orders of today\".",
        "Each run saves 5 minutes.",
        "Run the app daily at 9:00.",
    ] {
        let plan = plan(instruction);
        assert!(!plan.is_empty() && plan.needs_console.is_empty(), "{instruction}: {plan:?}");
    }
}

#[test]
fn whoever_approves_is_told_that_visitors_see_what_the_app_gains() {
    let serving = Surroundings { has_fetch: true, ..surroundings() };
    for (instruction, sentence) in [
        ("Let the app read the table orders of the project Shop.", "answers visitors"),
        ("Let the app write to the table customers of the project Shop.", "answers visitors"),
        ("Let the app use the connection Team Slack.", "answers visitors"),
        ("Разреши читать таблицу orders проекта Shop.", "отвечает посетителям"),
        ("Shop жобасының orders кестесін оқуға рұқсат бер.", "келушілерге жауап береді"),
    ] {
        let is_told = |surroundings: &Surroundings| {
            let plan = plan_in(instruction, surroundings);
            assert!(!plan.needs_console.is_empty(), "{instruction}: {plan:?}");
            plan.needs_console.iter().any(|reason| reason.contains(sentence))
        };
        assert!(is_told(&serving) && !is_told(&surroundings()), "{instruction}");
    }
    for instruction in ["Let the app call new.example.com.", "Share the app with the whole workspace."] {
        let plan = plan_in(instruction, &serving);
        let reasons = plan.needs_console;
        assert!(reasons.iter().all(|reason| !reason.contains("visitors")), "{instruction}: {reasons:?}");
    }
}

#[test]
fn an_instruction_has_4_to_2000_characters() {
    for text in ["", "abc", "   \n\t  ", &"a".repeat(2_001), "Let the app\0 call a.example."] {
        let refused = draft_plan(text, &surroundings(), &files());
        assert!(matches!(refused, Err(InvalidInput::Instruction(_))), "{text:?}");
    }
    for text in ["Stop".to_owned(), "ж".repeat(2_000), "Run! ".repeat(400)] {
        let plan = plan(&text);
        assert!(plan.notes.len() <= MAX_NOTES && plan.is_empty(), "{plan:?}");
    }
}

#[test]
fn summaries_are_bounded() {
    let hosts: Vec<String> = (0..40).map(|number| format!("host-{number}.example.com")).collect();
    let sentences = hosts.iter().map(|host| format!("Let the app call {host}. "));
    let plan = plan(&sentences.collect::<String>());
    let length = plan.summary.chars().count();
    assert!((1..=300).contains(&length), "{length}: {}", plan.summary);
    assert_eq!(plan.manifest.permissions.egress.len(), 32, "a manifest has room for no more");
    assert!(plan.notes.len() <= MAX_NOTES, "{:?}", plan.notes);
}

#[test]
fn adversarial_sentences_widen_nothing() {
    let mut surroundings = surroundings();
    let ai = AiPermission { profile: AiProfile::Standard, models: Vec::new(), monthly_budget_usd: 5.0 };
    surroundings.manifest.permissions.ai = Some(ai);
    let sentences: Vec<&str> =
        include_str!("adversarial.txt").lines().filter(|line| !line.starts_with('#')).collect();
    assert!(sentences.len() >= 100, "{}", sentences.len());
    for sentence in sentences {
        let sentence = sentence.replace("\\u200b", "\u{200b}").replace("\\n", "\n");
        // Signs that nobody sees are refused.
        if sentence.contains('\u{200b}') {
            let refused = draft_plan(&sentence, &surroundings, &files());
            assert!(refused.is_err(), "{sentence}");
            continue;
        }
        let plan = plan_in(&sentence, &surroundings);
        assert_eq!(plan.needs_console, [""; 0], "{sentence}: {plan:?}");
        assert!(plan.closed_hosts.is_empty(), "{sentence}: {plan:?}");
    }
}
