//! Seconds that our crates take to compile, from cargo's timing report, beside those of `build_times.tsv`.
//!
//! Seconds of two machines do not compare; shares of the whole do, roughly. Nothing fails because of them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
};

use anyhow::{Context as _, Result, bail, ensure};
use clap::Args;
use serde::Deserialize;
use xtask::workspace::Workspace;

/// The report of the newest build with `--timings`.
const REPORT: &str = "target/cargo-timings/cargo-timing.html";
/// The committed seconds: a line for each crate, `name`, `development` and `release`, with tabs between them.
const TABLE: &str = "xtask/build_times.tsv";
/// The line of crates that are not ours.
const DEPENDENCIES: &str = "dependencies";

/// Options of `cargo xtask build-times`.
#[derive(Args)]
pub(crate) struct Options {
    /// Replace the seconds of this profile in the committed table.
    #[arg(long)]
    write: bool,
    /// The report, if it is not in `target`.
    #[arg(long, value_name = "FILE", default_value = REPORT)]
    report: String,
}

/// Prints the seconds of the newest build with `--timings`, beside the committed ones of its profile.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let report = Report::parse(&workspace.read(&options.report)?)?;
    let members = workspace.members()?.packages.iter().map(|package| package.name.to_string()).collect();
    let seconds = report.seconds_by_crate(&members);
    let mut table = Table::parse(&workspace.read(TABLE)?)?;
    print!("{}", describe(&seconds, table.of(report.profile)));
    if options.write {
        *table.of_mut(report.profile) = seconds;
        fs::write(workspace.root.join(TABLE), table.render())?;
    }
    Ok(())
}

/// Prints the seconds of a build that has just ended.
pub(crate) fn print_newest(workspace: &Workspace) -> Result<()> {
    run(workspace, &Options { write: false, report: REPORT.to_owned() })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Profile {
    Development,
    Release,
}

/// A unit of cargo: a library, a program, a test or a build script.
#[derive(Debug, Deserialize)]
struct Unit {
    name: String,
    /// Seconds by the clock.
    duration: f64,
}

/// A timing report of cargo.
#[derive(Debug)]
struct Report {
    profile: Profile,
    units: Vec<Unit>,
}

impl Report {
    /// Reads the page that cargo writes. Its script begins with the units as JSON.
    fn parse(page: &str) -> Result<Self> {
        let between = |start: &str, end: &str| {
            let (_, rest) = page.split_once(start)?;
            rest.split_once(end).map(|(text, _)| text)
        };
        let profile = match between("<td>Profile:</td><td>", "</td>") {
            Some("dev" | "test") => Profile::Development,
            Some("release" | "bench") => Profile::Release,
            other => bail!("the timing report has no known profile: {other:?}"),
        };
        let units = between("const UNIT_DATA = ", ";\n").context("the timing report has no units")?;
        let units =
            serde_json::from_str(units).context("the units of the timing report are not as expected")?;
        Ok(Self { profile, units })
    }

    fn seconds_by_crate(&self, members: &BTreeSet<String>) -> Seconds {
        let mut seconds = Seconds::new();
        for unit in &self.units {
            let name = if members.contains(&unit.name) { unit.name.as_str() } else { DEPENDENCIES };
            *seconds.entry(name.to_owned()).or_default() += unit.duration;
        }
        seconds
    }
}

/// Seconds by the clock, by crate. Those of units that were compiled side by side are added up.
type Seconds = BTreeMap<String, f64>;

/// The committed table.
#[derive(Debug, Default, PartialEq)]
struct Table {
    development: Seconds,
    release: Seconds,
}

impl Table {
    fn parse(text: &str) -> Result<Self> {
        let mut table = Self::default();
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split('\t').collect();
            let [name, development, release] = fields[..] else {
                bail!("{TABLE}: {line:?} has no three fields")
            };
            for (seconds, text) in [(&mut table.development, development), (&mut table.release, release)] {
                if !text.is_empty() {
                    let number: f64 =
                        text.parse().with_context(|| format!("{TABLE}: {text:?} is no number"))?;
                    ensure!(seconds.insert(name.to_owned(), number).is_none(), "{TABLE} has {name} twice");
                }
            }
        }
        Ok(table)
    }

    fn render(&self) -> String {
        let mut text = String::from("crate\tdevelopment\trelease\n");
        let names: BTreeSet<&String> = self.development.keys().chain(self.release.keys()).collect();
        for name in names {
            let cell = |seconds: &Seconds| {
                seconds.get(name).map(|number| format!("{number:.1}")).unwrap_or_default()
            };
            let _ = writeln!(text, "{name}\t{}\t{}", cell(&self.development), cell(&self.release));
        }
        text
    }

    fn of(&self, profile: Profile) -> &Seconds {
        match profile {
            Profile::Development => &self.development,
            Profile::Release => &self.release,
        }
    }

    fn of_mut(&mut self, profile: Profile) -> &mut Seconds {
        match profile {
            Profile::Development => &mut self.development,
            Profile::Release => &mut self.release,
        }
    }
}

