//! Apps from templates: what a person chose is checked, and missing tables are created.

use std::collections::BTreeMap;

use apps::templates::{
    ChosenConnection, FillTemplate, FilledAutomation, FilledTemplate, PROJECT_BINDING, Template,
    TemplateTable, TemplateTrigger, fill_template, find_template,
};
use backend_data::{Access, ColumnType, NewColumn, NewTable, Table};
use kernel::{
    Caller, Context, Locale,
    authority::{AppRight, CanEdit, Member},
    id::{ConnectionId, ProjectId},
};
use projects::access::Edit;
use runs::{
    Trigger,
    automations::{CreateAutomation, create_automation, schedule::Schedule},
};
use serde_json::{Value, json};

use crate::{Application, Problem, Tx, rows_problem};

/// What a person chose for a template.
#[derive(Debug)]
pub struct NewFromTemplate<'a> {
    /// Id of the template.
    pub template: &'a str,
    /// Name of the app.
    pub name: &'a str,
    /// Purpose of the app; the template's by default.
    pub description: Option<&'a str>,
    /// Language of names that the template gives.
    pub locale: Locale,
    /// Project in which it keeps rows.
    pub project: Option<ProjectId>,
    /// Connections by their names in the code.
    pub connections: &'a BTreeMap<String, ConnectionId>,
    /// Values of settings by name.
    pub settings: &'a BTreeMap<String, Value>,
}

impl Application {
    /// Fills in a template with what a member chose.
    ///
    /// # Errors
    /// [`Problem`] that names the first choice that is refused, or if the store fails.
    pub async fn fill_template(
        &self,
        member: &Member,
        input: &NewFromTemplate<'_>,
    ) -> Result<(&'static Template, FilledTemplate), Problem> {
        let template = find_template(input.template).ok_or_else(|| {
            Problem::invalid_field("templateId", "names no template; list them with GET /v1/templates")
        })?;
        let workspace = member.workspace();
        let mut connections = BTreeMap::new();
        // A template has a few connections; names that it does not have are refused below.
        for (name, id) in input.connections.iter().take(template.connections.len() + 1) {
            let found = self.store().find_connection(workspace, *id).await?;
            let connection = found.ok_or_else(|| Problem::not_found("connection"))?;
            connections.insert(name.clone(), ChosenConnection { id: *id, connector: connection.connector });
        }
        let settings = self.store().workspace(workspace).await?;
        let timezone = settings.map_or_else(|| "UTC".to_owned(), |workspace| workspace.timezone);
        let filled = fill_template(
            template,
            &FillTemplate {
                name: input.name,
                description: input.description,
                locale: input.locale,
                timezone: &timezone,
                project: input.project,
                connections: &connections,
                settings: input.settings,
            },
        );
        Ok((template, filled.map_err(|error| Problem::invalid_field(&error.field, error.message))?))
    }

