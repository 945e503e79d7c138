//! Types of `connections`.

use super::enumeration::enumerations;

enumerations! {
    /// The status of a gate.
    GateStatus: connections::GateStatus;
    /// An HTTP method that a gate can allow. `CONNECT` and `TRACE` are never allowed.
    Method: connections::gates::Method;
}
