//! The formats of the Compression standard: `gzip` (RFC 1952), `deflate` (RFC 1950) and `deflate-raw` (RFC 1951).

use crc32fast::Hasher;
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

/// Bytes of input that one call takes when it compresses.
const COMPRESS_STEP: usize = 64 << 10;
/// Bytes of input that one call takes when it decompresses, of which each may become a thousand.
const DECOMPRESS_STEP: usize = 4 << 10;
/// Bytes of the header of a gzip member, at most: its name and its comment have no length of their own.
const MAX_HEADER: usize = 64 << 10;

/// A header without name, time and system (RFC 1952, section 2.3).
const GZIP_HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
const GZIP_TRAILER: usize = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Gzip,
    Deflate,
    DeflateRaw,
}

/// A stream that is being compressed or decompressed.
pub(super) enum Codec {
    Compressor(Box<Compressor>),
    Decompressor(Box<Decompressor>),
}

pub(super) struct Compressor {
    state: Compress,
    format: Format,
    has_header: bool,
    checksum: Hasher,
}

pub(super) struct Decompressor {
    state: Decompress,
    format: Format,
    /// The header of a gzip member, until it is complete; then none.
    header: Option<Vec<u8>>,
    checksum: Hasher,
    /// True if only the trailer of a gzip member is missing.
    is_data_complete: bool,
    trailer: Vec<u8>,
    has_ended: bool,
}

impl Codec {
    /// Makes a codec; `None` if there is no such format.
    pub(super) fn new(format: &str, compresses: bool) -> Option<Self> {
        let format = match format {
            "gzip" => Format::Gzip,
            "deflate" => Format::Deflate,
            "deflate-raw" => Format::DeflateRaw,
            _ => return None,
        };
        let is_zlib = format == Format::Deflate;
        let checksum = Hasher::new();
        Some(if compresses {
            let state = Compress::new(Compression::default(), is_zlib);
            Self::Compressor(Box::new(Compressor { state, format, has_header: false, checksum }))
        } else {
            let header = (format == Format::Gzip).then(Vec::new);
            Self::Decompressor(Box::new(Decompressor {
                state: Decompress::new(is_zlib),
                format,
                header,
                checksum,
                is_data_complete: false,
                trailer: Vec::new(),
                has_ended: false,
            }))
        })
    }

    /// Bytes of input that one call takes, at most.
    pub(super) fn step(&self) -> usize {
        match self {
            Self::Compressor(_) => COMPRESS_STEP,
            Self::Decompressor(_) => DECOMPRESS_STEP,
        }
    }

    /// Converts a piece of at most [`Codec::step`] bytes; `None` if it is not valid.
    pub(super) fn convert(&mut self, input: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::Compressor(compressor) => compressor.compress(input, FlushCompress::None),
            Self::Decompressor(decompressor) => decompressor.decompress(input),
        }
    }

    /// Returns what is left at the end of the input; `None` if that is no end.
    pub(super) fn finish(&mut self) -> Option<Vec<u8>> {
        match self {
            Self::Compressor(compressor) => compressor.finish(),
            Self::Decompressor(decompressor) => decompressor.has_ended.then(Vec::new),
        }
    }
}

impl Compressor {
    fn compress(&mut self, mut input: &[u8], flush: FlushCompress) -> Option<Vec<u8>> {
        let mut output = Vec::new();
        if self.format == Format::Gzip {
            if !self.has_header {
                output.extend(GZIP_HEADER);
                self.has_header = true;
            }
            self.checksum.update(input);
        }
        loop {
            output.reserve(4096 + input.len() / 2);
            let (before, start) = (self.state.total_in(), output.len());
            let status = self.state.compress_vec(input, &mut output, flush).ok()?;
            let taken = usize::try_from(self.state.total_in() - before).ok()?;
            input = &input[taken..];
            let is_idle = taken == 0 && output.len() == start;
            let is_done = if flush == FlushCompress::None {
                input.is_empty() && is_idle
            } else {
                status == Status::StreamEnd
            };
            if is_done {
                return Some(output);
            }
            if is_idle && flush != FlushCompress::None {
                return None;
            }
        }
    }

    fn finish(&mut self) -> Option<Vec<u8>> {
        let mut output = self.compress(&[], FlushCompress::Finish)?;
        if self.format == Format::Gzip {
            output.extend(self.checksum.clone().finalize().to_le_bytes());
            // The length counts modulo 2^32.
            output.extend(&self.state.total_in().to_le_bytes()[..4]);
        }
        Some(output)
    }
}

impl Decompressor {
    fn decompress(&mut self, input: &[u8]) -> Option<Vec<u8>> {
        let mut output = Vec::new();
        let rest = self.skip_header(input)?;
        let mut rest = &input[input.len() - rest..];
        while self.header.is_none() && !rest.is_empty() && !self.has_ended {
            if !self.is_data_complete {
                rest = self.inflate(rest, &mut output)?;
            } else {
                let (trailer, after) = rest.split_at(rest.len().min(GZIP_TRAILER - self.trailer.len()));
                self.trailer.extend(trailer);
                rest = after;
                if self.trailer.len() == GZIP_TRAILER {
                    self.check_trailer()?;
                    self.has_ended = true;
                }
            }
        }
        // Nothing may follow the end (Compression standard, section 5).
        rest.is_empty().then_some(output)
    }

