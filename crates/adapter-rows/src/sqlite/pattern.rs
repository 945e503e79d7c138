//! Regular expressions with a deadline: SQLite cannot interrupt a function, and an expression of a few hundred states
//! takes seconds for a megabyte of text.

use std::sync::{Mutex, OnceLock, PoisonError};

use regex::{Regex, RegexBuilder};
use regex_automata::{
    Input,
    hybrid::dfa::{Cache, DFA},
    nfa::thompson::{self, NFA},
};

/// Maximum size of a compiled expression in bytes. The engine has already bounded the number of its states.
const MAX_COMPILED: usize = 8 << 20;
/// Product of the text's length and the expression's states up to which a search takes at most some milliseconds, and
/// runs without a deadline.
const SHORT_SEARCH: usize = 1 << 18;
/// Bytes that are searched between two checks of the deadline.
const CHECK_INTERVAL_BYTES: usize = 256;

/// A compiled expression.
pub(super) struct Pattern {
    regex: Regex,
    nfa: NFA,
    /// The automaton for long searches, built by the first one.
    lazy_dfa: OnceLock<Option<(DFA, Mutex<Cache>)>>,
}

/// The error of a search that exceeded its time limit.
#[derive(Debug, PartialEq)]
pub(super) struct Interrupted;

impl Pattern {
    pub(super) fn new(pattern: &str) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        let regex = RegexBuilder::new(pattern).size_limit(MAX_COMPILED).build()?;
        let config = thompson::Config::new().nfa_size_limit(Some(MAX_COMPILED));
        let nfa = thompson::Compiler::new().configure(config).build(pattern)?;
        Ok(Self { regex, nfa, lazy_dfa: OnceLock::new() })
    }

    /// Returns true if the expression is found in the text. A search takes time linear in the text, and ends soon after
    /// `late` returns true.
    pub(super) fn is_match(&self, text: &str, late: impl Fn() -> bool) -> Result<bool, Interrupted> {
        if text.len().saturating_mul(self.nfa.states().len()) <= SHORT_SEARCH {
            return Ok(self.regex.is_match(text));
        }
        let build = || {
            let config = DFA::config().skip_cache_capacity_check(true);
            let dfa = DFA::builder().configure(config).build_from_nfa(self.nfa.clone()).ok()?;
            let cache = Mutex::new(dfa.create_cache());
            Some((dfa, cache))
        };
        let Some((dfa, cache)) = self.lazy_dfa.get_or_init(build) else { return Err(Interrupted) };
        // A poisoned lock is no problem: the cache is cleared before it is used.
        let mut cache = cache.lock().unwrap_or_else(PoisonError::into_inner);
        search(dfa, &mut cache, text, late).unwrap_or(Err(Interrupted))
    }
}

/// Searches with the automaton; `None` if it gives up, which it is configured not to do.
fn search(
    dfa: &DFA,
    cache: &mut Cache,
    text: &str,
    late: impl Fn() -> bool,
) -> Option<Result<bool, Interrupted>> {
    let mut state = dfa.start_state_forward(cache, &Input::new(text)).ok()?;
    for part in text.as_bytes().chunks(CHECK_INTERVAL_BYTES) {
        if late() {
            return Some(Err(Interrupted));
        }
        for byte in part {
            state = dfa.next_state(cache, state, *byte).ok()?;
            if state.is_tagged() {
                if state.is_match() {
                    return Some(Ok(true));
                }
                if state.is_dead() {
                    return Some(Ok(false));
                }
                if state.is_quit() {
                    return None;
                }
            }
        }
    }
    Some(Ok(dfa.next_eoi_state(cache, state).ok()?.is_match()))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn long_and_short_searches_agree() {
        let blanks = " ".repeat(1 << 20);
        for (pattern, text) in [
            ("^abc$", "abc"),
            ("^abc", "xabc"),
            ("abc$", "abc"),
            ("b", "abc"),
            ("(?-u:\\b)abc(?-u:\\b)", "abc"),
            ("(?-u:\\b)bc", "abc"),
            ("[жЖ]1", "ж1"),
            ("(?s:.)б", "аб"),
            ("", ""),
            ("x*$", ""),
            ("[^a]", "ж"),
        ] {
            let short = Pattern::new(pattern).unwrap().is_match(text, || false);
            assert_eq!(short, Ok(Regex::new(pattern).unwrap().is_match(text)), "{pattern} in {text}");
            for long in [format!("{text}{blanks}"), format!("{blanks}{text}")] {
                let found = Pattern::new(pattern).unwrap().is_match(&long, || false);
                assert_eq!(found, Ok(Regex::new(pattern).unwrap().is_match(&long)), "{pattern} in {text}");
            }
        }
    }

    #[test]
    fn a_search_stops_at_the_deadline() {
        let text = "ab".repeat(100_000);
        let pattern = Pattern::new("[ab]{0,250}a[ab]{200}[^ab]").unwrap();
        let looks = Cell::new(0);
        let late = || {
            looks.set(looks.get() + 1);
            looks.get() > 10
        };
        assert_eq!(pattern.is_match(&text, late), Err(Interrupted));
        assert_eq!(looks.get(), 11);
    }
}
