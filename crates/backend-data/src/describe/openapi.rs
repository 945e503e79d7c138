//! The API of a project's rows as an OpenAPI 3.1 document.

use serde_json::{Map, Value as Json, json};

use super::{ExposedSchema, ExposedTable, ReadableColumn};
use crate::{
    catalog::{Column, ColumnType},
    query::MAX_LIMIT,
};

impl ExposedSchema {
    /// Returns an OpenAPI 3.1 document of the paths `/rest/…` under the URL `server`. It has nothing that the caller
    /// may not use.
    #[must_use]
    pub fn openapi(&self, title: &str, server: &str) -> Json {
        let mut paths = Map::new();
        let mut schemas = Map::new();
        for table in &self.tables {
            describe_table(table, &mut paths, &mut schemas);
        }
        schemas.insert("Error".into(), error());
        json!({
            "openapi": "3.1.0",
            "info": {
                "title": title,
                "version": "1",
                "description": "The tables that this key may use. The query language is PostgREST's.",
            },
            "servers": [{ "url": server }],
            "security": [{ "key": [] }, { "bearer": [] }, { "key": [], "bearer": [] }],
            "paths": paths,
            "components": {
                "schemas": schemas,
                "securitySchemes": {
                    "key": { "type": "apiKey", "in": "header", "name": "apikey" },
                    "bearer": { "type": "http", "scheme": "bearer" },
                },
            },
        })
    }
}

fn describe_table(table: &ExposedTable, paths: &mut Map<String, Json>, schemas: &mut Map<String, Json>) {
    let name = &table.name;
    let shown = table.returned_columns();
    schemas.insert(
        name.clone(),
        object_schema(shown.iter().map(|shown| (&shown.column, shown.nullable)), |_| true),
    );
    if let Some(columns) = &table.insert {
        let required = |column: &Column| !column.nullable && column.name != "id" && column.default.is_none();
        let columns = columns.iter().map(|column| (column, column.nullable));
        schemas.insert(format!("{name}.insert"), object_schema(columns, required));
    }
    if let Some(columns) = &table.update {
        let columns = columns.iter().map(|column| (column, column.nullable));
        schemas.insert(format!("{name}.update"), object_schema(columns, |_| false));
    }
    let filters = filter_parameters(&shown, table.read.is_some());
    let (mut many, mut one) = (Map::new(), Map::new());
    one.insert("parameters".into(), json!([id()]));
    if table.read.is_some() {
        let parameters: Vec<Json> = filters.iter().cloned().chain(page_parameters()).collect();
        many.insert(
            "get".into(),
            operation(table, "list", "List the rows that match the filters", &parameters, None, &rows(name)),
        );
        one.insert("get".into(), operation(table, "read", "Get one row", &[select()], None, &row(name)));
    }
    if table.insert.is_some() {
        let kind = reference(&format!("{name}.insert"));
        let body = json!({ "oneOf": [kind, { "type": "array", "items": kind, "maxItems": 500 }] });
        let mut insert = operation(
            table,
            "insert",
            "Insert one row or up to 500, all or none",
            &[select(), order(), columns(), on_conflict(), prefer()],
            Some(body),
            &rows(name),
        );
        if let Some(responses) = insert.get_mut("responses").and_then(Json::as_object_mut)
            && let Some(made) = responses.remove("200")
        {
            responses.insert("201".into(), made);
        }
        many.insert("post".into(), insert);
    }
    if table.insert.is_some() && table.update.is_some() {
        let body = Some(reference(&format!("{name}.update")));
        let parameters = &[id_filter_parameter(), select(), prefer()];
        let summary = "Insert the row with an id, or update it if it exists";
        many.insert("put".into(), operation(table, "put", summary, parameters, body, &rows(name)));
    }
    if table.update.is_some() {
        let body = || Some(reference(&format!("{name}.update")));
        let parameters = change_parameters(&filters, table);
        let summary = "Update the rows that match the filters, at least one of which is required";
        many.insert("patch".into(), operation(table, "update", summary, &parameters, body(), &rows(name)));
        let parameters = &[select(), prefer()];
        one.insert(
            "patch".into(),
            operation(table, "update_one", "Update one row", parameters, body(), &row(name)),
        );
    }
    if table.delete {
        let parameters = change_parameters(&filters, table);
        let summary = "Delete the rows that match the filters, at least one of which is required";
        many.insert("delete".into(), operation(table, "delete", summary, &parameters, None, &rows(name)));
        let parameters = &[select(), prefer()];
        one.insert(
            "delete".into(),
            operation(table, "delete_one", "Delete one row", parameters, None, &row(name)),
        );
    }
    paths.insert(format!("/rest/{name}"), Json::Object(many));
    if one.len() > 1 {
        paths.insert(format!("/rest/{name}/{{id}}"), Json::Object(one));
    }
}

