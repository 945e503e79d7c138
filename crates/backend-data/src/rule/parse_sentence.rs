//! Parser of rules as sentences, in exactly the form that [`Rule::to_full_sentence`] writes.

use serde_json::Number;

use super::{Action, Audience, Comparison, Condition, Operand, Rule, Scalar};
use crate::error::{Error, Quoted, Result};

/// The comparisons; a phrase that begins with another one comes before it.
const COMPARISONS: [Comparison; 6] =
    [Comparison::Neq, Comparison::Gt, Comparison::Gte, Comparison::Lt, Comparison::Lte, Comparison::Eq];

impl Rule {
    /// Parses a rule from a sentence and gives it an id. [`Engine::set_rules`](crate::Engine::set_rules) checks that it
    /// fits the table.
    ///
    /// ```
    /// use backend_data::Rule;
    ///
    /// let sentence = "Signed-in people may read and update rows where owner is the signed-in person.";
    /// let rule = Rule::from_sentence("own", sentence)?;
    /// assert_eq!(rule.to_sentence(), sentence);
    /// # Ok::<(), backend_data::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`](crate::ErrorKind::Invalid) if the sentence is not one that [`Rule::to_full_sentence`]
    /// writes. The message shows where it differs.
    pub fn from_sentence(id: &str, sentence: &str) -> Result<Self> {
        let mut words = SentenceParser { rest: sentence.trim() };
        let audience = words.audience()?;
        words.expect(" may ")?;
        let actions = words.actions()?;
        let columns = words.columns()?;
        let condition = if words.eat(" every row") {
            Condition::All
        } else {
            words.expect(" rows where ")?;
            words.disjunction()?
        };
        words.expect(".")?;
        if !words.rest.is_empty() {
            return Err(words.unexpected("the end of the sentence"));
        }
        Ok(Self {
            id: id.to_owned(),
            audience,
            actions,
            condition,
            columns,
            migrated: None,
            sentence: String::new(),
        })
    }
}

struct SentenceParser<'s> {
    rest: &'s str,
}

impl<'s> SentenceParser<'s> {
    fn eat(&mut self, words: &str) -> bool {
        self.rest.strip_prefix(words).map(|rest| self.rest = rest).is_some()
    }

    fn expect(&mut self, words: &str) -> Result<()> {
        if self.eat(words) { Ok(()) } else { Err(self.unexpected(&format!("{}", Quoted(words)))) }
    }

    fn unexpected(&self, wanted: &str) -> Error {
        let at = if self.rest.is_empty() { "the end".to_owned() } else { Quoted(self.rest).to_string() };
        Error::invalid_request(format!("the sentence is not a rule: expected {wanted} at {at}")).with_hint(
            "A rule reads like `Signed-in people may read and update rows where owner is the signed-in person.`",
        )
    }

    fn name(&mut self) -> Result<&'s str> {
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-');
        let end = self.rest.find(|c| !fits(c)).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        if name.is_empty() {
            return Err(self.unexpected("a name"));
        }
        self.rest = rest;
        Ok(name)
    }

    fn audience(&mut self) -> Result<Audience> {
        if self.eat("Anyone") {
            Ok(Audience::Anyone)
        } else if self.eat("Visitors") {
            Ok(Audience::Visitors)
        } else if self.eat("Signed-in people") {
            Ok(Audience::SignedIn)
        } else if self.eat("People with the role ") {
            Ok(Audience::Role { role: self.name()?.to_owned() })
        } else {
            Err(self.unexpected("Anyone, Visitors, Signed-in people or People with the role"))
        }
    }

    fn actions(&mut self) -> Result<Vec<Action>> {
        let mut actions = Vec::new();
        loop {
            let action = [Action::Read, Action::Insert, Action::Update, Action::Delete]
                .into_iter()
                .find(|action| self.eat(action.verb()))
                .ok_or_else(|| self.unexpected("read, insert, update or delete"))?;
            actions.push(action);
            if !self.eat(", ") && !self.eat(" and ") {
                return Ok(actions);
            }
        }
    }

    /// Parses ` a, b of`, or nothing before ` every row` and ` rows where `.
    fn columns(&mut self) -> Result<Option<Vec<String>>> {
        if self.rest.starts_with(" every row") || self.rest.starts_with(" rows where ") {
            return Ok(None);
        }
        self.expect(" ")?;
        let mut columns = vec![self.name()?.to_owned()];
        while self.eat(", ") {
            columns.push(self.name()?.to_owned());
        }
        self.expect(" of")?;
        Ok(Some(columns))
    }

    fn disjunction(&mut self) -> Result<Condition> {
        let mut of = vec![self.conjunction()?];
        while self.eat(", or ") {
            of.push(self.conjunction()?);
        }
        Ok(single_or(of, |of| Condition::Or { of }))
    }

    fn conjunction(&mut self) -> Result<Condition> {
        let mut of = vec![self.comparison()?];
        while self.eat(" and ") {
            of.push(self.comparison()?);
        }
        Ok(single_or(of, |of| Condition::And { of }))
    }

    fn comparison(&mut self) -> Result<Condition> {
        let column = self.name()?.to_owned();
        if self.eat(" is not empty") {
            return Ok(Condition::Null { column, is_null: false });
        }
        if self.eat(" is empty") {
            return Ok(Condition::Null { column, is_null: true });
        }
        if self.eat(" is one of ") {
            let mut values = vec![self.scalar()?];
            // `, or ` begins the next condition.
            while !self.rest.starts_with(", or ") && self.eat(", ") {
                values.push(self.scalar()?);
            }
            if self.eat(" or ") {
                values.push(self.scalar()?);
            }
            return Ok(Condition::In { column, values });
        }
        self.expect(" ")?;
        let op = COMPARISONS
            .into_iter()
            .find(|op| self.eat(op.phrase()))
            .ok_or_else(|| self.unexpected("a comparison such as `is at least`"))?;
        self.expect(" ")?;
        let value = if self.eat("the signed-in person") {
            Operand::Me
        } else if self.eat("their claim ") {
            Operand::Claim { name: self.name()?.to_owned() }
        } else {
            Operand::Lit { v: self.scalar()? }
        };
        Ok(Condition::Cmp { column, op, value })
    }

    fn scalar(&mut self) -> Result<Scalar> {
        if self.eat("true") {
            return Ok(Scalar::Boolean(true));
        }
        if self.eat("false") {
            return Ok(Scalar::Boolean(false));
        }
        if self.rest.starts_with('"') {
            return self.text().map(Scalar::Text);
        }
        let number = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
        let end = self.rest.find(|c| !number(c)).unwrap_or(self.rest.len());
        // A full stop at the end is the sentence's.
        let text = self.rest.get(..end).unwrap_or_default();
        let text = text.strip_suffix('.').unwrap_or(text);
        let read =
            text.parse::<Number>().map_err(|_| self.unexpected("a number, true, false or text in quotes"))?;
        self.rest = self.rest.get(text.len()..).unwrap_or_default();
        Ok(Scalar::Number(read))
    }

    fn text(&mut self) -> Result<String> {
        let mut text = String::new();
        let mut chars = self.rest.char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.rest = self.rest.get(at + 1..).unwrap_or_default();
                    return Ok(text);
                }
                '\\' => text.extend(chars.next().map(|(_, c)| c)),
                other => text.push(other),
            }
        }
        Err(self.unexpected("text that ends in a quote"))
    }
}

