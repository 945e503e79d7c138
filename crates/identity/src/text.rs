//! Validation of short texts that clients send and people read.

use crate::InvalidInput;

/// Returns the trimmed text if it has 1 to `max` characters, all of them visible.
pub(crate) fn validate_label(text: &str, max: usize, refusal: InvalidInput) -> Result<String, InvalidInput> {
    let text = text.trim();
    if (1..=max).contains(&text.chars().count()) && kernel::text::is_visible_line(text) {
        Ok(text.to_owned())
    } else {
        Err(refusal)
    }
}
