//! The Web Cryptography API (W3C, level 2): keys and what is done with them. Keys stay in Rust; the code has their numbers in
//! private fields. Whatever the code makes of its objects, a key does only what it was made for.

mod algorithm;
mod derive;
mod ec;
mod encrypt;
mod export;
mod gcm;
mod generate;
mod hmac;
mod import;
mod jwk;
mod key;
mod rsa;
mod secrets;
mod sign;

use std::rc::Rc;

use process_snapshot::copy_bytes;
use rquickjs::{ArrayBuffer, Ctx, IntoJs, TypedArray, Value, convert::List};

use self::{
    algorithm::{Hash, Parameters, Usage},
    key::Key,
};
use super::Natives;
use crate::{protocol::HostCall, worker::invocation_state::InvocationState};
pub(in crate::worker) use secrets::{MAX_PENDING as MAX_PENDING_SECRETS, PendingSecret};

/// Keys of one invocation, at most.
const MAX_KEYS: usize = 4096;

/// An error as a `DOMException` of this name.
#[derive(Debug)]
pub(super) struct CryptoError {
    name: &'static str,
    message: String,
}

impl CryptoError {
    fn data(message: impl Into<String>) -> Self {
        Self { name: "DataError", message: message.into() }
    }

    fn invalid_access(message: impl Into<String>) -> Self {
        Self { name: "InvalidAccessError", message: message.into() }
    }

    fn not_supported(message: impl Into<String>) -> Self {
        Self { name: "NotSupportedError", message: message.into() }
    }

    fn operation(message: impl Into<String>) -> Self {
        Self { name: "OperationError", message: message.into() }
    }

    fn syntax(message: impl Into<String>) -> Self {
        Self { name: "SyntaxError", message: message.into() }
    }
}

type Result<T> = std::result::Result<T, CryptoError>;

/// The result of a function: never an array, which stands for an error.
enum Answer {
    Bytes(Vec<u8>),
    Flag(bool),
    Json(serde_json::Value),
    Key(u32),
}

impl<'js> IntoJs<'js> for Answer {
    fn into_js(self, ctx: &Ctx<'js>) -> rquickjs::Result<Value<'js>> {
        match self {
            Self::Bytes(bytes) => ArrayBuffer::new_copy(ctx.clone(), bytes)?.into_js(ctx),
            Self::Flag(flag) => flag.into_js(ctx),
            Self::Json(json) => json.to_string().into_js(ctx),
            Self::Key(number) => number.into_js(ctx),
        }
    }
}

/// Converts a result as the prelude expects it: an error is its name and its message.
fn answer<'js>(ctx: &Ctx<'js>, result: Result<Answer>) -> rquickjs::Result<Value<'js>> {
    match result {
        Ok(answer) => answer.into_js(ctx),
        Err(CryptoError { name, message }) => vec![name.to_owned(), message].into_js(ctx),
    }
}

/// Bytes that code hands over; none if their buffer is gone.
type Bytes<'js> = TypedArray<'js, u8>;

fn copy(bytes: &Bytes<'_>) -> Vec<u8> {
    copy_bytes(bytes).unwrap_or_default()
}

/// Adds the functions behind `crypto.subtle`.
pub(super) fn add_natives<'js>(
    natives: &Natives<'_, 'js>,
    invocation: &Rc<InvocationState>,
) -> rquickjs::Result<()> {
    natives.add("digest", |ctx: Ctx<'js>, name: String, data: Bytes<'js>| {
        answer(&ctx, Hash::parse(&name).map(|hash| Answer::Bytes(hash.digest(&copy(&data)))))
    })?;
    add_key_natives(natives, invocation)?;
    let own = || KeyStore(Rc::clone(invocation));
    let keys = own();
    natives.add("sign", move |ctx: Ctx<'js>, parameters: String, key: u32, data: Bytes<'js>| {
        let sign = || {
            let (parameters, key) = keys.find(&parameters, key, Usage::Sign)?;
            Ok(Answer::Bytes(sign::sign(&parameters, &key, &copy(&data))?))
        };
        answer(&ctx, sign())
    })?;
    let keys = own();
    natives.add(
        "verify",
        move |ctx: Ctx<'js>, parameters: String, key: u32, signature: Bytes<'js>, data: Bytes<'js>| {
            let verify = || {
                let (parameters, key) = keys.find(&parameters, key, Usage::Verify)?;
                Ok(Answer::Flag(sign::verify(&parameters, &key, &copy(&signature), &copy(&data))?))
            };
            answer(&ctx, verify())
        },
    )?;
    for (name, usage) in [("encrypt", Usage::Encrypt), ("decrypt", Usage::Decrypt)] {
        let keys = own();
        natives.add(
            name,
            move |ctx: Ctx<'js>,
                  parameters: String,
                  key: u32,
                  iv: Bytes<'js>,
                  additional_data: Option<Bytes<'js>>,
                  data: Bytes<'js>| {
                let convert = || {
                    let (parameters, key) = keys.find(&parameters, key, usage)?;
                    let additional_data = additional_data.as_ref().map(copy).unwrap_or_default();
                    let cipher = encrypt::Cipher::new(&parameters, &key, copy(&iv), additional_data)?;
                    let data = copy(&data);
                    let converted =
                        if usage == Usage::Encrypt { cipher.encrypt(&data) } else { cipher.decrypt(&data) };
                    Ok(Answer::Bytes(converted?))
                };
                answer(&ctx, convert())
            },
        )?;
    }
    let keys = own();
    natives.add(
        "deriveBits",
        move |ctx: Ctx<'js>,
              parameters: String,
              key: u32,
              salt: Bytes<'js>,
              info: Option<Bytes<'js>>,
              length: Option<f64>| {
            let derive = || {
                let (parameters, key) = keys.find(&parameters, key, Usage::DeriveBits)?;
                let info = info.as_ref().map(copy).unwrap_or_default();
                let length = length.ok_or_else(|| CryptoError::operation("the length is needed"))?;
                Ok(Answer::Bytes(derive::derive(&parameters, &key, &copy(&salt), &info, length as u64)?))
            };
            answer(&ctx, derive())
        },
    )?;
    let keys = own();
    natives.add(
        "deriveKey",
        move |ctx: Ctx<'js>,
              parameters: String,
              key: u32,
              salt: Bytes<'js>,
              info: Option<Bytes<'js>>,
              List((derived, extractable, usages)): List<(String, bool, Vec<String>)>| {
            let derive = || {
                let (parameters, key) = keys.find(&parameters, key, Usage::DeriveKey)?;
                let derived = Parameters::parse(&derived)?;
                let info = info.as_ref().map(copy).unwrap_or_default();
                let length = derive::key_length(&derived)?;
                let bits = derive::derive(&parameters, &key, &copy(&salt), &info, length)?;
                keys.keep(import::import("raw", &derived, &bits, extractable, &Usage::parse_all(&usages)?)?)
            };
            answer(&ctx, derive())
        },
    )
}