fn operation(
    table: &ExposedTable,
    what: &str,
    summary: &str,
    parameters: &[Json],
    body: Option<Json>,
    response: &Json,
) -> Json {
    let error = json!({
        "description": "An error.",
        "content": { "application/json": { "schema": reference("Error") } },
    });
    let mut operation = json!({
        "operationId": format!("{what}_{}", table.name),
        "summary": summary,
        "tags": [table.name],
        "parameters": parameters,
        "responses": {
            "200": { "description": "Success.", "content": { "application/json": { "schema": response } } },
            "default": error,
        },
    });
    if let (Some(body), Some(operation)) = (body, operation.as_object_mut()) {
        let body = json!({ "required": true, "content": { "application/json": { "schema": body } } });
        operation.insert("requestBody".into(), body);
    }
    operation
}

fn object_schema<'c>(
    columns: impl Iterator<Item = (&'c Column, bool)>,
    required: impl Fn(&Column) -> bool,
) -> Json {
    let (mut properties, mut names) = (Map::new(), Vec::new());
    for (column, nullable) in columns {
        properties.insert(column.name.clone(), column_schema(column.kind, nullable));
        if required(column) {
            names.push(column.name.clone());
        }
    }
    let mut object = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if let (false, Some(object)) = (names.is_empty(), object.as_object_mut()) {
        object.insert("required".into(), json!(names));
    }
    object
}

fn column_schema(kind: ColumnType, nullable: bool) -> Json {
    let (name, format) = match kind {
        // Any JSON value, null included.
        ColumnType::Json => return json!({}),
        ColumnType::Text => ("string", None),
        ColumnType::Integer => ("integer", Some("int64")),
        ColumnType::Real => ("number", Some("double")),
        ColumnType::Boolean => ("boolean", None),
        ColumnType::Timestamp => ("string", Some("date-time")),
    };
    let mut schema = Map::new();
    schema.insert("type".into(), if nullable { json!([name, "null"]) } else { json!(name) });
    if let Some(format) = format {
        schema.insert("format".into(), json!(format));
    }
    Json::Object(schema)
}

/// Returns a parameter for each column that may be filtered by.
fn filter_parameters(shown: &[ReadableColumn], readable: bool) -> Vec<Json> {
    let columns = shown.iter().filter(|_| readable);
    columns
        .map(|shown| {
            let what = format!("A filter on `{}`, as in `eq.value` or `not.is.null`.", shown.column.name);
            parameter(&shown.column.name, &what, &json!({ "type": "string" }))
        })
        .collect()
}

fn page_parameters() -> Vec<Json> {
    vec![
        select(),
        order(),
        parameter("limit", "Maximum number of rows.", &integer_schema(Some(MAX_LIMIT))),
        parameter("offset", "Number of rows to skip.", &integer_schema(None)),
        parameter(
            "cursor",
            "Empty for the first page, then the `Next-Cursor` of the previous one.",
            &json!({ "type": "string" }),
        ),
        prefer(),
    ]
}

/// Returns the query parameters of an update or a delete by filters. Only a caller who may read rows can order them.
fn change_parameters(filters: &[Json], table: &ExposedTable) -> Vec<Json> {
    let first = table.read.iter().flat_map(|_| {
        let most = "Maximum number of rows: the first ones of `order`, which is then required.";
        let offset = "Number of rows of `order` to skip. `order` is then required.";
        [
            order(),
            parameter("limit", most, &integer_schema(None)),
            parameter("offset", offset, &integer_schema(None)),
        ]
    });
    filters.iter().cloned().chain([select()]).chain(first).chain([prefer()]).collect()
}

