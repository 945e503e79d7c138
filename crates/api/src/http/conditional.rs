//! Conditional requests (RFC 9110, section 13): entity tags of objects, writes that depend on them, and reads of what
//! the client has already.
//!
//! An object's tag is a digest of what a read of it returns, so no write can forget to change it. A read returns
//! [`Tagged`], or takes [`IfNoneMatch`] and returns what that makes of it; a write takes [`IfMatch`] and checks it in its
//! transaction, against the object that it has locked. A list has the tag of each item in the item ([`TaggedItem`]). A write
//! that cannot check a precondition refuses it ([`refuse_preconditions`]).

mod entity_tag;
mod if_match;
mod if_none_match;
mod refused_preconditions;
mod tag_list;
mod tagged_item;

pub(crate) use entity_tag::{EntityTag, Representation, Tagged};
pub(crate) use if_match::{IF_MATCH, IfMatch};
pub(crate) use if_none_match::{IF_NONE_MATCH, IfNoneMatch};
pub(crate) use refused_preconditions::{refuse_preconditions, set_refused_preconditions};
pub(crate) use tagged_item::TaggedItem;
