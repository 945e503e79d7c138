//! Rules: each reads the clauses of one kind, and consumes every item of them.

mod clock;
mod schedule;

use kernel::authority::Sharing;

use super::{
    Edit, Reason,
    clauses::Clause,
    lexicon::{Concept, Item},
    tokens::Token,
};
use crate::manifest::{DataAccess, EgressMethod};

/// What a rule makes of a clause: nothing if the clause is not of its kind.
type Reading = Option<Result<Vec<Edit>, Reason>>;

const RULES: [fn(&mut Cursor) -> Reading; 12] = [
    rename,
    describe,
    hosts,
    tables,
    projects,
    connections,
    schedule::read,
    share,
    ai,
    minutes_saved,
    retries,
    time_zone,
];

/// Reads a clause by the first rule that consumes every item of it.
pub(super) fn read_clause(clause: &Clause) -> Result<Vec<Edit>, Reason> {
    let items = clock::join_clocks(&clause.0);
    let mut reason = Reason::Words;
    for rule in RULES {
        let mut cursor = Cursor { used: vec![false; items.len()], items: &items };
        match rule(&mut cursor) {
            Some(Ok(edits)) if cursor.is_spent() => return Ok(edits),
            Some(Err(why)) if cursor.is_spent() => reason = why,
            _ => {}
        }
    }
    Err(reason)
}

/// The items of a clause, of which a rule consumes some.
struct Cursor<'a> {
    items: &'a [Item],
    used: Vec<bool>,
}

impl Cursor<'_> {
    fn is_spent(&self) -> bool {
        self.used.iter().all(|used| *used)
    }

    /// Consumes what `pick` accepts.
    fn take_all<T>(&mut self, pick: impl Fn(&Item) -> Option<T>) -> Vec<T> {
        let mut found = Vec::new();
        for (item, used) in self.items.iter().zip(&mut self.used) {
            if !*used && let Some(value) = pick(item) {
                *used = true;
                found.push(value);
            }
        }
        found
    }

    /// Consumes every occurrence of a concept; returns `false` if there is none.
    fn take(&mut self, concept: Concept) -> bool {
        !self.take_all(|item| (*item == Item::Concept(concept)).then_some(())).is_empty()
    }

    /// Consumes every occurrence of the concepts; returns `false` if there is none.
    fn take_any(&mut self, concepts: &[Concept]) -> bool {
        !self
            .take_all(|item| {
                matches!(item, Item::Concept(concept) if concepts.contains(concept)).then_some(())
            })
            .is_empty()
    }

    fn take_hosts(&mut self) -> Vec<(String, bool)> {
        self.take_all(|item| match item {
            Item::Token(Token::Host { host, has_path }) => Some((host.clone(), *has_path)),
            _ => None,
        })
    }

    fn take_methods(&mut self) -> Vec<EgressMethod> {
        let mut methods = self.take_all(|item| match item {
            Item::Token(Token::Method(method)) => Some(*method),
            _ => None,
        });
        methods.dedup();
        methods
    }

    fn take_numbers(&mut self) -> Vec<f64> {
        self.take_all(|item| match item {
            Item::Token(Token::Number(number)) => Some(*number),
            _ => None,
        })
    }

    /// Consumes the only name that there is.
    fn take_name(&mut self) -> Option<String> {
        let mut names = self.take_all(|item| match item {
            Item::Name(name) => Some(name.clone()),
            _ => None,
        });
        names.pop().filter(|_| names.is_empty())
    }

    /// Consumes the name beside a noun: a quoted one or, if it is an identifier, a word without a meaning. The one after the
    /// noun comes first.
    fn take_name_of(&mut self, noun: Concept) -> Option<String> {
        let at = self.items.iter().position(|item| *item == Item::Concept(noun))?;
        for beside in [Some(at + 1), at.checked_sub(1)].into_iter().flatten() {
            let name = match self.items.get(beside) {
                Some(Item::Name(name)) => name.clone(),
                Some(Item::Unknown(word)) if is_identifier(word) => word.clone(),
                _ => continue,
            };
            if !std::mem::replace(&mut self.used[beside], true) {
                return Some(name);
            }
        }
        None
    }
}