fn integer_schema(most: Option<u64>) -> Json {
    let mut schema = json!({ "type": "integer", "minimum": 0 });
    if let (Some(most), Some(schema)) = (most, schema.as_object_mut()) {
        schema.insert("maximum".into(), json!(most));
    }
    schema
}

fn order() -> Json {
    parameter(
        "order",
        "The order of the rows, as in `stars.desc.nullslast,title`.",
        &json!({ "type": "string" }),
    )
}

fn columns() -> Json {
    let what = "The columns that are written, as in `id,title`, if the rows do not all have the same ones.";
    parameter("columns", what, &json!({ "type": "string" }))
}

fn on_conflict() -> Json {
    let what = "With `resolution=` in `Prefer`: the columns of a unique index by which existing rows are found, instead of `id`.";
    parameter("on_conflict", what, &json!({ "type": "string" }))
}

fn select() -> Json {
    parameter("select", "The columns of the response, as in `id,title`.", &json!({ "type": "string" }))
}

fn prefer() -> Json {
    let what = "Preferences, as in `return=minimal` or `count=exact`.";
    json!({ "name": "Prefer", "in": "header", "description": what, "schema": { "type": "string" } })
}

fn id() -> Json {
    json!({ "name": "id", "in": "path", "required": true, "schema": { "type": "string" } })
}

fn id_filter_parameter() -> Json {
    let what = "The id of the row after `eq.`, as in `eq.tea`.";
    json!({ "name": "id", "in": "query", "required": true, "description": what, "schema": { "type": "string" } })
}

fn parameter(name: &str, description: &str, schema: &Json) -> Json {
    json!({ "name": name, "in": "query", "description": description, "schema": schema })
}

fn reference(name: &str) -> Json {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

fn rows(name: &str) -> Json {
    json!({ "type": "array", "items": reference(name) })
}

fn row(name: &str) -> Json {
    reference(name)
}

fn error() -> Json {
    let text = |nullable: bool| {
        if nullable { json!({ "type": ["string", "null"] }) } else { json!({ "type": "string" }) }
    };
    json!({
        "type": "object",
        "required": ["code", "message"],
        "properties": {
            "code": text(false), "message": text(false), "details": text(true), "hint": text(true),
            "error": { "type": "object" }, "requestId": text(false),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Access, Person, describe::tests::catalog};

    #[test]
    fn the_document_has_what_the_caller_may_do_and_nothing_else() {
        let document = |access: &Access| {
            ExposedSchema::for_caller(&catalog(), access).openapi("Shop", "https://qala.example")
        };
        let person = document(&Access::Person(Person::default()));
        let keys = |value: &Json| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(&person["paths"]), ["/rest/notes", "/rest/notes/{id}"]);
        assert_eq!(keys(&person["paths"]["/rest/notes"]), ["delete", "get", "post"]);
        assert_eq!(keys(&person["components"]["schemas"]), ["Error", "notes", "notes.insert"]);
        assert_eq!(person["components"]["schemas"]["notes.insert"]["required"], json!(["title"]));
        let stars = &person["components"]["schemas"]["notes"]["properties"]["stars"];
        assert_eq!(*stars, json!({"type": ["integer", "null"], "format": "int64"}));
        let named = |method: &str| -> Vec<String> {
            let parameters = person["paths"]["/rest/notes"][method]["parameters"].as_array().unwrap();
            parameters.iter().filter_map(|parameter| parameter["name"].as_str()).map(str::to_owned).collect()
        };
        assert_eq!(named("post"), ["select", "order", "columns", "on_conflict", "Prefer"]);
        for name in ["id", "select", "order", "limit", "offset", "Prefer"] {
            assert_eq!(named("delete").iter().filter(|other| *other == name).count(), 1, "{name}");
        }
        assert!(!named("delete").contains(&"cursor".to_owned()));
        let text = document(&Access::Visitor).to_string();
        assert!(!text.contains("secret") && !text.contains("hidden") && !text.contains("\"post\""), "{text}");
    }
}
