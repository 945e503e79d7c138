//! Types of `identity`.

use super::enumeration::enumerations;

enumerations! {
    /// Access of an agent client to its workspace; never more than its person has.
    AgentAccess: identity::oauth::AgentAccess;
    /// Way in which a client is identified.
    ClientKind: identity::oauth::ClientKind;
    /// Colour behind a person's initials.
    Color: identity::user::Color;
    /// Purpose of the token, as the command line gives it.
    Purpose: identity::device::Purpose;
}
