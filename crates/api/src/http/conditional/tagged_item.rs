//! Items of lists that have their entity tags as a member, for objects that have no read of their own.

use application::Problem;

use super::Representation;

/// Object that shows its own tag in the member `etag`, which [`Representation::COMPUTED`] names.
pub(crate) trait TaggedItem: Representation + Sized {
    /// Returns the member.
    fn etag_mut(&mut self) -> &mut String;

    /// Returns the object with its tag.
    ///
    /// # Errors
    /// 500 `internal` if the object cannot be serialized.
    fn tagged(mut self) -> Result<Self, Problem> {
        const { assert!(has_etag(Self::COMPUTED), "a tag cannot cover itself") };
        let tag = self.entity_tag()?;
        *self.etag_mut() = tag.as_str().to_owned();
        Ok(self)
    }
}

/// Returns `true` if the member `etag` is one of these.
const fn has_etag(mut names: &[&str]) -> bool {
    while let [name, rest @ ..] = names {
        if matches!(name.as_bytes(), b"etag") {
            return true;
        }
        names = rest;
    }
    false
}
