//! Cases of the grammar, in `cases/`: a sentence, and what is understood, written as [`write`] does.

use super::*;

const NAMES: [&str; 4] = ["Team Slack", "crm", "slack", "Shop"];

/// Writes what is understood in short: edits, then a question mark for each sentence that is not understood.
fn write(edit: &Edit) -> String {
    let of = |table: &str, project: &Option<String>| match project {
        Some(project) => format!("{table}@{project}"),
        None => table.to_owned(),
    };
    let methods = |methods: &[EgressMethod]| {
        let names: Vec<_> = methods.iter().map(|method| method.as_str()).collect();
        if names.is_empty() { String::new() } else { format!(" {}", names.join(",")) }
    };
    match edit {
        Edit::AllowHost { host, methods: of, has_path } => {
            format!("+host {host}{}{}", if *has_path { "/" } else { "" }, methods(of))
        }
        Edit::ForbidHost { host, methods: of } => format!("-host {host}{}", methods(of)),
        Edit::AllowConnection(name) => format!("+conn {name}"),
        Edit::ForbidConnection(name) => format!("-conn {name}"),
        Edit::AllowTable { table, project, access } => {
            let access = if *access == DataAccess::Read { "r" } else { "w" };
            format!("+table {} {access}", of(table, project))
        }
        Edit::ForbidTable { table, project } => format!("-table {}", of(table, project)),
        Edit::ForbidWriting { table, project } => format!("read-only {}", of(table, project)),
        Edit::ForbidProject(name) => format!("-project {name}"),
        Edit::Schedule { cron, timezone: None } => format!("cron {cron}"),
        Edit::Schedule { cron, timezone: Some(zone) } => format!("cron {cron} {zone}"),
        Edit::Unschedule => "-cron".to_owned(),
        Edit::TimeZone(zone) => format!("zone {zone}"),
        Edit::Rename(name) => format!("name {name}"),
        Edit::Describe(text) => format!("desc {text}"),
        Edit::Share(sharing) => format!("share {sharing}"),
        Edit::AiBudget(amount) => format!("ai {amount}"),
        Edit::ForbidAi => "-ai".to_owned(),
        Edit::MinutesSaved(minutes) => format!("saves {minutes}"),
        Edit::Retries(number) => format!("retries {number}"),
    }
}

fn write_reason(reason: Reason) -> &'static str {
    match reason {
        Reason::Words => "?",
        Reason::Question => "? question",
        Reason::NoTime => "? time",
        Reason::UnevenInterval => "? interval",
        Reason::DayOfMonth => "? day",
        Reason::NoAccess => "? access",
    }
}

/// Returns the sentences of a file with what is understood; edits come before what is not understood.
fn cases(text: &str) -> Vec<(&str, Vec<&str>)> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let cases = lines.map(|line| {
        let (sentence, expected) = line.split_once(" => ").expect("a sentence and what is understood");
        let mut expected: Vec<&str> = expected.split("; ").collect();
        expected.sort_by_key(|it| it.starts_with('?'));
        (sentence, expected)
    });
    cases.collect()
}

fn understood(sentence: &str) -> Vec<String> {
    let instruction = parse_instruction(sentence, &NAMES);
    let edits = instruction.edits.iter().map(write);
    let refused = instruction.not_understood.iter().map(|it| write_reason(it.reason).to_owned());
    edits.chain(refused).collect()
}

#[test]
fn each_case_is_understood_as_written_or_not_at_all() {
    let mut wrong = Vec::new();
    for text in [include_str!("cases/en.txt"), include_str!("cases/ru.txt"), include_str!("cases/kk.txt")] {
        let cases = cases(text);
        let refused = cases.iter().filter(|(_, it)| it.iter().any(|it| it.starts_with('?'))).count();
        assert!(cases.len() >= 150 && refused * 100 >= cases.len() * 45, "{} of {}", refused, cases.len());
        for (sentence, expected) in cases {
            let found = understood(sentence);
            if found != expected {
                wrong.push(format!("{sentence}\n    expected {expected:?}\n    found    {found:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_language_is_that_of_most_words() {
    for (text, locale) in [
        ("Allow a.example.", Locale::En),
        ("a.example", Locale::En),
        ("Разреши a.example.", Locale::Ru),
        ("Сделай красиво.", Locale::Ru),
        ("a.example хостына рұқсат бер.", Locale::Kk),
        ("Әдемі қыл.", Locale::Kk),
        ("Разреши a.example and share it with the team now", Locale::En),
    ] {
        assert_eq!(parse_instruction(text, &NAMES).locale, locale, "{text}");
    }
}