/// Lists the crates with the most seconds first, each with its share of the whole now and in the table.
fn describe(now: &Seconds, committed: &Seconds) -> String {
    let mut text = String::new();
    let (total, total_committed): (f64, f64) = (now.values().sum(), committed.values().sum());
    if total == 0.0 {
        return "nothing was compiled, so there are no seconds of crates\n".to_owned();
    }
    let share = |seconds: Option<f64>, total: f64| match seconds {
        Some(seconds) if total > 0.0 => format!("{:.1} %", 100.0 * seconds / total),
        _ => String::new(),
    };
    let _ = writeln!(text, "{:<20} {:>8} {:>8} {:>8}", "crate", "seconds", "share", "table");
    let mut names: Vec<&String> = now.keys().collect();
    names.sort_by(|a, b| now[*b].total_cmp(&now[*a]));
    for name in names {
        let shares = (share(Some(now[name]), total), share(committed.get(name).copied(), total_committed));
        let _ = writeln!(text, "{name:<20} {:>8.1} {:>8} {:>8}", now[name], shares.0, shares.1);
    }
    let ours = |seconds: &Seconds, total: f64| {
        let of_others = seconds.get(DEPENDENCIES).copied().unwrap_or_default();
        (total > 0.0).then_some(total - of_others)
    };
    let (own, own_committed) = (ours(now, total), ours(committed, total_committed));
    let shares = (share(own, total), share(own_committed, total_committed));
    let _ = writeln!(
        text,
        "{:<20} {:>8.1} {:>8} {:>8}",
        "our crates",
        own.unwrap_or_default(),
        shares.0,
        shares.1
    );
    let _ = writeln!(text, "{:<20} {total:>8.1}", "all");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "<td>Profile:</td><td>dev</td>\nconst UNIT_DATA = [\n\
        {\"name\": \"serde\", \"duration\": 6.0, \"target\": \"\"},\n\
        {\"name\": \"api\", \"duration\": 3.0}, {\"name\": \"api\", \"duration\": 1.0}\n];\nconst CONCURRENCY_DATA = [];";

    fn members() -> BTreeSet<String> {
        BTreeSet::from(["api".to_owned(), "runs".to_owned()])
    }

    #[test]
    fn units_are_added_up_by_crate() {
        let report = Report::parse(PAGE).unwrap();
        assert_eq!(report.profile, Profile::Development);
        let seconds = report.seconds_by_crate(&members());
        assert_eq!(seconds, Seconds::from([("api".to_owned(), 4.0), (DEPENDENCIES.to_owned(), 6.0)]));
        let release = Report::parse(&PAGE.replace("dev", "release")).unwrap();
        assert_eq!(release.profile, Profile::Release);
    }

    #[test]
    fn another_form_of_report_is_refused() {
        assert!(Report::parse("").is_err());
        assert!(Report::parse(&PAGE.replace("UNIT_DATA", "UNITS")).is_err());
        assert!(Report::parse(&PAGE.replace("duration", "seconds")).is_err());
        assert!(Report::parse(&PAGE.replace("dev", "")).is_err());
    }

    #[test]
    fn the_table_is_read_as_it_is_written() {
        let text = "crate\tdevelopment\trelease\napi\t4.0\t\ndependencies\t6.0\t12.5\n";
        let table = Table::parse(text).unwrap();
        assert_eq!(table.render(), text);
        assert!(Table::parse("crate\tdevelopment\trelease\napi\t4.0\n").is_err());
        assert!(Table::parse("crate\tdevelopment\trelease\napi\tmany\t1\n").is_err());
    }

    #[test]
    fn shares_stand_beside_those_of_the_table() {
        let now = Report::parse(PAGE).unwrap().seconds_by_crate(&members());
        let committed = Seconds::from([("api".to_owned(), 1.0), (DEPENDENCIES.to_owned(), 1.0)]);
        let expected = "\
crate                 seconds    share    table
dependencies              6.0   60.0 %   50.0 %
api                       4.0   40.0 %   50.0 %
our crates                4.0   40.0 %   50.0 %
all                      10.0
";
        assert_eq!(describe(&now, &committed), expected);
        assert!(
            describe(&now, &Seconds::new()).contains("api                       4.0   40.0 %         \n")
        );
        assert!(describe(&Seconds::new(), &committed).starts_with("nothing was compiled"));
    }
}
