//! The bounds of a workspace's name and time zone.

use crate::InvalidInput;

/// Returns a name without surrounding white space.
///
/// # Errors
/// [`InvalidInput::Name`] when it does not have 2 to 60 printable characters.
pub(super) fn parse_name(text: &str) -> Result<String, InvalidInput> {
    let name = text.trim();
    if !(2..=60).contains(&name.chars().count()) || !kernel::text::is_visible_line(name) {
        return Err(InvalidInput::Name);
    }
    Ok(name.to_owned())
}

/// Checks that a text is the name of an IANA time zone.
///
/// # Errors
/// [`InvalidInput::Timezone`] when it is not.
pub(super) fn check_timezone(text: &str) -> Result<(), InvalidInput> {
    if text.len() > 64 || text.parse::<chrono_tz::Tz>().is_err() {
        return Err(InvalidInput::Timezone);
    }
    Ok(())
}