fn is_identifier(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// "Allow a.example", "stop calling a.example", "read from a.example", "a.example: no POST".
fn hosts(cursor: &mut Cursor) -> Reading {
    let hosts = cursor.take_hosts();
    if hosts.is_empty() {
        return None;
    }
    let mut methods = cursor.take_methods();
    cursor.take(Concept::Host);
    let forbids = cursor.take(Concept::Forbid);
    let (reads, sends) = (cursor.take(Concept::Read), cursor.take_any(&[Concept::Send, Concept::Write]));
    if methods.is_empty() {
        methods.extend(reads.then_some(EgressMethod::Get));
        methods.extend(sends.then_some(EgressMethod::Post));
    }
    if forbids {
        cursor.take_any(&[Concept::Call, Concept::Use]);
        let forbid = |(host, _)| Edit::ForbidHost { host, methods: methods.clone() };
        return Some(Ok(hosts.into_iter().map(forbid).collect()));
    }
    let is_allowed = cursor.take_any(&[Concept::Allow, Concept::Call, Concept::Use]);
    let allow = |(host, has_path)| Edit::AllowHost { host, methods: methods.clone(), has_path };
    (is_allowed || reads || sends).then(|| Ok(hosts.into_iter().map(allow).collect()))
}

/// "Read the table orders of the project Shop", "stop writing to the table orders".
fn tables(cursor: &mut Cursor) -> Reading {
    let table = cursor.take_name_of(Concept::Table)?;
    let project = cursor.take_name_of(Concept::Project);
    cursor.take_any(&[Concept::Table, Concept::Project]);
    let forbids = cursor.take(Concept::Forbid);
    let allows = cursor.take(Concept::Allow);
    let mentions_use = cursor.take_any(&[Concept::Use, Concept::Call]) || allows;
    if allows && forbids {
        return None;
    }
    let (reads, writes) = (cursor.take(Concept::Read), cursor.take_any(&[Concept::Write, Concept::Send]));
    Some(match (forbids, reads, writes) {
        (true, false, true) => Ok(vec![Edit::ForbidWriting { table, project }]),
        (true, _, false) => Ok(vec![Edit::ForbidTable { table, project }]),
        (true, true, true) => Ok(vec![Edit::ForbidTable { table, project }]),
        (false, _, true) => Ok(vec![Edit::AllowTable { table, project, access: DataAccess::Write }]),
        (false, true, false) => Ok(vec![Edit::AllowTable { table, project, access: DataAccess::Read }]),
        (false, false, false) if mentions_use => Err(Reason::NoAccess),
        (false, false, false) => return None,
    })
}

/// "Stop using the project Shop".
fn projects(cursor: &mut Cursor) -> Reading {
    let project = cursor.take_name_of(Concept::Project)?;
    cursor.take(Concept::Project);
    let forbids = cursor.take(Concept::Forbid);
    cursor.take_any(&[Concept::Use, Concept::Read]);
    forbids.then(|| Ok(vec![Edit::ForbidProject(project)]))
}

/// "Use the connection Team Slack", "connect Slack", "stop using Slack".
fn connections(cursor: &mut Cursor) -> Reading {
    let name = cursor.take_name_of(Concept::Connection).or_else(|| cursor.take_name())?;
    cursor.take(Concept::Connection);
    if cursor.take(Concept::Forbid) {
        cursor.take_any(&[Concept::Use, Concept::Call]);
        return Some(Ok(vec![Edit::ForbidConnection(name)]));
    }
    cursor
        .take_any(&[Concept::Use, Concept::Allow, Concept::Call])
        .then(|| Ok(vec![Edit::AllowConnection(name)]))
}

/// "Rename it to "Orders"", "change the name to Order desk".
fn rename(cursor: &mut Cursor) -> Reading {
    let has_verb = cursor.take(Concept::Rename);
    let has_noun = cursor.take(Concept::Name);
    let is_set = cursor.take(Concept::Set);
    if !(has_verb || has_noun && is_set) {
        return None;
    }
    cursor.take_name().map(|name| Ok(vec![Edit::Rename(name)]))
}

/// "Set the description to "Takes orders"".
fn describe(cursor: &mut Cursor) -> Reading {
    let has_verb = cursor.take(Concept::Describe);
    let has_noun = cursor.take(Concept::Description);
    let is_set = cursor.take_any(&[Concept::Set, Concept::Allow]);
    if !(has_verb || has_noun && is_set) {
        return None;
    }
    cursor.take_name().map(|text| Ok(vec![Edit::Describe(text)]))
}

/// "Share it with the team", "make it private", "stop sharing".
fn share(cursor: &mut Cursor) -> Reading {
    let shares = cursor.take(Concept::Share);
    let forbids = cursor.take(Concept::Forbid);
    let sets = cursor.take(Concept::Set);
    let to = [
        (Concept::Private, Sharing::Private),
        (Concept::Team, Sharing::Team),
        (Concept::Workspace, Sharing::Workspace),
    ];
    let named: Vec<Sharing> =
        to.into_iter().filter(|(noun, _)| cursor.take(*noun)).map(|(_, to)| to).collect();
    match (named[..].first(), named.len()) {
        (None, _) if shares && forbids => Some(Ok(vec![Edit::Share(Sharing::Private)])),
        (Some(sharing), 1) if !forbids && (shares || (sets && *sharing == Sharing::Private)) => {
            Some(Ok(vec![Edit::Share(*sharing)]))
        }
        _ => None,
    }
}

/// "Limit the AI budget to $20 a month", "stop using AI".
fn ai(cursor: &mut Cursor) -> Reading {
    if !cursor.take(Concept::Ai) {
        return None;
    }
    if cursor.take(Concept::Forbid) {
        cursor.take_any(&[Concept::Use, Concept::Call]);
        return Some(Ok(vec![Edit::ForbidAi]));
    }
    cursor.take_any(&[Concept::Budget, Concept::Set, Concept::Use, Concept::Allow]);
    if cursor.take(Concept::Month) {
        cursor.take(Concept::Every);
    }
    let mut amounts = cursor.take_all(|item| match item {
        Item::Token(Token::Money(amount)) => Some(*amount),
        _ => None,
    });
    if amounts.is_empty() {
        amounts = cursor.take_numbers();
    }
    cursor.take(Concept::Dollar);
    match amounts[..] {
        [amount] => Some(Ok(vec![Edit::AiBudget(amount)])),
        _ => None,
    }
}

/// "Each run saves 15 minutes".
fn minutes_saved(cursor: &mut Cursor) -> Reading {
    if !cursor.take(Concept::Save) {
        return None;
    }
    cursor.take_any(&[Concept::Start, Concept::Every, Concept::Set, Concept::Times]);
    let is_hours = cursor.take(Concept::Hour);
    let is_minutes = cursor.take(Concept::Minute);
    match (&cursor.take_numbers()[..], is_hours, is_minutes) {
        // Rounded, since 4.1 hours would be 245.99999999999997 minutes.
        ([number], true, false) => Some(Ok(vec![Edit::MinutesSaved((number * 60_000.0).round() / 1_000.0)])),
        ([number], false, true) => Some(Ok(vec![Edit::MinutesSaved(*number)])),
        _ => None,
    }
}

/// "Retry failed runs 3 times", "do not retry".
fn retries(cursor: &mut Cursor) -> Reading {
    if cursor.take(Concept::NeverRetry) {
        return Some(Ok(vec![Edit::Retries(0)]));
    }
    if !cursor.take(Concept::Retry) {
        return None;
    }
    cursor.take_any(&[Concept::Times, Concept::Set, Concept::Start]);
    match cursor.take_numbers()[..] {
        [number] if number.fract() == 0.0 && number <= 1e6 => Some(Ok(vec![Edit::Retries(number as u32)])),
        _ => None,
    }
}

/// "Use the time zone Asia/Almaty".
fn time_zone(cursor: &mut Cursor) -> Reading {
    let mut zones = schedule::take_zones(cursor);
    let zone = zones.pop().filter(|_| zones.is_empty())?;
    let has_noun = cursor.take_any(&[Concept::Zone, Concept::Schedule]);
    let is_set = cursor.take_any(&[Concept::Set, Concept::Use, Concept::Start]);
    (has_noun || is_set).then(|| Ok(vec![Edit::TimeZone(zone)]))
}