fn single_or(mut of: Vec<Condition>, many: impl FnOnce(Vec<Condition>) -> Condition) -> Condition {
    match (of.pop(), of.is_empty()) {
        (Some(only), true) => only,
        (last, _) => {
            of.extend(last);
            many(of)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn scalars() -> impl Strategy<Value = Scalar> {
        prop_oneof![
            "[a-z\"\\\\, .]{0,6}".prop_map(Scalar::Text),
            any::<bool>().prop_map(Scalar::Boolean),
            any::<i64>().prop_map(|n| Scalar::Number(n.into())),
            (-1e6..1e6).prop_map(|n| Scalar::Number(Number::from_f64(n).unwrap())),
        ]
    }

    fn singles() -> impl Strategy<Value = Condition> {
        let column =
            || prop::sample::select(vec!["owner", "qty", "is_one", "and_or"]).prop_map(str::to_owned);
        let value = prop_oneof![
            scalars().prop_map(|v| Operand::Lit { v }),
            Just(Operand::Me),
            Just(Operand::Claim { name: "team-id".into() })
        ];
        prop_oneof![
            (column(), prop::sample::select(COMPARISONS.to_vec()), value)
                .prop_map(|(column, op, value)| Condition::Cmp { column, op, value }),
            (column(), prop::collection::vec(scalars(), 1..4))
                .prop_map(|(column, values)| Condition::In { column, values }),
            (column(), any::<bool>()).prop_map(|(column, is_null)| Condition::Null { column, is_null }),
        ]
    }

    fn conditions() -> impl Strategy<Value = Condition> {
        let both = || prop::collection::vec(singles(), 2..4).prop_map(|of| Condition::And { of });
        prop_oneof![
            Just(Condition::All),
            singles(),
            both(),
            prop::collection::vec(prop_oneof![singles(), both()], 2..4).prop_map(|of| Condition::Or { of }),
        ]
    }

    proptest! {
        #[test]
        fn a_rule_is_parsed_from_its_sentence(
            condition in conditions(),
            audience in prop::sample::select(vec![Audience::Anyone, Audience::Visitors, Audience::SignedIn, Audience::Role { role: "team-lead".into() }]),
            actions in prop::sample::subsequence(vec![Action::Read, Action::Insert, Action::Update, Action::Delete], 1..=4),
            columns in prop::option::of(prop::sample::subsequence(vec!["id".to_owned(), "qty".into(), "of".into()], 1..=3)),
        ) {
            let rule = Rule { id: "one".into(), audience, actions, condition, columns, migrated: None, sentence: String::new() };
            let sentence = rule.to_full_sentence();
            prop_assert!(rule.to_sentence().chars().count() <= 400);
            prop_assert_eq!(Rule::from_sentence("one", &sentence).unwrap(), rule, "{}", sentence);
        }

        #[test]
        fn no_sentence_makes_the_parser_panic(sentence in ".{0,80}") {
            let _ = Rule::from_sentence("one", &sentence);
        }
    }
}
