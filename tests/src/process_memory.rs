//! The memory of the processes in which apps run.

use std::{fs::File, os::unix::fs::FileExt as _, path::Path};

use anyhow::{Context as _, Result, ensure};
use memchr::memmem;

/// Bytes of a mapping that are read at once.
const CHUNK: usize = 1 << 20;
/// Bytes of a page.
const PAGE: usize = 4096;

/// What was in the memory of processes at one moment.
#[derive(Debug)]
pub struct MemorySnapshot(Vec<Vec<u8>>);

impl MemorySnapshot {
    /// Copies what the processes that a server has started can write to. Searching takes longer than copying, and what the
    /// processes wait for may not wait so long.
    pub fn of_children(server: u32) -> Result<Self> {
        let children = descendants(server)?;
        ensure!(!children.is_empty(), "the server has started no process");
        let mut mappings = Vec::new();
        for child in children {
            copy(child, &mut mappings)
                .with_context(|| format!("cannot read the memory of process {child}"))?;
        }
        Ok(Self(mappings))
    }

    /// Returns `true` if the text is somewhere in the memory.
    #[must_use]
    pub fn contains(&self, text: &[u8]) -> bool {
        let finder = memmem::Finder::new(text);
        self.0.iter().any(|mapping| finder.find(mapping).is_some())
    }
}

/// Returns the processes below another one.
fn descendants(of: u32) -> Result<Vec<u32>> {
    let mut parents = Vec::new();
    for entry in std::fs::read_dir("/proc")? {
        let Some(pid) = entry?.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        // A process may end meanwhile.
        let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { continue };
        let rest = stat.rsplit(") ").next().unwrap_or_default();
        parents.extend(rest.split(' ').nth(1).and_then(|parent| Some((pid, parent.parse::<u32>().ok()?))));
    }
    let mut found = vec![of];
    let mut at = 0;
    while let Some(parent) = found.get(at).copied() {
        found.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid));
        at += 1;
    }
    found.remove(0);
    Ok(found)
}

/// Copies the mappings of a process, without pages that hold nothing.
fn copy(pid: u32, mappings: &mut Vec<Vec<u8>>) -> Result<()> {
    let folder = Path::new("/proc").join(pid.to_string());
    let maps = std::fs::read_to_string(folder.join("maps"))?;
    let memory = File::open(folder.join("mem"))?;
    let empty = [0; PAGE];
    for line in maps.lines() {
        let mut fields = line.split(' ');
        let range = fields.next().and_then(|range| range.split_once('-')).context("no range")?;
        let is_writable = fields.next().is_some_and(|rights| rights.starts_with("rw"));
        if !is_writable {
            continue;
        }
        let (mut at, end) = (u64::from_str_radix(range.0, 16)?, u64::from_str_radix(range.1, 16)?);
        let mut content: Vec<u8> = Vec::new();
        while at < end {
            let mut chunk = vec![0; CHUNK.min(usize::try_from(end - at)?)];
            // Some mappings of the kernel cannot be read.
            let Ok(count @ 1..) = memory.read_at(&mut chunk, at) else { break };
            for page in chunk[..count].chunks(PAGE) {
                // One byte of an empty page keeps texts apart that only its absence would put together.
                content.extend_from_slice(if *page == empty { &page[..1] } else { page });
            }
            at += count as u64;
        }
        mappings.push(content);
    }
    Ok(())
}
