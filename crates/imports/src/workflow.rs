//! A workflow as all formats can express it: steps in the order in which they run, and the links between them.

use std::collections::BTreeSet;

use crate::{
    Format, Grade, Sentence,
    hosts::{UrlHost, host_of},
    javascript::contains_word,
};

/// A workflow, read and translated.
#[derive(Debug, Clone)]
pub(crate) struct Workflow {
    pub(crate) format: Format,
    /// Name; empty if the export has none.
    pub(crate) name: String,
    /// Steps in the order of the export.
    pub(crate) steps: Vec<Step>,
    /// IANA time zone of schedules and dates, if the export names one.
    pub(crate) timezone: Option<String>,
    /// Number of steps in the export, also of those that are not read because there are too many.
    pub(crate) total: usize,
    /// Facts about the whole that the reader should know.
    pub(crate) warnings: Vec<Sentence>,
}

/// A step.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    /// Id of its item in the report; unique.
    pub(crate) id: String,
    /// Name; unique, because expressions refer to steps by it.
    pub(crate) name: String,
    /// Type, as the tool calls it.
    pub(crate) kind: String,
    /// Notes of people about it.
    pub(crate) notes: String,
    /// Members and indices that lead to it in the export.
    pub(crate) place: Vec<String>,
    /// Links that lead to it.
    pub(crate) inputs: Vec<Link>,
    pub(crate) settings: Settings,
    pub(crate) translation: Translation,
}

/// A link from another step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Link {
    /// Index of the step that it comes from.
    pub(crate) from: usize,
    /// Output of that step.
    pub(crate) output: usize,
    /// Input of this step.
    pub(crate) input: usize,
}

/// Settings that a tool offers for every step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    /// Attempts, and the milliseconds between them.
    pub(crate) retry: Option<(u32, u32)>,
    /// `true` if only the first item is processed.
    pub(crate) once: bool,
    /// `true` if an empty item follows from no items.
    pub(crate) always: bool,
    /// `true` if a failure becomes an item.
    pub(crate) continues: bool,
}

/// A way in which a workflow starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Start {
    /// A person.
    Manual,
    /// A call of a webhook.
    Webhook,
    /// A submitted form.
    Form,
    /// A cron expression of five fields.
    Schedule(String),
}

/// Result of translating a step.
#[derive(Debug, Clone)]
pub(crate) struct Translation {
    pub(crate) grade: Grade,
    /// Way in which the step starts the workflow, if it does.
    pub(crate) start: Option<Start>,
    /// Lines of the function's body.
    pub(crate) body: Vec<String>,
    /// Code that people wrote, as the body of a function in a module of its own.
    pub(crate) code: Option<String>,
    /// The same, if it does not compile: it is kept as text.
    pub(crate) uncompiled_code: Option<String>,
    /// Reasons for the grade, and facts to know.
    pub(crate) reasons: Vec<Sentence>,
    pub(crate) connection: Option<Need>,
    /// Hosts that it calls without a connection, with the method.
    pub(crate) hosts: BTreeSet<(String, String)>,
    /// Headers with credentials that it sets itself, with the host.
    pub(crate) headers: BTreeSet<(String, &'static str)>,
    /// `true` if it is a part of the flow: notes and settings of other steps are not.
    pub(crate) runs: bool,
}

/// A connection that a step needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Need {
    /// Credential in the export, which tells connections of one connector apart.
    pub(crate) credential: String,
    /// Connector of the catalogue; none if the service is not in it.
    pub(crate) connector: Option<String>,
    /// Name that people gave, or that of the service.
    pub(crate) name: String,
    /// Base URL that the code expects.
    pub(crate) base_url: Option<String>,
    pub(crate) methods: BTreeSet<String>,
}

/// The text in a body that stands for the connection, as `env.connections.NAME`.
pub(crate) const CONNECTION: &str = "flow.connection";

