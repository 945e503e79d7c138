//! Errors of the Web Cryptography API.

/// An error as a `DOMException` of this name.
#[derive(Debug)]
pub(super) struct CryptoError {
    pub(super) name: &'static str,
    pub(super) message: String,
}

impl CryptoError {
    pub(super) fn data(message: impl Into<String>) -> Self {
        Self { name: "DataError", message: message.into() }
    }

    pub(super) fn invalid_access(message: impl Into<String>) -> Self {
        Self { name: "InvalidAccessError", message: message.into() }
    }

    pub(super) fn not_supported(message: impl Into<String>) -> Self {
        Self { name: "NotSupportedError", message: message.into() }
    }

    pub(super) fn operation(message: impl Into<String>) -> Self {
        Self { name: "OperationError", message: message.into() }
    }

    pub(super) fn syntax(message: impl Into<String>) -> Self {
        Self { name: "SyntaxError", message: message.into() }
    }
}

pub(super) type Result<T> = std::result::Result<T, CryptoError>;
