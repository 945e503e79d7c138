//! A passkey in software: an authenticator together with a browser, whose responses a test can forge.

use anyhow::{Context as _, Result};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use p256::ecdsa::{Signature, SigningKey, signature::Signer as _};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

// Flags of authenticator data (Web Authentication, section 6.1).
const FLAG_USER_PRESENT: u8 = 0x01;
const FLAG_USER_VERIFIED: u8 = 0x04;
const FLAG_ATTESTED_CREDENTIAL_DATA: u8 = 0x40;

/// An authenticator with one key.
#[derive(Debug, Clone)]
pub struct Passkey {
    key: SigningKey,
    id: Vec<u8>,
    user_handle: Option<String>,
    /// The origin that the browser reports.
    pub origin: String,
    /// True if a frame of another site asks, which the browser reports.
    pub is_cross_origin: bool,
    /// The origin of the page around the frame, which the browser reports.
    pub top_origin: Option<String>,
    /// True if the authenticator verified the person, for example by fingerprint.
    pub is_user_verified: bool,
}

impl Passkey {
    /// Returns an authenticator in a browser on a page of `origin`. `seed` determines the key and must not be zero.
    pub fn new(origin: &str, seed: u8) -> Result<Self> {
        let key = SigningKey::from_slice(&[seed; 32])?;
        Ok(Self {
            key,
            id: vec![seed; 16],
            user_handle: None,
            origin: origin.to_owned(),
            is_cross_origin: false,
            top_origin: None,
            is_user_verified: true,
        })
    }

    /// Performs `navigator.credentials.create`.
    pub fn create(&mut self, options: &Value) -> Result<Value> {
        let options = &options["publicKey"];
        self.user_handle = Some(options["user"]["id"].as_str().context("no user id")?.to_owned());
        let relying_party = options["rp"]["id"].as_str().context("no relying party id")?;
        let mut data = self.authenticator_data(relying_party, FLAG_ATTESTED_CREDENTIAL_DATA);
        data.extend([0; 16]);
        data.extend(u16::try_from(self.id.len())?.to_be_bytes());
        data.extend(&self.id);
        data.extend(self.cose_public_key()?);
        // {"fmt": "none", "attStmt": {}, "authData": bytes}
        let mut attestation = b"\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x59".to_vec();
        attestation.extend(u16::try_from(data.len())?.to_be_bytes());
        attestation.extend(data);
        let client_data = self.client_data("webauthn.create", options)?;
        Ok(json!({
            "id": BASE64.encode(&self.id), "rawId": BASE64.encode(&self.id), "type": "public-key", "extensions": {},
            "response": {"clientDataJSON": BASE64.encode(client_data), "attestationObject": BASE64.encode(attestation)},
        }))
    }

    /// Performs `navigator.credentials.get`.
    pub fn get(&self, options: &Value) -> Result<Value> {
        let options = &options["publicKey"];
        let data = self.authenticator_data(options["rpId"].as_str().context("no relying party id")?, 0);
        let client_data = self.client_data("webauthn.get", options)?;
        let signed_data = [data.as_slice(), &Sha256::digest(&client_data)].concat();
        let signature: Signature = self.key.sign(&signed_data);
        Ok(json!({
            "id": BASE64.encode(&self.id), "rawId": BASE64.encode(&self.id), "type": "public-key", "extensions": {},
            "response": {
                "clientDataJSON": BASE64.encode(client_data),
                "authenticatorData": BASE64.encode(data),
                "signature": BASE64.encode(signature.to_der().as_bytes()),
                "userHandle": self.user_handle,
            },
        }))
    }

    fn authenticator_data(&self, relying_party: &str, flags: u8) -> Vec<u8> {
        let verified = if self.is_user_verified { FLAG_USER_VERIFIED } else { 0 };
        let mut data = Sha256::digest(relying_party.as_bytes()).to_vec();
        data.push(FLAG_USER_PRESENT | verified | flags);
        data.extend([0; 4]);
        data
    }

    fn client_data(&self, kind: &str, options: &Value) -> Result<Vec<u8>> {
        let challenge = options["challenge"].as_str().context("no challenge")?;
        let mut data = json!({
            "type": kind, "challenge": challenge, "origin": self.origin, "crossOrigin": self.is_cross_origin,
        });
        if let Some(origin) = &self.top_origin {
            data["topOrigin"] = json!(origin);
        }
        Ok(data.to_string().into_bytes())
    }

    /// Encodes the public key in COSE (RFC 9053, section 7.1): {1: 2, 3: -7, -1: 1, -2: x, -3: y}.
    fn cose_public_key(&self) -> Result<Vec<u8>> {
        let point = self.key.verifying_key().to_sec1_point(false);
        let bytes = point.as_bytes();
        let (x, y) = (bytes.get(1..33).context("x")?, bytes.get(33..65).context("y")?);
        Ok([b"\xa5\x01\x02\x03\x26\x20\x01\x21\x58\x20".as_slice(), x, b"\x22\x58\x20", y].concat())
    }
}
