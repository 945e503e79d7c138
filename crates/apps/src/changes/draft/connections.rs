//! Connections.

use kernel::slug::slugify;

use super::{super::instruction::fold, Draft, Note, Step};
use crate::{changes::surroundings::NamedConnection, manifest::ConnectorPermission};

impl Draft<'_> {
    pub(super) fn allow_connection(&mut self, name: String) {
        let connection = match self.find_connections(&name)[..] {
            [] => return self.notes.push(Note::NoConnection(name)),
            [found] => found.clone(),
            _ => return self.notes.push(Note::SeveralConnections(name)),
        };
        let connectors = &mut self.manifest.permissions.connectors;
        if connectors
            .iter()
            .any(|it| it.connection_id == connection.id && it.methods.is_none() && it.paths.is_none())
        {
            return self.notes.push(Note::Already(connection.name));
        }
        let binding = match connectors.iter_mut().find(|it| it.connection_id == connection.id) {
            Some(known) => {
                known.methods = None;
                known.paths = None;
                known.name.clone()
            }
            None => {
                let taken = |name: &str| connectors.iter().any(|it| it.name == name);
                let binding = free_binding(&connection.connector, taken);
                connectors.push(ConnectorPermission {
                    name: binding.clone(),
                    connection_id: connection.id,
                    methods: None,
                    paths: None,
                });
                binding
            }
        };
        self.steps.push(Step::AllowConnection { name: connection.name, binding });
    }

    pub(super) fn forbid_connection(&mut self, name: String) {
        let ids: Vec<_> = self.find_connections(&name).iter().map(|it| it.id).collect();
        let wanted = fold(&name);
        let connectors = &mut self.manifest.permissions.connectors;
        let meant = |it: &ConnectorPermission| fold(&it.name) == wanted || ids.contains(&it.connection_id);
        let bindings: Vec<String> =
            connectors.iter().filter(|it| meant(it)).map(|it| it.name.clone()).collect();
        match &bindings[..] {
            [] => self.notes.push(Note::Already(name)),
            [binding] => {
                connectors.retain(|it| it.name != *binding);
                self.steps.push(Step::ForbidConnection { binding: binding.clone() });
            }
            _ => self.notes.push(Note::SeveralConnections(name)),
        }
    }

    /// Returns the connections of this name, or else those of this connector.
    fn find_connections(&self, name: &str) -> Vec<&NamedConnection> {
        let wanted = fold(name);
        let connections = &self.surroundings.connections;
        let named: Vec<_> = connections.iter().filter(|it| fold(&it.name) == wanted).collect();
        if !named.is_empty() {
            return named;
        }
        connections.iter().filter(|it| it.connector == wanted).collect()
    }
}

/// Returns a name for the code, made of a text, that is not taken.
pub(super) fn free_binding(text: &str, taken: impl Fn(&str) -> bool) -> String {
    let slug = slugify(text, 30).replace('-', "_");
    let begins_well = slug.starts_with(|c: char| c.is_ascii_alphabetic());
    let base = if begins_well { slug } else { format!("p_{slug}") };
    if !taken(&base) {
        return base;
    }
    (2..).map(|number| format!("{base}_{number}")).find(|name| !taken(name)).unwrap_or(base)
}