impl Translation {
    /// Returns an exact translation.
    pub(crate) fn exact(body: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            grade: Grade::Exact,
            start: None,
            body: body.into_iter().map(Into::into).collect(),
            code: None,
            uncompiled_code: None,
            reasons: Vec::new(),
            connection: None,
            hosts: BTreeSet::new(),
            headers: BTreeSet::new(),
            runs: true,
        }
    }

    /// Returns an exact translation of a step that treats all items alike: what an expression says of the current item, such as the name
    /// of a field, it says of the first.
    pub(crate) fn exact_for_all(body: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let mut translation = Self::exact(body);
        for (name, declaration) in [("index", "const index = 0;"), ("item", "const [item] = items;")] {
            if translation.body.iter().any(|line| contains_word(line, name)) {
                translation.body.insert(0, declaration.to_owned());
            }
        }
        translation
    }

    /// Returns the translation of a step that starts the workflow.
    pub(crate) fn start(start: Start, body: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { start: Some(start), ..Self::exact(body) }
    }

    /// Returns the translation of a step that fails until somebody writes it.
    pub(crate) fn unsupported(reason: Sentence) -> Self {
        let nothing = Self::exact(Vec::<String>::new());
        Self { grade: Grade::Unsupported, reasons: vec![reason], ..nothing }
    }

    /// Returns the translation of a trigger that is not kept. If nothing else starts the workflow, a person does, and the step gives
    /// what they gave.
    pub(crate) fn lost_start(reason: Sentence) -> Self {
        let given = Self::start(Start::Manual, ["return [[{ json: objectOf(flow.event.data) }]];"]);
        Self { grade: Grade::Unsupported, reasons: vec![reason], ..given }
    }

    /// Returns the translation of a step that passes its items on.
    pub(crate) fn ignored(reason: Sentence) -> Self {
        let passes = Self::exact(["return [items];"]);
        Self { grade: Grade::Ignored, reasons: vec![reason], ..passes }
    }

    /// Returns the translation of what is no step of the flow.
    pub(crate) fn apart(grade: Grade, reason: Sentence) -> Self {
        let nothing = Self::exact(Vec::<String>::new());
        Self { grade, reasons: vec![reason], runs: false, ..nothing }
    }

    /// Lowers the grade to partial, for a reason.
    pub(crate) fn partial(mut self, reason: Sentence) -> Self {
        self.lower(reason);
        self
    }

    /// Lowers the grade to partial, for a reason.
    pub(crate) fn lower(&mut self, reason: Sentence) {
        if self.grade == Grade::Exact {
            self.grade = Grade::Partial;
        }
        if !self.reasons.contains(&reason) {
            self.reasons.push(reason);
        }
    }

    /// Takes the code away, for a reason. What was said about the code is true no more.
    pub(crate) fn fail(&mut self, reason: Sentence) {
        self.grade = Grade::Unsupported;
        self.start = None;
        self.body = Vec::new();
        self.code = None;
        self.headers.clear();
        self.reasons.retain(|known| matches!(known, Sentence::SecretRemoved));
        if !self.reasons.contains(&reason) {
            self.reasons.push(reason);
        }
    }

    /// Takes code away that does not compile, and keeps it as text.
    pub(crate) fn fail_to_compile(&mut self, error: String) {
        let code = self.code.take();
        self.fail(Sentence::CodeInvalid(error));
        self.uncompiled_code = code;
    }

    /// Returns the connection that the code uses. What is not translated needs none, until somebody writes it.
    pub(crate) fn used_connection(&self) -> Option<&Need> {
        let is_used = self.body.iter().any(|line| line.contains(CONNECTION));
        self.connection.as_ref().filter(|_| is_used)
    }

    pub(crate) fn with_connection(mut self, need: Need) -> Self {
        self.connection = Some(need);
        self
    }

    /// Permits the host of a URL, if it is known.
    pub(crate) fn with_host_of(mut self, url: &str, method: &str) -> Self {
        match host_of(url) {
            UrlHost::Name(host) => {
                self.hosts.insert((host, method.to_owned()));
                self
            }
            UrlHost::Unreachable => self.partial(Sentence::UnreachableHost),
            UrlHost::Dynamic => self.partial(Sentence::DynamicHost),
        }
    }

    /// Asks for a header with credentials that the step sets itself, if the host of its URL is known.
    pub(crate) fn with_credential_header(mut self, url: &str, name: &'static str) -> Self {
        match host_of(url) {
            UrlHost::Name(host) => {
                self.headers.insert((host, name));
                self
            }
            UrlHost::Unreachable => self,
            UrlHost::Dynamic => self.partial(Sentence::HeaderOfDynamicHost(name)),
        }
    }
}
