//! Inputs that use cases refuse.

/// An input whose value a use case refuses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidInput {
    /// The role of the member who creates a project is below `member`.
    #[error("the role of the member is too low")]
    CreatorRole,
    /// The name of a project does not have 2 to 60 printable characters.
    #[error("the name of the project is out of bounds")]
    ProjectName,
    /// The name that confirms a deletion is not that of the project.
    #[error("the confirmation is not the name of the project")]
    ConfirmationName,
    /// The description of a project has more than 280 characters.
    #[error("the description is too long")]
    Description,
    /// The rate limit of a key is not from 10 to 100,000.
    #[error("the rate limit of a key is out of bounds")]
    KeyRateLimit,
    /// The rate limit of an IP address is not from 10 to 100,000.
    #[error("the rate limit of an address is out of bounds")]
    AddressRateLimit,
    /// The limit of a request body is not from 1 to 1,024 KiB.
    #[error("the limit of a request body is out of bounds")]
    BodySize,
    /// More than 20 origins are listed.
    #[error("too many origins are listed")]
    OriginCount,
    /// A text is not an origin of a web site.
    #[error("a text is not an origin")]
    Origin,
    /// The issuer does not have 1 to 200 printable characters.
    #[error("the issuer is out of bounds")]
    Issuer,
    /// The audience does not have 1 to 200 printable characters.
    #[error("the audience is out of bounds")]
    Audience,
    /// The name of the claim with the roles does not have 1 to 200 printable characters.
    #[error("the name of the claim is out of bounds")]
    RoleClaim,
    /// More than 32 names of claims are given.
    #[error("too many claims are named")]
    ClaimCount,
    /// The name of a claim is not one that rules can have.
    #[error("the name of a claim does not fit")]
    ClaimName,
    /// The path of a claim does not have 1 to 200 printable characters.
    #[error("the path of a claim is out of bounds")]
    ClaimPath,
    /// The number of keys in the set is not from 1 to 100.
    #[error("the number of verification keys is out of bounds")]
    VerificationKeyCount,
    /// More than 8 keys of the set can verify tokens: these, by their ids.
    #[error("too many keys can verify tokens")]
    TooManyVerificationKeys(Vec<Option<String>>),
    /// The name of a project key does not have 1 to 60 printable characters.
    #[error("the name of the key is out of bounds")]
    KeyName,
    /// Scopes are given for a publishable key.
    #[error("a publishable key has no scopes")]
    PublishableKeyScopes,
    /// Tables are given for a publishable key.
    #[error("a publishable key has no tables")]
    PublishableKeyTables,
    /// A secret key gets no scope.
    #[error("a secret key has no scope")]
    NoKeyScope,
    /// The tables of a key are not 1 to 64 different ones.
    #[error("the tables of the key are out of bounds")]
    KeyTables,
    /// A text is not the name of a table.
    #[error("a text is not the name of a table")]
    KeyTableName,
    /// A verification key is refused.
    #[error(transparent)]
    VerificationKey(#[from] InvalidVerificationKey),
}

/// A refused verification key of an identity provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidVerificationKey {
    /// It has a private part.
    #[error("the key has a private part")]
    PrivatePart,
    /// Its `kid` is longer than 200 bytes.
    #[error("the `kid` is too long")]
    LongKeyId,
    /// It is not a JSON Web Key.
    #[error("the value is no JSON Web Key")]
    NotAKey,
    /// Its use or its operations are not those of a signature.
    #[error("the key is not for signatures")]
    OtherUse,
    /// Its type, curve or algorithm is not supported.
    #[error("the key is not supported")]
    Unsupported,
    /// Its modulus does not have 2,048 to 8,192 bits.
    #[error("the modulus is out of bounds")]
    RsaModulus,
    /// Its exponent is not an odd number from 3 to 2^32.
    #[error("the exponent is out of bounds")]
    RsaExponent,
    /// It is not a point on P-256.
    #[error("the key is not a point on P-256")]
    NotOnCurve,
    /// It does not have the 32 bytes of an Ed25519 key.
    #[error("the Ed25519 key does not have 32 bytes")]
    Ed25519Length,
    /// Its secret does not have 32 to 512 bytes.
    #[error("the secret is out of bounds")]
    SecretLength,
    /// It is symmetric, has no secret, and the project does not have exactly one symmetric key with its `kid`.
    #[error("the secret is missing")]
    SecretMissing,
}
