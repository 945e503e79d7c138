//! Inputs that use cases refuse.

/// An input whose value a use case refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidInput {
    /// The name of a person does not have 1 to 120 printable characters.
    #[error("the name of the person is out of bounds")]
    PersonName,
    /// The name of a passkey does not have 1 to 60 printable characters.
    #[error("the name of the passkey is out of bounds")]
    PasskeyName,
    /// The name of a token does not have 1 to 60 printable characters.
    #[error("the name of the token is out of bounds")]
    TokenName,
    /// The lifetime of a token is not from 1 to 365 days.
    #[error("the lifetime of the token is out of bounds")]
    TokenLifetime,
    /// The name of the program that starts a device login does not have 1 to 60 printable characters.
    #[error("the name of the program is out of bounds")]
    DeviceClientName,
    /// The name of the machine that starts a device login does not have 1 to 64 printable characters.
    #[error("the name of the machine is out of bounds")]
    DeviceHostName,
    /// The lifetime of the token of a device login is not from 1 to 365 days.
    #[error("the lifetime of the token is out of bounds")]
    DeviceTokenLifetime,
    /// A device login requests the scope `admin`.
    #[error("a device login cannot request the scope admin")]
    DeviceAdminScope,
    /// A person allows a device login more than it requested.
    #[error("the scopes exceed the requested ones")]
    ScopesNotRequested,
}
