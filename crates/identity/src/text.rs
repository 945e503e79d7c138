//! Short texts from outside that are shown to people.

use crate::IdentityError;

/// The text without white space around it, when it has 1 to `max` characters that a person can see.
///
/// Characters that are invisible or turn the direction of writing are refused: with them one name can look like
/// another.
pub(crate) fn validate_label(
    field: &'static str,
    what: &'static str,
    text: &str,
    max: usize,
) -> Result<String, IdentityError> {
    let text = text.trim();
    let is_visible = |c: char| {
        !c.is_control()
            && !matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
            && !matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
    };
    if (1..=max).contains(&text.chars().count()) && text.chars().all(is_visible) {
        Ok(text.to_owned())
    } else {
        Err(IdentityError::InvalidField { field, what })
    }
}
