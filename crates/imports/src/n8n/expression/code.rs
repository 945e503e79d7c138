//! A piece of translated code, and what it gives.

/// Value of a piece of code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Anything.
    Value,
    /// The members of an item, which are always there.
    Json,
    /// An item, or what stands for one that is missing.
    Item,
    /// A list of items.
    Items,
    /// `$('Step')`: a step.
    Step,
    /// `$input`.
    Input,
    /// A date with a time zone.
    Date,
    /// A name of the language with members, such as `Math`.
    Global,
    /// `$node`.
    Nodes,
    /// `$workflow`, `$execution`: objects with fixed members.
    Fixed,
}

#[derive(Debug, Clone)]
pub(super) struct Code {
    pub(super) text: String,
    pub(super) kind: Kind,
    /// Precedence of the outermost operator; 20 for what needs no parentheses.
    pub(super) level: u8,
}

impl Code {
    pub(super) fn value(text: impl Into<String>) -> Self {
        Self { text: text.into(), kind: Kind::Value, level: 20 }
    }

    pub(super) fn of(text: impl Into<String>, kind: Kind) -> Self {
        Self { text: text.into(), kind, level: 20 }
    }

    /// Returns the text as a value of its own.
    pub(super) fn into_value(self) -> String {
        self.text
    }

    /// Returns the text in parentheses if it binds weaker than `level`.
    pub(super) fn at(self, level: u8) -> String {
        if self.level < level { format!("({})", self.text) } else { self.text }
    }
}
