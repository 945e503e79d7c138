//! Tables of backend projects.

use super::{super::instruction::fold, Draft, Note, Step, connections::free_binding};
use crate::{
    changes::surroundings::NamedProject,
    manifest::{DataAccess, DataPermission},
};

impl Draft<'_> {
    pub(super) fn allow_table(&mut self, table: &str, project: Option<&str>, access: DataAccess) {
        let (project, table) = match self.find_table(table, project) {
            Ok(found) => found,
            Err(note) => return self.notes.push(note),
        };
        if access == DataAccess::Write && !project.may_write {
            return self.notes.push(Note::MayNotWrite { table, project: project.name });
        }
        let data = &mut self.manifest.permissions.data;
        let has = |it: &DataPermission| {
            it.project_id == project.id
                && (it.access == access || it.access == DataAccess::Write)
                && it.tables.as_ref().is_none_or(|tables| tables.contains(&table))
        };
        if data.iter().any(has) {
            return self.notes.push(Note::Already(table));
        }
        // What may be done with other tables stays as it is: a binding has one kind of access for all of its tables.
        let fits = data.iter_mut().find(|it| it.project_id == project.id && it.access == access);
        let binding = match fits {
            Some(DataPermission { name, tables: Some(tables), .. }) => {
                tables.push(table.clone());
                name.clone()
            }
            _ => {
                let taken = |name: &str| data.iter().any(|it| it.name == name);
                let is_first = !data.iter().any(|it| it.project_id == project.id);
                let text = if is_first { project.slug } else { format!("{} {table}", project.slug) };
                let name = free_binding(&text, taken);
                data.push(DataPermission {
                    name: name.clone(),
                    project_id: project.id,
                    access,
                    tables: Some(vec![table.clone()]),
                });
                name
            }
        };
        self.steps.push(Step::AllowTable { table, project: project.name, access, binding });
    }

    pub(super) fn forbid_table(&mut self, table: String, project: Option<&str>) {
        let bindings = self.bindings_with(&table, project, |_| true);
        if bindings.is_empty() {
            return self.notes.push(Note::Already(table));
        }
        for binding in bindings {
            let data = &mut self.manifest.permissions.data;
            let Some(at) = data.iter().position(|it| it.name == binding) else { continue };
            let Some(tables) = &mut data[at].tables else {
                self.notes.push(Note::WholeProject { table: table.clone(), binding });
                continue;
            };
            tables.retain(|known| fold(known) != fold(&table));
            if tables.is_empty() {
                data.remove(at);
            }
            self.steps.push(Step::ForbidTable { table: table.clone(), binding });
        }
    }

    pub(super) fn forbid_writing(&mut self, table: String, project: Option<&str>) {
        let bindings = self.bindings_with(&table, project, |it| it.access == DataAccess::Write);
        if bindings.is_empty() {
            return self.notes.push(Note::Already(table));
        }
        for binding in bindings {
            let data = &mut self.manifest.permissions.data;
            let Some(known) = data.iter_mut().find(|it| it.name == binding) else { continue };
            if known.tables.as_ref().is_none_or(|tables| tables.len() > 1) {
                self.notes.push(Note::WholeProject { table: table.clone(), binding });
                continue;
            }
            known.access = DataAccess::Read;
            self.steps.push(Step::ForbidWriting { table: table.clone(), binding });
        }
    }

    pub(super) fn forbid_project(&mut self, name: String) {
        let wanted = fold(&name);
        let ids: Vec<_> =
            self.surroundings.projects.iter().filter(|it| is_named(it, &wanted)).map(|it| it.id).collect();
        let data = &mut self.manifest.permissions.data;
        let meant = |it: &DataPermission| fold(&it.name) == wanted || ids.contains(&it.project_id);
        let bindings: Vec<String> = data.iter().filter(|it| meant(it)).map(|it| it.name.clone()).collect();
        if bindings.is_empty() {
            return self.notes.push(Note::Already(name));
        }
        data.retain(|it| !bindings.contains(&it.name));
        self.steps.extend(bindings.into_iter().map(|binding| Step::ForbidProject { binding }));
    }

    /// Returns the names of the permissions that allow this table.
    fn bindings_with(
        &self,
        table: &str,
        project: Option<&str>,
        matches: impl Fn(&DataPermission) -> bool,
    ) -> Vec<String> {
        let (wanted, table) = (project.map(fold), fold(table));
        let projects = &self.surroundings.projects;
        let is_meant = |it: &DataPermission| {
            let known = projects.iter().find(|known| known.id == it.project_id);
            let of_project = wanted.as_ref().is_none_or(|wanted| {
                fold(&it.name) == *wanted || known.is_some_and(|known| is_named(known, wanted))
            });
            let of_table = match &it.tables {
                Some(tables) => tables.iter().any(|known| fold(known) == table),
                None => known.is_none_or(|known| known.tables.iter().any(|known| fold(known) == table)),
            };
            of_project && of_table && matches(it)
        };
        let data = self.manifest.permissions.data.iter();
        data.filter(|it| is_meant(it)).map(|it| it.name.clone()).collect()
    }

    /// Finds a table by its name and that of its project. Of several projects with the table, one that the app uses already
    /// comes first.
    fn find_table(&self, table: &str, project: Option<&str>) -> Result<(NamedProject, String), Note> {
        let wanted = fold(table);
        let mut projects: Vec<&NamedProject> = self.surroundings.projects.iter().collect();
        if let Some(name) = project {
            let name = fold(name);
            projects.retain(|it| is_named(it, &name));
            if projects.is_empty() {
                return Err(Note::NoProject(name));
            }
        }
        projects.retain(|it| it.tables.iter().any(|known| fold(known) == wanted));
        if projects.len() > 1 {
            let is_used = |it: &&NamedProject| {
                self.manifest.permissions.data.iter().any(|known| known.project_id == it.id)
            };
            let used: Vec<_> = projects.iter().copied().filter(is_used).collect();
            if used.len() == 1 {
                projects = used;
            }
        }
        match projects[..] {
            [] => Err(Note::NoTable(table.to_owned())),
            [project] => {
                let is_exact = |known: &&String| **known == table;
                let mut folded = project.tables.iter().filter(|known| fold(known) == wanted);
                let found = match (project.tables.iter().find(is_exact), folded.next(), folded.next()) {
                    (Some(exact), ..) => exact,
                    (None, Some(only), None) => only,
                    _ => return Err(Note::SeveralTables(table.to_owned())),
                };
                Ok((project.clone(), found.clone()))
            }
            _ => Err(Note::SeveralTables(table.to_owned())),
        }
    }
}

fn is_named(project: &NamedProject, wanted: &str) -> bool {
    fold(&project.name) == wanted || project.slug == wanted
}
