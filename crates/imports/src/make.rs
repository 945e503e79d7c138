//! Blueprints of Make scenarios.

mod conditions;
mod http;
mod iml;
mod module;
mod modules;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    Format, Grade, Sentence, cron,
    report::MAX_ITEMS,
    source::InvalidSource,
    workflow::{Link, Settings, Start, Step, Translation, Workflow},
};

use module::Module;

/// Deepest nesting of routes.
const MAX_DEPTH: usize = 32;

/// Reads a blueprint.
pub(crate) fn read(source: &Value) -> Result<Workflow, InvalidSource> {
    let flow = source.get("flow").and_then(Value::as_array).ok_or(InvalidSource::UnknownFormat)?;
    let mut listed = Listing::default();
    listed.list(flow, &["flow".to_owned()], &[], 0);
    let names: BTreeMap<String, String> =
        listed.modules.iter().map(|module| (module.id.clone(), module.name.clone())).collect();
    let interval = source
        .pointer("/scheduling/interval")
        .or_else(|| source.pointer("/metadata/scheduling/interval"))
        .and_then(Value::as_u64);
    let mut steps = Vec::with_capacity(listed.modules.len());
    for (index, mut module) in listed.modules.into_iter().enumerate() {
        module.names.clone_from(&names);
        let mut translation = if module.handles_errors {
            Translation::apart(Grade::Unsupported, Sentence::ErrorOutput)
        } else {
            modules::translate(&module)
        };
        if index == 0 && translation.start.is_none() && translation.runs {
            // A scenario without a trigger begins with its first module.
            let plan = interval.map(cron::every_seconds);
            if let Some(change) = plan.as_ref().and_then(|plan| plan.change) {
                translation.lower(Sentence::Schedule(change));
            }
            let cron = plan.and_then(|plan| plan.cron);
            translation.start = Some(cron.map_or(Start::Manual, Start::Schedule));
        }
        steps.push(Step {
            id: module.id.clone(),
            name: module.name.clone(),
            kind: module.kind.to_owned(),
            notes: module.notes.to_owned(),
            place: module.place.clone(),
            inputs: module.inputs.clone(),
            settings: Settings::default(),
            translation,
        });
    }
    Ok(Workflow {
        format: Format::Make,
        name: source.get("name").and_then(Value::as_str).unwrap_or_default().to_owned(),
        steps,
        timezone: None,
        total: listed.total,
        warnings: Vec::new(),
    })
}

/// The modules of a blueprint, in the order in which they stand.
#[derive(Default)]
struct Listing<'a> {
    modules: Vec<Module<'a>>,
    total: usize,
}

impl<'a> Listing<'a> {
    /// Lists a flow that begins after some outputs; returns the outputs at which it ends.
    fn list(
        &mut self,
        flow: &'a [Value],
        place: &[String],
        before: &[(usize, usize)],
        depth: usize,
    ) -> Vec<(usize, usize)> {
        let mut before = before.to_vec();
        for (index, value) in flow.iter().enumerate() {
            self.total += 1;
            if self.modules.len() >= MAX_ITEMS || depth > MAX_DEPTH {
                continue;
            }
            let place: Vec<String> = place.iter().cloned().chain([index.to_string()]).collect();
            let Some(mut module) = Module::read(value, place.clone(), self.modules.len()) else { continue };
            module.inputs =
                before.iter().map(|(from, output)| Link { from: *from, output: *output, input: 0 }).collect();
            if self.modules.iter().any(|known| known.id == module.id) {
                module.id = format!("{}-{}", module.id, self.modules.len());
            }
            let base = module.name.clone();
            for number in 2.. {
                if !self.modules.iter().any(|known| known.name == module.name) {
                    break;
                }
                module.name = format!("{base} ({number})");
            }
            let at = self.modules.len();
            self.modules.push(module);
            before = vec![(at, 0)];
            let branches = self.branches(value, &place, at, depth);
            if !branches.is_empty() {
                before = branches;
            }
            if let Some(handlers) = value.get("onerror").and_then(Value::as_array) {
                let from = self.modules.len();
                let place: Vec<String> = place.iter().cloned().chain(["onerror".to_owned()]).collect();
                self.list(handlers, &place, &[], depth + 1);
                for module in self.modules.iter_mut().skip(from) {
                    module.handles_errors = true;
                }
            }
        }
        before
    }

    /// Lists the routes of a router or the branches of a condition; returns the outputs at which those end that are merged.
    fn branches(
        &mut self,
        value: &'a Value,
        place: &[String],
        at: usize,
        depth: usize,
    ) -> Vec<(usize, usize)> {
        let mut ends = Vec::new();
        for list in ["routes", "branches"] {
            for (output, branch) in
                value.get(list).and_then(Value::as_array).into_iter().flatten().enumerate().take(MAX_ITEMS)
            {
                let Some(flow) = branch.get("flow").and_then(Value::as_array) else { continue };
                let place: Vec<String> = place
                    .iter()
                    .cloned()
                    .chain([list.to_owned(), output.to_string(), "flow".to_owned()])
                    .collect();
                let end = self.list(flow, &place, &[(at, output)], depth + 1);
                if list == "branches" && branch.get("merge").and_then(Value::as_bool) != Some(false) {
                    ends.extend(end);
                }
            }
        }
        ends
    }
}
