//! Validation of short texts that clients send and people read.

use crate::InvalidInput;

/// Returns the trimmed text if it has 1 to `max` visible characters.
///
/// Control characters, invisible characters and those that change the writing direction are refused: with them one
/// name can look like another.
pub(crate) fn validate_label(text: &str, max: usize, refusal: InvalidInput) -> Result<String, InvalidInput> {
    let text = text.trim();
    let is_visible = |c: char| {
        !c.is_control()
            && !matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
            && !matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
    };
    if (1..=max).contains(&text.chars().count()) && text.chars().all(is_visible) {
        Ok(text.to_owned())
    } else {
        Err(refusal)
    }
}
