//! TypeScript types in the form in which the generator of Supabase writes them, so that its clients accept them as
//! their `Database`.

use std::fmt::Write as _;

use super::{ExposedSchema, ExposedTable};
use crate::catalog::ColumnType;

const HEAD: &str = "\
export type Json =
  | string
  | number
  | boolean
  | null
  | { [key: string]: Json | undefined }
  | Json[]

export type Database = {
  public: {
    Tables: {
";

const TAIL: &str = "    }
    Views: {
      [_ in never]: never
    }
    Functions: {
      [_ in never]: never
    }
    Enums: {
      [_ in never]: never
    }
    CompositeTypes: {
      [_ in never]: never
    }
  }
}

export type Tables<T extends keyof Database[\"public\"][\"Tables\"]> =
  Database[\"public\"][\"Tables\"][T][\"Row\"]
export type TablesInsert<T extends keyof Database[\"public\"][\"Tables\"]> =
  Database[\"public\"][\"Tables\"][T][\"Insert\"]
export type TablesUpdate<T extends keyof Database[\"public\"][\"Tables\"]> =
  Database[\"public\"][\"Tables\"][T][\"Update\"]
";

impl ExposedSchema {
    /// Returns a module of TypeScript types for `createClient<Database>` of supabase-js and similar clients. An
    /// operation that the caller may not do on a table has the type `never`.
    #[must_use]
    pub fn typescript(&self) -> String {
        let mut out = HEAD.to_owned();
        if self.tables.is_empty() {
            out.push_str("      [_ in never]: never\n");
        }
        for table in &self.tables {
            write_table(&mut out, table);
        }
        out.push_str(TAIL);
        out
    }
}

/// Writes the types of a table. Names are lowercase letters, digits and underscores, so as keys they need no quotes.
fn write_table(out: &mut String, table: &ExposedTable) {
    write_line(out, 6, &format!("{}: {{", table.name));
    let row = table
        .returned_columns()
        .into_iter()
        .map(|shown| (shown.column.name, shown.column.kind, shown.nullable, ""));
    write_members(out, "Row", Some(row.collect()));
    let insert = table.insert.as_ref().map(|columns| {
        let member = |column: &crate::catalog::Column| {
            let optional = column.nullable || column.name == "id" || column.default.is_some();
            (column.name.clone(), column.kind, column.nullable, if optional { "?" } else { "" })
        };
        columns.iter().map(member).collect()
    });
    write_members(out, "Insert", insert);
    let update = table.update.as_ref().map(|columns| {
        columns.iter().map(|column| (column.name.clone(), column.kind, column.nullable, "?")).collect()
    });
    write_members(out, "Update", update);
    write_line(out, 8, "Relationships: []");
    write_line(out, 6, "}");
}

fn write_members(out: &mut String, name: &str, members: Option<Vec<(String, ColumnType, bool, &str)>>) {
    let Some(members) = members else { return write_line(out, 8, &format!("{name}: never")) };
    write_line(out, 8, &format!("{name}: {{"));
    for (name, kind, nullable, optional) in members {
        let null = if nullable { " | null" } else { "" };
        write_line(out, 10, &format!("{name}{optional}: {}{null}", typescript_type(kind)));
    }
    write_line(out, 8, "}");
}

fn typescript_type(kind: ColumnType) -> &'static str {
    match kind {
        ColumnType::Text | ColumnType::Timestamp => "string",
        ColumnType::Integer | ColumnType::Real => "number",
        ColumnType::Boolean => "boolean",
        ColumnType::Json => "Json",
    }
}

fn write_line(out: &mut String, indent: usize, text: &str) {
    // Writing to a string does not fail.
    let _ = writeln!(out, "{:indent$}{text}", "");
}

#[cfg(test)]
mod tests {
    use crate::{Access, ExposedSchema, Person, describe::tests::catalog};

    #[test]
    fn the_types_have_what_the_caller_may_do() {
        let types = ExposedSchema::for_caller(&catalog(), &Access::Person(Person::default())).typescript();
        let wanted = "      notes: {
        Row: {
          id: string
          title: string
          stars: number | null
          meta: Json | null
        }
        Insert: {
          title: string
          stars?: number | null
        }
        Update: never
        Relationships: []
      }
    }
";
        assert!(types.contains(wanted), "{types}");
        let none = ExposedSchema::for_caller(&crate::Catalog::default(), &Access::Visitor).typescript();
        assert!(none.contains("Tables: {\n      [_ in never]: never\n"), "{none}");
    }
}