/// Adds the functions that make keys and tell what they are.
fn add_key_natives<'js>(
    natives: &Natives<'_, 'js>,
    invocation: &Rc<InvocationState>,
) -> rquickjs::Result<()> {
    let own = || KeyStore(Rc::clone(invocation));
    let keys = own();
    natives.add(
        "importKey",
        move |ctx: Ctx<'js>,
              format: String,
              parameters: String,
              data: Bytes<'js>,
              extractable: bool,
              usages: Vec<String>| {
            let import = || {
                let parameters = Parameters::parse(&parameters)?;
                let usages = Usage::parse_all(&usages)?;
                keys.keep(import::import(&format, &parameters, &copy(&data), extractable, &usages)?)
            };
            answer(&ctx, import())
        },
    )?;
    let keys = own();
    natives.add("secretKey", move |name: String, usages: Vec<String>| {
        let uses = Usage::parse_all(&usages).map_or_else(|_| Vec::new(), |usages| secrets::key_uses(&usages));
        keys.0.start_call(HostCall::Secret { name, uses })
    })?;
    let keys = own();
    natives.add(
        "importSecret",
        move |ctx: Ctx<'js>, number: u32, format: String, parameters: String, usages: Vec<String>| {
            let import = || {
                let parameters = Parameters::parse(&parameters)?;
                let usages = Usage::parse_all(&usages)?;
                let import = |secret: &mut PendingSecret| {
                    Some(secrets::import_secret(secret, &format, &parameters, &usages))
                };
                let key = keys.0.held_values.with(number, import);
                keys.keep(key.unwrap_or_else(|| Err(CryptoError::operation("the secret is gone")))?)
            };
            let imported = import();
            keys.0.held_values.release(number);
            answer(&ctx, imported)
        },
    )?;
    let keys = own();
    natives.add(
        "generateKey",
        move |ctx: Ctx<'js>,
              parameters: String,
              exponent: Option<Bytes<'js>>,
              extractable: bool,
              usages: Vec<String>| {
            let generate = || {
                let parameters = Parameters::parse(&parameters)?;
                let exponent = exponent.as_ref().map(copy).unwrap_or_default();
                let random = |count| keys.0.random_bytes(count);
                let usages = Usage::parse_all(&usages)?;
                match generate::generate(&parameters, &exponent, extractable, &usages, random)? {
                    generate::Generated::Secret(key) => keys.keep(*key),
                    generate::Generated::Pair { public, private } => {
                        let number = |key| match keys.keep(key)? {
                            Answer::Key(number) => Ok(number),
                            _ => Err(CryptoError::operation("the key is gone")),
                        };
                        let (public, private) = (number(*public)?, number(*private)?);
                        Ok(Answer::Json(serde_json::json!({ "publicKey": public, "privateKey": private })))
                    }
                }
            };
            answer(&ctx, generate())
        },
    )?;
    let keys = own();
    natives.add("exportKey", move |ctx: Ctx<'js>, format: String, key: u32| {
        let export = || export::export(&format, keys.get(key)?.as_ref());
        answer(&ctx, export())
    })?;
    let keys = own();
    natives.add("describeKey", move |ctx: Ctx<'js>, key: u32| {
        answer(&ctx, keys.get(key).map(|key| Answer::Json(key.describe())))
    })
}

/// The keys of the invocation.
struct KeyStore(Rc<InvocationState>);

impl KeyStore {
    fn keep(&self, key: Key) -> Result<Answer> {
        let number = self.0.held_values.keep(Rc::new(key), MAX_KEYS);
        number.map(Answer::Key).ok_or_else(|| CryptoError::operation("the code keeps too many keys"))
    }

    fn get(&self, number: u32) -> Result<Rc<Key>> {
        let key = self.0.held_values.with(number, |key: &mut Rc<Key>| Some(Rc::clone(key)));
        key.ok_or_else(|| CryptoError::operation("the key is gone"))
    }

    /// Returns a key for an algorithm and a use; an error if it is for another one.
    fn find(&self, parameters: &str, number: u32, usage: Usage) -> Result<(Parameters, Rc<Key>)> {
        let (parameters, key) = (Parameters::parse(parameters)?, self.get(number)?);
        if parameters.name()? != key.name {
            return Err(CryptoError::invalid_access(format!("the key is for {}", key.name.as_str())));
        }
        if !key.usages.contains(&usage) {
            return Err(CryptoError::invalid_access(format!("the key may not {}", usage.as_str())));
        }
        Ok((parameters, key))
    }
}