    /// Creates the tables of a template that its project does not have. Rows are in another store than the control plane, so
    /// this happens before the transaction that creates the app; a repetition finds the tables.
    ///
    /// # Errors
    /// [`Problem`] if a table of that name has other columns, the caller may not create tables, or a store fails.
    pub async fn create_template_tables(
        &self,
        ctx: &Context,
        template: &Template,
        filled: &FilledTemplate,
    ) -> Result<(), Problem> {
        let permissions = &filled.manifest.permissions.data;
        let Some(data) = permissions.iter().find(|data| data.name == PROJECT_BINDING) else { return Ok(()) };
        let access = self.project(ctx, &data.project_id.to_string()).await?;
        let found = self.store().project(access.member().workspace(), data.project_id).await?;
        let project = found.ok_or_else(|| Problem::not_found("project"))?.project;
        let location = self.project_ref(&project).await?;
        let known = self.rows().schema(&location, &Access::Owner).await.map_err(rows_problem)?;
        let mut missing = Vec::new();
        for table in &template.tables {
            match known.iter().find(|known| known.name == table.name) {
                Some(known) => check_columns(table, known)?,
                None => missing.push(table),
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        if !matches!(ctx.caller, Caller::Session(_) | Caller::System(_)) {
            let names: Vec<&str> = missing.iter().map(|table| table.name.as_str()).collect();
            let message =
                format!("The project has no table {}, and a token cannot create it.", names.join(", "));
            return Err(Problem::forbidden("approval_needs_console", message)
                .hint("Create the app in the console, or create the table there first."));
        }
        let right = access.require::<Edit>()?;
        for table in missing {
            let detail = json!({ "table": table.name, "public": false, "template": template.id });
            let entry = ctx.audit_entry("table.create").workspace(right.member().workspace());
            let rows = self.audited_rows([entry.target(right.project()).detail(detail)])?;
            rows.create_table(&location, &Access::Owner, new_table(table)?).await.map_err(rows_problem)?;
        }
        self.deliver_outbox(&location).await;
        Ok(())
    }
}

/// Creates the automations of a filled template.
///
/// # Errors
/// [`Problem`] if an automation is out of bounds or the store fails.
pub async fn create_template_automations(
    tx: &mut dyn Tx,
    ctx: &Context,
    right: &AppRight<CanEdit>,
    filled: &FilledTemplate,
) -> Result<(), Problem> {
    let timezone = filled.manifest.triggers.iter().find_map(|trigger| match trigger {
        apps::manifest::ManifestTrigger::Schedule { timezone, .. } => timezone.as_deref(),
        _ => None,
    });
    for FilledAutomation { name, trigger, cron, retries } in &filled.automations {
        let trigger = match trigger {
            TemplateTrigger::Webhook => Trigger::Webhook,
            TemplateTrigger::Form => Trigger::Form,
            TemplateTrigger::Manual => Trigger::Manual,
            TemplateTrigger::Schedule => {
                let cron = cron.as_deref().unwrap_or_default();
                Trigger::Schedule(Schedule::parse(cron, timezone).map_err(Problem::internal)?)
            }
        };
        let input =
            CreateAutomation { name: name.clone(), trigger, max_concurrency: None, retries: *retries };
        create_automation(tx, ctx, right, input).await?;
    }
    Ok(())
}

fn column_type(kind: &str) -> Result<ColumnType, Problem> {
    serde_json::from_value(Value::String(kind.to_owned())).map_err(Problem::internal)
}

fn new_table(table: &TemplateTable) -> Result<NewTable, Problem> {
    let mut new = NewTable::new(&table.name);
    for column in &table.columns {
        new = new.with_column(NewColumn::new(&column.name, column_type(&column.kind)?));
    }
    Ok(new)
}

fn check_columns(wanted: &TemplateTable, known: &Table) -> Result<(), Problem> {
    for column in &wanted.columns {
        let kind = column_type(&column.kind)?;
        if !known.columns.iter().any(|known| known.name == column.name && known.kind == kind) {
            let message = format!(
                "The project has a table {} without the column {} of the type {}.",
                wanted.name, column.name, column.kind
            );
            return Err(Problem::conflict("table_differs", message)
                .hint("Add the column, rename the table, or choose another project."));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use apps::templates::templates;

    use super::*;

    #[test]
    fn every_table_and_schedule_of_the_templates_is_valid() {
        for template in templates() {
            for table in &template.tables {
                let new = new_table(table).unwrap();
                assert_eq!(new.columns.len(), table.columns.len(), "{}", template.id);
            }
            for cron in template.automations.iter().filter_map(|automation| automation.cron.as_deref()) {
                Schedule::parse(cron, Some("Asia/Almaty")).unwrap();
            }
        }
    }

    #[test]
    fn a_table_with_other_columns_is_refused() {
        let wanted = find_template("short-links").unwrap().tables.first().unwrap();
        let known = |clicks: &str| -> Table {
            let column = |name: &str, kind: &str| json!({"name": name, "type": kind, "nullable": true, "system": false});
            let columns = [column("code", "text"), column("target", "text"), column("clicks", clicks)];
            serde_json::from_value(json!({
                "name": "links", "columns": columns, "publicRead": false, "rules": [], "rowCount": null,
                "createdAt": "2026-01-01T00:00:00Z",
            }))
            .unwrap()
        };
        check_columns(wanted, &known("integer")).unwrap();
        let refused = check_columns(wanted, &known("text")).unwrap_err();
        assert_eq!(refused.code, "table_differs");
        assert!(refused.message.contains("clicks"), "{}", refused.message);
    }
}
