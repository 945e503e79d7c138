//! The app that an import becomes: one function a step in `main.js`, and the modules that they use.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use crate::{
    Format, Grade, code_names, javascript,
    workflow::{CONNECTION, Start, Step, Workflow},
};

/// Path of the module that names the steps which are left out.
pub const SKIPPED_FILE: &str = "skipped.js";

/// A module that every app may use: name, text and what it exports.
struct Module {
    name: &'static str,
    text: &'static str,
    exports: &'static [&'static str],
}

const MODULES: &[Module] = &[
    Module {
        name: "flow",
        text: include_str!("../bundle/flow.js"),
        exports: &[
            "run",
            "notWritten",
            "notTranslated",
            "itemAt",
            "each",
            "eachAsync",
            "divide",
            "sleep",
            "scheduleFields",
        ],
    },
    Module {
        name: "items",
        text: include_str!("../bundle/items.js"),
        exports: &[
            "text",
            "inText",
            "inJson",
            "writtenObject",
            "objectOf",
            "parsed",
            "get",
            "setMember",
            "set",
            "pick",
            "pickLast",
            "omit",
            "cast",
            "splitOut",
            "aggregateAll",
            "aggregateFields",
            "shuffled",
            "sorted",
            "withoutDuplicates",
            "rename",
            "summarized",
            "fileText",
            "fileOf",
            "csvRows",
            "csvText",
            "digest",
            "markdownToHtml",
            "htmlToText",
        ],
    },
    Module {
        name: "merge",
        text: include_str!("../bundle/merge.js"),
        exports: &["append", "byIndex", "byPosition", "everyPair", "byFields", "byKey"],
    },
    Module {
        name: "conditions",
        text: include_str!("../bundle/conditions.js"),
        exports: &["holds", "fulfils"],
    },
    Module { name: "dates", text: include_str!("../bundle/dates.js"), exports: &[] },
    Module { name: "extend", text: include_str!("../bundle/extend.js"), exports: &["extend"] },
    Module { name: "code", text: include_str!("../bundle/code.js"), exports: &["codeForAll", "codeForEach"] },
    Module {
        name: "requests",
        text: include_str!("../bundle/requests.js"),
        exports: &[
            "request",
            "answeredHeaders",
            "feedItems",
            "nested",
            "ownHeaders",
            "chat",
            "chatAnthropic",
            "chatGemini",
            "jsonIn",
            "readSheet",
            "appendToSheet",
            "mailOf",
            "fieldsOf",
            "addresses",
        ],
    },
    Module {
        name: "html",
        text: include_str!("../bundle/html.js"),
        exports: &["select", "textOf", "innerHtml", "extract"],
    },
    Module { name: "iml", text: include_str!("../bundle/iml.js"), exports: &["iml"] },
    Module {
        name: "messages",
        text: include_str!("../bundle/messages.js"),
        exports: &[
            "onMessages",
            "mustache",
            "changed",
            "splitMessage",
            "joined",
            "sortedMessages",
            "nodeFunction",
            "setIn",
            "switchTest",
            "csvMessage",
            "jsonMessage",
            "batched",
            "rangeOf",
        ],
    },
];

/// Names of the functions of the steps, and the files.
pub(crate) struct Written {
    pub(crate) files: BTreeMap<String, String>,
    /// Function of each step by its index.
    pub(crate) functions: BTreeMap<usize, String>,
    /// Step by the path of its code.
    pub(crate) code_files: BTreeMap<String, usize>,
}

/// Name and surroundings of the app.
pub(crate) struct Frame<'a> {
    pub(crate) name: &'a str,
    pub(crate) timezone: &'a str,
    /// Names of connections in the code by credential.
    pub(crate) connections: &'a BTreeMap<String, String>,
    /// Index of the step that starts the automation.
    pub(crate) main_start: Option<usize>,
}

