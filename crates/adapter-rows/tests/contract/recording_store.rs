//! A store that records statements, so that a test can run them again and examine their execution.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use backend_data::{
    Catalog, Dialect, ProjectRef, RowStore, StoreError, Value,
    store::{Import, OutboxRecord, Read, SchemaChange, StatementResult, TableScope, Write},
};
use rusqlite::Statement;

/// A store that records the statements that it runs.
pub(crate) struct RecordingStore {
    store: Arc<dyn RowStore>,
    statements: Mutex<Vec<(String, Vec<Value>)>>,
}

impl RecordingStore {
    pub(crate) fn new(store: Arc<dyn RowStore>) -> Self {
        Self { store, statements: Mutex::default() }
    }

    /// Returns the statements since the last call.
    pub(crate) fn take_statements(&self) -> Vec<(String, Vec<Value>)> {
        std::mem::take(&mut *self.statements.lock().unwrap())
    }

    fn record(&self, sql: &str, params: &[Value]) {
        self.statements.lock().unwrap().push((sql.to_owned(), params.to_vec()));
    }
}

#[async_trait]
impl RowStore for RecordingStore {
    fn dialect(&self) -> Dialect {
        self.store.dialect()
    }
    fn table_scope(&self, project: &ProjectRef) -> TableScope {
        self.store.table_scope(project)
    }
    async fn create_project(&self, project: &ProjectRef) -> Result<(), StoreError> {
        self.store.create_project(project).await
    }
    async fn drop_project(&self, project: &ProjectRef) -> Result<(), StoreError> {
        self.store.drop_project(project).await
    }
    async fn catalog(&self, project: &ProjectRef) -> Result<Option<Catalog>, StoreError> {
        self.store.catalog(project).await
    }
    async fn apply_schema_change(
        &self,
        project: &ProjectRef,
        change: SchemaChange,
    ) -> Result<(), StoreError> {
        self.store.apply_schema_change(project, change).await
    }
    async fn read(&self, project: &ProjectRef, read: Read) -> Result<StatementResult, StoreError> {
        self.record(&read.sql, &read.params);
        if let Some(count) = &read.count {
            self.record(&count.sql, &read.params[..count.params]);
        }
        self.store.read(project, read).await
    }
    async fn write(&self, project: &ProjectRef, write: Write) -> Result<StatementResult, StoreError> {
        self.record(&write.sql, &write.params);
        self.store.write(project, write).await
    }
    async fn write_all(
        &self,
        project: &ProjectRef,
        writes: Vec<Write>,
    ) -> Result<Vec<StatementResult>, StoreError> {
        self.store.write_all(project, writes).await
    }
    async fn import(&self, project: &ProjectRef, import: Import) -> Result<u64, StoreError> {
        self.store.import(project, import).await
    }
    async fn stored_bytes(&self, project: &ProjectRef) -> Result<u64, StoreError> {
        self.store.stored_bytes(project).await
    }

    async fn pending_outboxes(&self) -> Result<Vec<ProjectRef>, StoreError> {
        self.store.pending_outboxes().await
    }
    async fn read_outbox(&self, project: &ProjectRef) -> Result<Vec<OutboxRecord>, StoreError> {
        self.store.read_outbox(project).await
    }
    async fn clear_outbox(&self, project: &ProjectRef, ids: Vec<String>) -> Result<(), StoreError> {
        self.store.clear_outbox(project, ids).await
    }
}

/// Binds values to a statement of SQLite.
pub(crate) fn bind(statement: &mut Statement<'_>, params: &[Value]) {
    for (at, value) in params.iter().enumerate() {
        match value {
            Value::Text(text) | Value::Json(text) => statement.raw_bind_parameter(at + 1, text),
            Value::Integer(number) => statement.raw_bind_parameter(at + 1, number),
            Value::List(_, values) => statement.raw_bind_parameter(at + 1, Value::list_json(values)),
            Value::Null(_) => statement.raw_bind_parameter(at + 1, rusqlite::types::Null),
            other => panic!("{other:?}"),
        }
        .unwrap();
    }
}

/// Returns a statement of PostgreSQL with its values as literals.
pub(crate) fn inlined(sql: &str, params: &[Value]) -> String {
    let mut text = sql.to_owned();
    for (at, value) in params.iter().enumerate().rev() {
        text = text.replace(&format!("${}", at + 1), &literal(value));
    }
    text
}

/// Returns a literal of PostgreSQL.
pub(crate) fn literal(value: &Value) -> String {
    let text = |text: &str| format!("'{}'", text.replace('\'', "''"));
    match value {
        Value::Text(value) => format!("{}::text", text(value)),
        Value::Json(value) => format!("{}::jsonb", text(value)),
        Value::Integer(value) => format!("{value}::bigint"),
        Value::Null(_) => "NULL".to_owned(),
        Value::List(_, values) => {
            let members: Vec<String> = values.iter().map(literal).collect();
            format!("ARRAY[{}]", members.join(","))
        }
        other => panic!("{other:?}"),
    }
}
