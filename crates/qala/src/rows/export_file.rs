//! The file of an exported project: JSON on lines, in UTF-8.
//!
//! The first line is an object, the [`ExportHeader`]. For each of its tables, in order, a line `["table","NAME"]`
//! follows, and then each row as an object. The last line is `["end",ROWS]`; a file without it was cut off. A change of
//! the format raises [`VERSION`]; a program refuses files that are newer than it knows.

use std::{
    fs::File,
    io::{self, BufRead, Read, Seek as _, SeekFrom},
    path::PathBuf,
};

use anyhow::{Context as _, bail, ensure};
use backend_data::{ImportSource, Table};
use projects::Settings;
use serde::{Deserialize, Serialize};

/// Value of `format` in the first line.
pub(super) const FORMAT: &str = "qala-rows";
/// Newest version of the format that this program knows. Version 2 adds defaults of columns and unique indexes,
/// version 3 unique indexes of several columns.
const VERSION: u32 = 3;

/// Returns the version of a file with these tables: the oldest that can express them.
pub(super) fn required_version(tables: &[Table]) -> u32 {
    let defaults = tables.iter().flat_map(|table| &table.columns).any(|column| column.default.is_some());
    let unique = || tables.iter().flat_map(|table| &table.indexes).filter(|index| index.unique);
    match unique().map(|index| index.columns.len()).max() {
        Some(2..) => VERSION,
        Some(_) => 2,
        None if defaults => 2,
        None => 1,
    }
}

/// First line of a file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ExportHeader {
    pub(super) format: String,
    pub(super) version: u32,
    pub(super) made_at: String,
    pub(super) project: ProjectRecord,
    pub(super) tables: Vec<Table>,
}

/// Exported part of a project's record.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ProjectRecord {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) settings: Settings,
}

/// A file that was checked to be complete.
#[derive(Debug)]
pub(super) struct ExportFile {
    pub(super) header: ExportHeader,
    /// The rows of each table.
    pub(super) sections: Vec<Section>,
    pub(super) rows: u64,
}

/// The rows of one table: a range of bytes in the file.
#[derive(Debug, Clone, Default)]
pub(super) struct Section {
    path: PathBuf,
    offset: u64,
    length: u64,
    pub(super) rows: u64,
}

impl Section {
    pub(super) fn with_path(self, path: PathBuf) -> Self {
        Self { path, ..self }
    }
}

impl ImportSource for Section {
    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.offset))?;
        Ok(Box::new(file.take(self.length)))
    }
}

/// The members of the first line that every version has.
#[derive(Deserialize)]
struct VersionHeader {
    format: String,
    version: u32,
}

/// A line that is not a row.
#[derive(Deserialize)]
#[serde(untagged)]
enum Marker {
    Table(String, String),
    End(String, u64),
}

impl ExportFile {
    /// Reads a whole file and checks it.
    pub(super) fn read(file: &mut impl BufRead) -> anyhow::Result<Self> {
        let mut line = Vec::new();
        let mut at = file.read_until(b'\n', &mut line)? as u64;
        let any: VersionHeader =
            serde_json::from_slice(&line).context("the first line is not the header of an export")?;
        ensure!(any.format == FORMAT, "the first line is not the header of an export");
        ensure!(
            any.version <= VERSION,
            "it has version {}, and this program knows versions up to {VERSION}: use a newer Qala",
            any.version
        );
        let head: ExportHeader = serde_json::from_slice(&line).context("the first line")?;
        let mut sections: Vec<Section> = Vec::with_capacity(head.tables.len());
        let mut rows = 0;
        for number in 2_u64.. {
            line.clear();
            let length = file.read_until(b'\n', &mut line)? as u64;
            ensure!(length > 0, "the last line is missing: the file was cut off");
            match line.first() {
                Some(b'{') => {
                    let section = sections
                        .last_mut()
                        .with_context(|| format!("line {number} is a row outside of a table"))?;
                    section.length += length;
                    section.rows += 1;
                    rows += 1;
                }
                _ => match serde_json::from_slice(&line).with_context(|| format!("line {number}"))? {
                    Marker::Table(word, name) if word == "table" => {
                        let next = head.tables.get(sections.len()).map(|table| table.name.as_str());
                        ensure!(
                            next == Some(&name),
                            "line {number} does not start the next table of the header"
                        );
                        sections.push(Section { offset: at + length, ..Section::default() });
                    }
                    Marker::End(word, count) if word == "end" => {
                        ensure!(count == rows, "the last line says {count} rows, and the file has {rows}");
                        ensure!(sections.len() == head.tables.len(), "a table is missing");
                        return Ok(Self { header: head, sections, rows });
                    }
                    _ => bail!("line {number} is neither a row, a table nor the end"),
                },
            }
            at += length;
        }
        bail!("the last line is missing")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> anyhow::Result<ExportFile> {
        ExportFile::read(&mut lines.join("\n").as_bytes())
    }

    fn head(version: u32) -> String {
        let settings = serde_json::to_string(&Settings::default()).unwrap();
        format!(
            r#"{{"format":"qala-rows","version":{version},"madeAt":"","project":{{"name":"Shop","description":"","settings":{settings}}},
                "tables":[{{"name":"notes","columns":[],"publicRead":false,"rules":[],"rowCount":null,"createdAt":""}}]}}"#
        )
        .replace('\n', "")
    }

    #[test]
    fn an_incomplete_export_is_refused() {
        let head = head(1);
        let good = [&head, r#"["table","notes"]"#, r#"{"id":"a"}"#, r#"{"id":"b"}"#, r#"["end",2]"#];
        let copy = read(&good).unwrap();
        let section = &copy.sections[0];
        let text = good.join("\n");
        let (begin, length) = (section.offset as usize, section.length as usize);
        assert_eq!(&text[begin..begin + length], "{\"id\":\"a\"}\n{\"id\":\"b\"}\n");
        assert_eq!((copy.rows, section.rows), (2, 2));
        for bad in [&good[..4], &good[..1], &good[1..], &[good[0], good[4]], &[good[0], good[2], good[4]]] {
            assert!(read(bad).is_err(), "{bad:?}");
        }
        let miscounted = [good[0], good[1], good[2], r#"["end",2]"#];
        assert!(read(&miscounted).unwrap_err().to_string().contains("says 2 rows"));
    }

    #[test]
    fn a_newer_export_is_refused_with_its_version() {
        let newer = VERSION + 1;
        let refused = read(&[&head(newer)]).unwrap_err();
        assert!(refused.to_string().contains(&format!("version {newer}")), "{refused}");
        assert!(read(&[r#"{"format":"else","version":1}"#]).is_err());
    }
}
