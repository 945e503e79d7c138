//! Problems of backend projects.

use projects::{InvalidInput, InvalidVerificationKey, ProjectError, access::ProjectAccessError};

use crate::problem::Problem;

impl From<ProjectError> for Problem {
    fn from(error: ProjectError) -> Self {
        match error {
            ProjectError::InvalidInput(error) => error.into(),
            ProjectError::TooManyProjects => Self::conflict(
                "too_many_projects",
                "The workspace has reached its limit of backend projects.",
            ),
            ProjectError::TooManyKeys => {
                Self::conflict("too_many_keys", "The project has reached its limit of active keys.")
                    .hint("Revoke a key that is no longer used.")
            }
            ProjectError::ProjectNotFound => Self::not_found("project"),
            ProjectError::ProjectNotDeleted => {
                Self::conflict("project_not_deleted", "This project is not deleted.")
            }
            ProjectError::KeyNotFound => Self::not_found("key"),
            ProjectError::Store(error) => error.into(),
        }
    }
}

impl From<ProjectAccessError> for Problem {
    fn from(error: ProjectAccessError) -> Self {
        let message = match error {
            ProjectAccessError::NotVisible => return Self::not_found("project"),
            ProjectAccessError::EditRequired => {
                "This requires the builder role or higher, unless you created the project."
            }
            ProjectAccessError::OwnRequired => {
                "Only an admin, an owner or the project's creator can do this."
            }
        };
        Self::forbidden("forbidden", message)
    }
}

impl From<InvalidInput> for Problem {
    fn from(error: InvalidInput) -> Self {
        let (field, rule): (&str, &'static str) = match error {
            InvalidInput::CreatorRole => ("workspace", "must be one in which your role is member or higher"),
            InvalidInput::ProjectName => ("name", "must have 2 to 60 printable characters"),
            InvalidInput::ConfirmationName => ("confirmName", "must be the exact name of the project"),
            InvalidInput::Description => ("description", "must have at most 280 characters"),
            InvalidInput::KeyRateLimit => ("rateLimitPerMin", "must be from 10 to 100,000"),
            InvalidInput::AddressRateLimit => ("ipRatePerMin", "must be from 10 to 100,000"),
            InvalidInput::BodySize => ("maxBodyKb", "must be from 1 to 1,024"),
            InvalidInput::OriginCount => ("allowedOrigins", "must list at most 20 origins"),
            InvalidInput::Origin => {
                ("allowedOrigins", "must list origins such as https://shop.example, without a path")
            }
            InvalidInput::Issuer => ("identity.issuer", "must have 1 to 200 printable characters"),
            InvalidInput::Audience => ("identity.audience", "must have 1 to 200 printable characters"),
            InvalidInput::RoleClaim => ("identity.roleClaim", "must have 1 to 200 printable characters"),
            InvalidInput::ClaimCount => ("identity.claims", "must name at most 32 claims"),
            InvalidInput::ClaimName => (
                "identity.claims",
                "contains an invalid name: use 1 to 32 lower-case letters, digits and `_`, beginning with a letter",
            ),
            InvalidInput::ClaimPath => {
                ("identity.claims", "must have paths of 1 to 200 printable characters")
            }
            InvalidInput::VerificationKeyCount => ("identity.keys", "must contain 1 to 100 keys"),
            InvalidInput::TooManyVerificationKeys(kids) => {
                let named: Vec<&str> =
                    kids.iter().map(|kid| kid.as_deref().unwrap_or("one without `kid`")).collect();
                let what = format!(
                    "contains {} keys that can verify tokens, and a project takes 8: {}",
                    kids.len(),
                    named.join(", ")
                );
                return Self::invalid_field("identity.keys", what)
                    .hint("Send the keys that the issuer signs with, at most 8 of them.");
            }
            InvalidInput::KeyName => ("name", "must have 1 to 60 printable characters"),
            InvalidInput::PublishableKeyScopes => {
                ("scopes", "are for secret keys only; table policies limit a publishable key")
            }
            InvalidInput::PublishableKeyTables => {
                ("tables", "are for secret keys only; table policies limit a publishable key")
            }
            InvalidInput::NoKeyScope => ("scopes", "must contain at least one scope"),
            InvalidInput::KeyTables => ("tables", "must list 1 to 64 different tables, or be null for all"),
            InvalidInput::KeyTableName => (
                "tables",
                "contains an invalid name: use 1 to 48 lower-case letters, digits and `_`, beginning with a letter",
            ),
            InvalidInput::VerificationKey(key) => ("identity.keys", verification_key_rule(key)),
        };
        Self::invalid_field(field, rule)
    }
}

fn verification_key_rule(error: InvalidVerificationKey) -> &'static str {
    match error {
        InvalidVerificationKey::PrivatePart => {
            "contains a private key: send public keys only, and stop using this one"
        }
        InvalidVerificationKey::LongKeyId => "contains a `kid` longer than 200 bytes",
        InvalidVerificationKey::NotAKey => "contains no JSON Web Key (RFC 7517)",
        InvalidVerificationKey::OtherUse => "contains no key for signatures: `use` must be `sig` if present",
        InvalidVerificationKey::Unsupported => {
            "contains no supported key: use RSA (RS256), EC P-256 (ES256), OKP Ed25519 (EdDSA) or oct (HS256)"
        }
        InvalidVerificationKey::RsaModulus => "contains an RSA key that is not 2,048 to 8,192 bits long",
        InvalidVerificationKey::RsaExponent => {
            "contains an RSA key whose exponent is not an odd number from 3 to 2^32"
        }
        InvalidVerificationKey::NotOnCurve => "contains an EC key that is not a point on P-256",
        InvalidVerificationKey::Ed25519Length => "contains an Ed25519 key that is not 32 bytes long",
        InvalidVerificationKey::SecretLength => "contains a symmetric key that is not 32 to 512 bytes long",
        InvalidVerificationKey::SecretMissing => {
            "must include `k`: the project does not have exactly one symmetric key with this `kid`"
        }
    }
}
