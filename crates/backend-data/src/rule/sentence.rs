//! Rules as sentences.

use super::{Audience, Comparison, Condition, Operand, Rule, Scalar};

/// Maximum length of [`Rule::to_sentence`] in characters.
const MAX_SENTENCE: usize = 400;

impl Comparison {
    pub(super) fn phrase(self) -> &'static str {
        match self {
            Self::Eq => "is",
            Self::Neq => "is not",
            Self::Gt => "is greater than",
            Self::Gte => "is at least",
            Self::Lt => "is less than",
            Self::Lte => "is at most",
        }
    }
}

impl Scalar {
    fn phrase(&self) -> String {
        match self {
            Self::Text(text) => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
            Self::Boolean(value) => value.to_string(),
            Self::Number(number) => number.to_string(),
        }
    }
}

impl Rule {
    /// Writes the rule as an English sentence of at most 400 characters. A longer one is cut and ends in `…`.
    #[must_use]
    pub fn to_sentence(&self) -> String {
        let sentence = self.to_full_sentence();
        if sentence.chars().count() <= MAX_SENTENCE {
            return sentence;
        }
        sentence.chars().take(MAX_SENTENCE - 1).chain(['…']).collect()
    }

    /// Writes the rule as an English sentence of any length, which [`Rule::from_sentence`] parses.
    #[must_use]
    pub fn to_full_sentence(&self) -> String {
        let who = match &self.audience {
            Audience::Anyone => "Anyone".to_owned(),
            Audience::Visitors => "Visitors".to_owned(),
            Audience::SignedIn => "Signed-in people".to_owned(),
            Audience::Role { role } => format!("People with the role {role}"),
        };
        let verbs: Vec<&str> = self.actions.iter().map(|action| action.verb()).collect();
        let what = match &self.columns {
            None => String::new(),
            Some(columns) => format!(" {} of", columns.join(", ")),
        };
        let which = match &self.condition {
            Condition::All => " every row".to_owned(),
            condition => format!(" rows where {}", condition_phrase(condition)),
        };
        format!("{who} may {}{what}{which}.", join_list(&verbs, "and"))
    }
}

fn join_list(words: &[&str], joint: &str) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [most @ .., last] => format!("{} {joint} {last}", most.join(", ")),
    }
}

fn condition_phrase(condition: &Condition) -> String {
    let joined =
        |of: &[Condition], joint: &str| of.iter().map(condition_phrase).collect::<Vec<_>>().join(joint);
    match condition {
        Condition::All => "anything holds".to_owned(),
        Condition::Cmp { column, op, value } => {
            let value = match value {
                Operand::Lit { v } => v.phrase(),
                Operand::Me => "the signed-in person".to_owned(),
                Operand::Claim { name } => format!("their claim {name}"),
            };
            format!("{column} {} {value}", op.phrase())
        }
        Condition::In { column, values } => {
            let values: Vec<String> = values.iter().map(Scalar::phrase).collect();
            let values: Vec<&str> = values.iter().map(String::as_str).collect();
            format!("{column} is one of {}", join_list(&values, "or"))
        }
        Condition::Null { column, is_null: true } => format!("{column} is empty"),
        Condition::Null { column, is_null: false } => format!("{column} is not empty"),
        Condition::And { of } => joined(of, " and "),
        Condition::Or { of } => joined(of, ", or "),
    }
}
