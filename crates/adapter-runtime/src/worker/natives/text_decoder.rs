//! Decoders of the Encoding standard, for every encoding that it names.

use encoding_rs::{CoderResult, Decoder, DecoderResult, Encoding};

/// Bytes that are decoded before the text grows again.
const STEP: usize = 64 << 10;

/// A decoder between two pieces of a stream.
pub(super) struct StreamDecoder {
    decoder: Decoder,
    is_fatal: bool,
}

/// Returns the name of the encoding that a label means. Those that only replace (section 15.1) have none.
pub(super) fn find_name(label: &str) -> Option<String> {
    Encoding::for_label_no_replacement(label.as_bytes()).map(|encoding| encoding.name().to_ascii_lowercase())
}

impl StreamDecoder {
    /// Makes a decoder; `None` if there is no such encoding.
    pub(super) fn new(name: &str, is_fatal: bool, keeps_mark: bool) -> Option<Self> {
        let encoding = Encoding::for_label_no_replacement(name.as_bytes())?;
        let decoder = if keeps_mark {
            encoding.new_decoder_without_bom_handling()
        } else {
            encoding.new_decoder_with_bom_removal()
        };
        Some(Self { decoder, is_fatal })
    }

    /// Decodes the next piece; `None` if it is malformed and that is fatal, or if the text does not fit into memory.
    pub(super) fn decode(&mut self, bytes: &[u8], is_last: bool) -> Option<String> {
        let mut text = String::new();
        let mut pieces = bytes.chunks(STEP).peekable();
        loop {
            let piece = pieces.next().unwrap_or_default();
            let is_end = pieces.peek().is_none();
            self.decode_piece(piece, &mut text, is_last && is_end)?;
            if is_end {
                return Some(text);
            }
        }
    }

    fn decode_piece(&mut self, mut bytes: &[u8], text: &mut String, is_last: bool) -> Option<()> {
        loop {
            text.try_reserve(self.decoder.max_utf8_buffer_length(bytes.len())?).ok()?;
            if self.is_fatal {
                let (result, read) = self.decoder.decode_to_string_without_replacement(bytes, text, is_last);
                bytes = bytes.get(read..)?;
                match result {
                    DecoderResult::InputEmpty => return Some(()),
                    DecoderResult::OutputFull => {}
                    DecoderResult::Malformed(..) => return None,
                }
            } else {
                let (result, read, _) = self.decoder.decode_to_string(bytes, text, is_last);
                bytes = bytes.get(read..)?;
                if result == CoderResult::InputEmpty {
                    return Some(());
                }
            }
        }
    }
}