    fn inflate<'a>(&mut self, mut input: &'a [u8], output: &mut Vec<u8>) -> Option<&'a [u8]> {
        loop {
            output.try_reserve(16 << 10).ok()?;
            let (before, start) = (self.state.total_in(), output.len());
            let status = self.state.decompress_vec(input, output, FlushDecompress::None).ok()?;
            let taken = usize::try_from(self.state.total_in() - before).ok()?;
            input = &input[taken..];
            if self.format == Format::Gzip {
                self.checksum.update(&output[start..]);
            }
            if status == Status::StreamEnd {
                if self.format == Format::Gzip {
                    self.is_data_complete = true;
                } else {
                    self.has_ended = true;
                }
                return Some(input);
            }
            if taken == 0 && output.len() == start {
                // More input is needed; if there is some, it cannot be used.
                return input.is_empty().then_some(input);
            }
        }
    }

    /// Takes what belongs to the header, and returns how many bytes do not.
    fn skip_header(&mut self, input: &[u8]) -> Option<usize> {
        let Some(header) = &mut self.header else { return Some(input.len()) };
        let before = header.len();
        header.extend(input);
        match header_length(header) {
            Header::Complete(length) => {
                self.header = None;
                Some(before + input.len() - length)
            }
            Header::Incomplete if header.len() <= MAX_HEADER => Some(0),
            Header::Incomplete | Header::Invalid => None,
        }
    }

    fn check_trailer(&self) -> Option<()> {
        let length = self.state.total_out().to_le_bytes();
        let expected = [&self.checksum.clone().finalize().to_le_bytes()[..], &length[..4]].concat();
        (self.trailer == expected).then_some(())
    }
}

enum Header {
    Complete(usize),
    Incomplete,
    Invalid,
}

/// Finds the end of a gzip header (RFC 1952, section 2.3.1).
fn header_length(bytes: &[u8]) -> Header {
    let fixed = bytes.len().min(3);
    if bytes[..fixed] != GZIP_HEADER[..fixed] {
        return Header::Invalid;
    }
    let Some(flags) = bytes.get(3) else { return Header::Incomplete };
    // The reserved bits must be zero.
    if flags & 0xe0 != 0 {
        return Header::Invalid;
    }
    let mut at = GZIP_HEADER.len();
    if flags & 4 != 0 {
        let Some(length) = bytes.get(at..at + 2) else { return Header::Incomplete };
        at += 2 + usize::from(length[0]) + (usize::from(length[1]) << 8);
    }
    for flag in [8, 16] {
        if flags & flag != 0 {
            let text = bytes.get(at..).unwrap_or_default();
            let Some(end) = text.iter().position(|byte| *byte == 0) else { return Header::Incomplete };
            at += end + 1;
        }
    }
    if flags & 2 != 0 {
        let Some(given) = bytes.get(at..at + 2) else { return Header::Incomplete };
        let mut checksum = Hasher::new();
        checksum.update(&bytes[..at]);
        if checksum.finalize().to_le_bytes()[..2] != *given {
            return Header::Invalid;
        }
        at += 2;
    }
    if at <= bytes.len() { Header::Complete(at) } else { Header::Incomplete }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(format: &str, compresses: bool, input: &[u8], step: usize) -> Option<Vec<u8>> {
        let mut codec = Codec::new(format, compresses).unwrap();
        let mut output = Vec::new();
        for piece in input.chunks(step) {
            output.extend(codec.convert(piece)?);
        }
        output.extend(codec.finish()?);
        Some(output)
    }

    #[test]
    fn what_was_compressed_comes_back_however_it_is_cut() {
        let texts =
            [Vec::new(), b"a".to_vec(), b"abc".repeat(100_000), (0..=255).cycle().take(70_001).collect()];
        for format in ["gzip", "deflate", "deflate-raw"] {
            for text in &texts {
                let small = run(format, true, text, 1000).unwrap();
                for step in [1, 7, DECOMPRESS_STEP] {
                    assert_eq!(run(format, false, &small, step).as_ref(), Some(text), "{format}");
                }
                // Every cut before the end is noticed, and so is every byte after it.
                for end in [0, 1, small.len() / 2, small.len() - 1] {
                    assert_eq!(run(format, false, &small[..end], 5), None, "{format} {end}");
                }
                for step in [1, DECOMPRESS_STEP] {
                    assert_eq!(run(format, false, &[&small[..], &[0]].concat(), step), None, "{format}");
                }
            }
        }
    }

    #[test]
    fn much_becomes_little_and_comes_back() {
        for format in ["gzip", "deflate", "deflate-raw"] {
            let small = run(format, true, &vec![0; 10_000_000], COMPRESS_STEP).unwrap();
            assert_eq!(run(format, false, &small, DECOMPRESS_STEP).unwrap().len(), 10_000_000);
        }
    }

    #[test]
    fn headers_of_gzip_may_have_every_field() {
        let plain = run("gzip", true, b"text", 9).unwrap();
        let mut header =
            vec![0x1f, 0x8b, 8, 0x1f, 1, 2, 3, 4, 2, 3, 3, 0, b'x', b'y', b'z', b'n', 0, b'c', 0];
        let mut checksum = Hasher::new();
        checksum.update(&header);
        header.extend(&checksum.finalize().to_le_bytes()[..2]);
        let whole = [&header[..], &plain[10..]].concat();
        for step in [1, 3, 100] {
            assert_eq!(run("gzip", false, &whole, step).unwrap(), b"text");
        }
        for at in [0, 1, 2, 3, 18, 19, whole.len() - 1, whole.len() - 5] {
            let mut bad = whole.clone();
            bad[at] ^= 0x80;
            assert_eq!(run("gzip", false, &bad, 4), None, "{at}");
        }
        let endless = [&[0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 0][..], &vec![b'n'; MAX_HEADER]].concat();
        assert_eq!(run("gzip", false, &endless, DECOMPRESS_STEP), None);
    }
}
