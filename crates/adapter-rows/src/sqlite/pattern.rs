//! Regular expressions that look at the clock: SQLite cannot interrupt a function, and an expression of a few hundred
//! states takes seconds for a megabyte of text.

use std::sync::{Mutex, OnceLock, PoisonError};

use regex::{Regex, RegexBuilder};
use regex_automata::{
    Input,
    hybrid::dfa::{Cache, DFA},
    nfa::thompson::{self, NFA},
};

/// How large an expression may become once compiled. The engine has counted its states before.
const MAX_COMPILED: usize = 8 << 20;
/// Up to this product of the text's length and the expression's states a search is short enough to be let run: some
/// milliseconds.
const SHORT_SEARCH: usize = 1 << 18;
/// How many bytes are searched between two looks at the clock.
const CHECK_INTERVAL_BYTES: usize = 256;

/// A compiled expression.
pub(super) struct Pattern {
    regex: Regex,
    nfa: NFA,
    /// For long searches; made for the first one.
    lazy_dfa: OnceLock<Option<(DFA, Mutex<Cache>)>>,
}

/// A search was stopped.
#[derive(Debug, PartialEq)]
pub(super) struct Interrupted;

impl Pattern {
    pub(super) fn new(pattern: &str) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        let regex = RegexBuilder::new(pattern).size_limit(MAX_COMPILED).build()?;
        let config = thompson::Config::new().nfa_size_limit(Some(MAX_COMPILED));
        let nfa = thompson::Compiler::new().configure(config).build(pattern)?;
        Ok(Self { regex, nfa, lazy_dfa: OnceLock::new() })
    }

    /// Whether the expression is found in the text. It takes time linear in the text, and ends soon after it is late.
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
        // A panic elsewhere leaves a cache that is cleared before it is used.
        let mut cache = cache.lock().unwrap_or_else(PoisonError::into_inner);
        search(dfa, &mut cache, text, late).unwrap_or(Err(Interrupted))
    }
}

/// Nothing where the automaton gives up, which it is not set to.
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
    fn a_search_ends_when_it_is_late() {
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