/// Writes the files of an app.
pub(crate) fn write(workflow: &Workflow, order: &[usize], frame: &Frame<'_>) -> Written {
    // Names of modules are taken, so that no step hides what it uses.
    let mut taken: BTreeSet<String> =
        MODULES.iter().flat_map(|module| module.exports).map(|name| (*name).to_owned()).collect();
    let mut functions = BTreeMap::new();
    let mut files = BTreeMap::new();
    let mut code_files = BTreeMap::new();
    let mut code_imports = String::new();
    let mut bodies = String::new();
    let mut list = String::new();
    for index in order {
        let Some(step) = workflow.steps.get(*index) else { continue };
        let function = javascript::unique_name(&step.name, "step", &mut taken);
        let code = step.translation.code.as_ref().map(|code| {
            let binding = javascript::unique_name(&format!("{function} code"), "code", &mut taken);
            let path = format!("code/{function}.js");
            files.insert(path.clone(), code_module(workflow, step, code));
            code_files.insert(path.clone(), *index);
            let _ = writeln!(code_imports, "import {binding} from './{path}';");
            binding
        });
        if let Some(code) = &step.translation.uncompiled_code {
            files.insert(uncompiled_path(&function), code.clone());
        }
        write_function(&mut bodies, step, &function, code.as_deref(), frame);
        write_entry(&mut list, workflow, step, *index, &function, frame);
        functions.insert(*index, function);
    }
    let used = |text: &str, name: &str| javascript::contains_word(text, name);
    let mut imports = String::new();
    let mut modules: BTreeSet<&str> = BTreeSet::from(["flow", "items", "dates"]);
    for module in MODULES {
        let names: Vec<&str> =
            module.exports.iter().copied().filter(|name| *name == "run" || used(&bodies, name)).collect();
        if !names.is_empty() {
            modules.insert(module.name);
            let _ = writeln!(imports, "import {{ {} }} from './{}.js';", names.join(", "), module.name);
        }
    }
    for module in MODULES.iter().filter(|module| modules.contains(module.name)) {
        files.insert(format!("{}.js", module.name), module.text.to_owned());
    }
    files.insert(SKIPPED_FILE.to_owned(), skipped_module(&[]));
    let main = format!(
        "// {}\n\n{imports}import skipped from './{SKIPPED_FILE}';\n{code_imports}\n{bodies}\
         /** Steps in the order in which they run, each with the outputs that it takes: step, output, input. */\nconst steps = [\n{list}];\n\n\
         /** @type {{Qala.App}} */\nexport default {{\n  async scheduled(event, env) {{\n    return run(steps, {{ event, env, name: {}, timezone: {}, skipped }});\n  }},\n}};\n",
        javascript::comment(&format!("Imported from {}: {}", workflow.format.tool(), frame.name), 200),
        javascript::string(frame.name),
        javascript::string(frame.timezone),
    );
    files.insert("main.js".to_owned(), main);
    Written { files, functions, code_files }
}

/// Returns the module that names the items which are left out.
#[must_use]
pub fn skipped_module(ids: &[String]) -> String {
    let ids: Vec<String> = ids.iter().map(|id| javascript::string(id)).collect();
    format!(
        "// Ids of the steps that are left out.\n\n/** @type {{string[]}} */\nexport default [{}];\n",
        ids.join(", ")
    )
}

/// Path of the text of code that does not compile.
fn uncompiled_path(function: &str) -> String {
    format!("code/{function}.txt")
}

fn code_module(workflow: &Workflow, step: &Step, code: &str) -> String {
    let title = javascript::comment(
        &format!("Code of “{}”, as it was written in {}.", step.name, workflow.format.tool()),
        200,
    );
    let given = given_names(workflow.format);
    let names = given.join(", ");
    // A function of its own, in which the code may declare the same names again.
    let run = format!("(async () => {{\n{code}\n}})();");
    let assigned: Vec<String> = code_names::assigned_names(code, given).into_iter().collect();
    if assigned.is_empty() {
        return format!("// {title}\n\nexport default ({{ {names} }}) => {run}\n");
    }
    let assigned = assigned.join(", ");
    format!("// {title}\n\nexport default ({{ {names} }}) => {{ let {assigned}; return {run} }};\n")
}

/// Returns the names that code of people is given.
pub(crate) fn given_names(format: Format) -> &'static [&'static str] {
    match format {
        Format::NodeRed => &["msg", "node", "context", "flow", "global", "env", "RED"],
        Format::N8n | Format::Make => &[
            "items",
            "item",
            "$json",
            "$input",
            "$",
            "$items",
            "$node",
            "$now",
            "$today",
            "$workflow",
            "$execution",
            "$itemIndex",
            "$runIndex",
            "DateTime",
        ],
    }
}

fn write_function(to: &mut String, step: &Step, function: &str, code: Option<&str>, frame: &Frame<'_>) {
    let translation = &step.translation;
    let title = javascript::comment(&format!("{} ({}): {}", step.name, step.kind, translation.grade), 200);
    let mut notes: Vec<String> = Vec::new();
    if !step.notes.is_empty() {
        notes.push(javascript::comment(&step.notes, 300));
    }
    notes.extend(
        translation.reasons.iter().map(|reason| javascript::comment(&reason.text(kernel::Locale::En), 300)),
    );
    if notes.is_empty() {
        let _ = writeln!(to, "/** {title} */");
    } else {
        let _ = writeln!(to, "/**\n * {title}");
        for note in notes {
            let _ = writeln!(to, " * {note}");
        }
        let _ = writeln!(to, " */");
    }
    let connection = translation.connection.as_ref().and_then(|need| frame.connections.get(&need.credential));
    let connection =
        connection.map(|name| format!("flow.env.connections{}", javascript::member(name, false)));
    let mut body: Vec<String> = translation.body.clone();
    if body.is_empty() {
        if let Some(connection) = &connection {
            body.push(format!("// return request({{ via: {connection}, method: 'POST', url: '/', json: items[0].json }}).then((answer) => [answer]);"));
        }
        if translation.uncompiled_code.is_some() {
            body.push(format!("// The code as it was written: {}", uncompiled_path(function)));
        }
        body.push(format!("throw notWritten({});", javascript::string(&step.name)));
    }
    let text = body.join("\n");
    let text = connection.map_or_else(
        || text.replace(CONNECTION, "undefined"),
        |connection| text.replace(CONNECTION, &connection),
    );
    let text = code.map_or_else(|| text.clone(), |code| text.replace("CODE", code));
    let is_async = javascript::contains_word(&text, "await");
    let mut parameters = vec![];
    for (name, is_used) in [
        ("items", true),
        ("flow", javascript::contains_word(&text, "flow") || javascript::contains_word(&text, "inputs")),
        ("inputs", javascript::contains_word(&text, "inputs")),
    ] {
        if is_used {
            parameters.push(name);
        }
    }
    if !javascript::contains_word(&text, "items") && parameters.len() == 1 {
        parameters.clear();
    }
    let _ = writeln!(
        to,
        "{}function {function}({}) {{",
        if is_async { "async " } else { "" },
        parameters.join(", ")
    );
    for line in text.lines() {
        let _ = writeln!(to, "  {line}");
    }
    let _ = writeln!(to, "}}\n");
}

fn write_entry(
    to: &mut String,
    workflow: &Workflow,
    step: &Step,
    index: usize,
    function: &str,
    frame: &Frame<'_>,
) {
    let mut members = vec![
        format!("id: {}", javascript::string(&step.id)),
        format!("name: {}", javascript::string(&step.name)),
        format!("run: {function}"),
    ];
    match (&step.translation.start, Some(index) == frame.main_start) {
        (_, true) => members.push("start: 'main'".to_owned()),
        (Some(Start::Manual), false) => members.push("start: 'manual'".to_owned()),
        _ => {
            let from: Vec<String> = step
                .inputs
                .iter()
                .filter_map(|link| {
                    Some(format!(
                        "[{}, {}, {}]",
                        javascript::string(&workflow.steps.get(link.from)?.name),
                        link.output,
                        link.input
                    ))
                })
                .collect();
            members.push(format!("from: [{}]", from.join(", ")));
        }
    }
    if let Some((tries, wait)) = step.settings.retry {
        members.push(format!("retry: {{ tries: {tries}, wait: {wait} }}"));
    }
    for (is_set, name) in [
        (step.settings.once, "once"),
        (step.settings.always, "always"),
        (step.settings.continues, "continues"),
    ] {
        if is_set && step.translation.grade != Grade::Unsupported {
            members.push(format!("{name}: true"));
        }
    }
    let _ = writeln!(to, "  {{ {} }},", members.join(", "));
}
