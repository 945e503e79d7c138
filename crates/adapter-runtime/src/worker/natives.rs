//! The native functions of the prelude. App code cannot reach them.

mod codec;
mod crypto;
mod forms;
mod numbers;
mod text_decoder;
mod time_zones;

use std::{collections::BTreeMap, ptr::NonNull, rc::Rc};

use base64::{Engine as _, alphabet, engine};
use process_snapshot::{Bytecode, copy_bytes, copy_range};
use rquickjs::{
    ArrayBuffer, Ctx, Function, IntoJs, Object, TypedArray, Value, convert::List, function::IntoJsFunc,
};
use runs::engine::LogLevel;
use url::{Url, form_urlencoded, quirks};

pub(super) use self::crypto::{MAX_PENDING_SECRETS, PendingSecret};
use self::{
    codec::Codec,
    forms::{Content, Entry},
    numbers::{Digits, NumberStyle},
    text_decoder::StreamDecoder,
};
use super::invocation_state::{InvocationState, SendOutcome};
use crate::protocol::{HostCall, Request, ResponseHead};

/// Decoders in the middle of a stream, at most.
const MAX_DECODERS: usize = 10_000;
/// Streams that are being compressed or decompressed, at most. Each takes some hundred KiB.
const MAX_CODECS: usize = 64;

/// Builds the object of native functions that the prelude's `install` takes.
pub(super) fn build_natives<'js>(
    ctx: &Ctx<'js>,
    invocation: &Rc<InvocationState>,
    modules: BTreeMap<&'static str, Bytecode>,
) -> rquickjs::Result<Object<'js>> {
    let natives = Natives { ctx, object: Object::new(ctx.clone())? };
    let own = || Rc::clone(invocation);

    let log = own();
    natives.add("log", move |level: i32, message: String| {
        log.log(
            match level {
                0 => LogLevel::Debug,
                1 => LogLevel::Info,
                2 => LogLevel::Warn,
                _ => LogLevel::Error,
            },
            message,
        );
    })?;
    let arm = own();
    natives.add("arm", move |id: u32, wait: f64| arm.set_timer(id, wait))?;
    let disarm = own();
    natives.add("disarm", move |id: u32| disarm.clear_timer(id))?;
    let fetch = own();
    natives.add(
        "fetch",
        move |connection: Option<String>,
              method: String,
              url: String,
              headers: Vec<String>,
              body: Option<TypedArray<'js, u8>>,
              is_streamed: bool,
              redirect: String| {
            let body = body.as_ref().and_then(copy_bytes).unwrap_or_default().into();
            let request = Request { method, url, headers: unflatten_pairs(headers), body };
            let redirect = redirect.parse().unwrap_or_default();
            fetch.start_call(HostCall::Fetch { connection, request, redirect, is_streamed })
        },
    )?;
    add_body_natives(&natives, invocation)?;
    let data = own();
    natives.add("data", move |project: String, op: String, table: String, key: String, values: String| {
        data.start_call(HostCall::Data { project, op, table, key, values })
    })?;
    let approval = own();
    natives.add("approval", move |title: String, detail: Option<String>| {
        approval.start_call(HostCall::Approval { title, detail })
    })?;
    let cancel = own();
    natives.add("cancelCall", move |id: u32| cancel.cancel_call(id))?;
    let random = own();
    natives.add("random", move |ctx: Ctx<'js>, count: usize| {
        ArrayBuffer::new_copy(ctx, random.random_bytes(count.min(65536)))
    })?;
    let number = own();
    natives.add("randomNumber", move || number.random_number())?;
    add_streaming_natives(&natives, invocation)?;
    // Most code needs none of these modules, so one is loaded when code first uses a name of it.
    natives.add("load", move |ctx: Ctx<'js>, name: String| {
        let module = modules.get(name.as_str()).ok_or_else(|| rquickjs::Error::new_loading(name.clone()))?;
        let (module, _) = module.load(ctx)?.eval()?;
        module.get::<_, Function<'js>>("install")
    })?;
    add_decoder_natives(&natives, invocation)?;
    add_codec_natives(&natives, invocation)?;
    crypto::add_natives(&natives, invocation)?;
    add_pure_natives(&natives)?;
    Ok(natives.object)
}

/// Adds the functions that send and read bodies of requests of the code, part by part.
fn add_body_natives<'js>(
    natives: &Natives<'_, 'js>,
    invocation: &Rc<InvocationState>,
) -> rquickjs::Result<()> {
    let own = || Rc::clone(invocation);
    let part = own();
    natives.add("sendPart", move |id: u32, bytes: TypedArray<'js, u8>| {
        part.send_request_part(id, &copy_bytes(&bytes).unwrap_or_default())
    })?;
    let end = own();
    natives.add("endParts", move |id: u32| end.end_request(id))?;
    let read = own();
    natives.add("readBody", move |id: u32| read.read_body(id))
}

/// Adds the decoders of text, and the function that frees what is kept for an object.
fn add_decoder_natives<'js>(
    natives: &Natives<'_, 'js>,
    invocation: &Rc<InvocationState>,
) -> rquickjs::Result<()> {
    let own = || Rc::clone(invocation);
    let release = own();
    natives.add("release", move |number: u32| release.held_values.release(number))?;
    natives.add("encodingName", |label: String| text_decoder::find_name(&label))?;
    natives.add(
        "decodeAs",
        |name: String, bytes: TypedArray<'js, u8>, is_fatal: bool, keeps_mark: bool| {
            StreamDecoder::new(&name, is_fatal, keeps_mark)?.decode(&copy_bytes(&bytes)?, true)
        },
    )?;
    let open = own();
    natives.add("openDecoder", move |name: String, is_fatal: bool, keeps_mark: bool| {
        open.held_values.keep(StreamDecoder::new(&name, is_fatal, keeps_mark)?, MAX_DECODERS)
    })?;
    let decode = own();
    natives.add("decodePart", move |number: u32, bytes: TypedArray<'js, u8>, is_last: bool| {
        let bytes = copy_bytes(&bytes)?;
        let text =
            decode.held_values.with(number, |decoder: &mut StreamDecoder| decoder.decode(&bytes, is_last));
        if is_last || text.is_none() {
            decode.held_values.release(number);
        }
        text
    })
}

/// Adds the functions that send a streamed response.
fn add_streaming_natives<'js>(
    natives: &Natives<'_, 'js>,
    invocation: &Rc<InvocationState>,
) -> rquickjs::Result<()> {
    let own = || Rc::clone(invocation);
    let head = own();
    natives.add("sendHead", move |status: u16, headers: Vec<String>| {
        head.send_head(ResponseHead { status, headers: unflatten_pairs(headers) })
    })?;
    let room = own();
    natives.add("hasRoom", move || room.has_window())?;
    let piece = own();
    // Returns what `70_sending.js` expects: bytes sent, 0 if none are left, -1 if the window is full, -2 beyond the limit.
    natives.add("sendChunk", move |chunk: TypedArray<'js, u8>, from: usize| -> i32 {
        let length = chunk.as_raw().map_or(0, NonNull::len).saturating_sub(from);
        let copy = |count| copy_range(&chunk, from..from + count).unwrap_or_default();
        match piece.send_chunk(length, copy) {
            SendOutcome::Bytes(count) => i32::try_from(count).unwrap_or_default(),
            SendOutcome::WindowFull => -1,
            SendOutcome::LimitExceeded => -2,
        }
    })?;
    let end = own();
    natives.add("sendEnd", move || end.send_end())
}

/// Adds the functions that compress and decompress.
fn add_codec_natives<'js>(
    natives: &Natives<'_, 'js>,
    invocation: &Rc<InvocationState>,
) -> rquickjs::Result<()> {
    let own = || Rc::clone(invocation);
    let open = own();
    // Returns 0 if there are too many.
    natives.add("openCodec", move |format: String, compresses: bool| -> Option<u32> {
        let codec = Codec::new(&format, compresses)?;
        Some(open.held_values.keep(codec, MAX_CODECS).unwrap_or_default())
    })?;
    let step = own();
    natives.add("codecStep", move |number: u32| with_codec(&step, number, |codec| Some(codec.step())))?;
    let convert = own();
    natives.add("convert", move |ctx: Ctx<'js>, number: u32, bytes: TypedArray<'js, u8>, from: usize| {
        let output = with_codec(&convert, number, |codec| {
            let length = bytes.as_raw().map_or(0, NonNull::len);
            let input = copy_range(&bytes, from..length.min(from.checked_add(codec.step())?));
            codec.convert(&input.unwrap_or_default())
        });
        output.map(|output| ArrayBuffer::new_copy(ctx, output)).transpose()
    })?;
    let finish = own();
    natives.add("finishCodec", move |ctx: Ctx<'js>, number: u32| {
        let output = with_codec(&finish, number, Codec::finish);
        output.map(|output| ArrayBuffer::new_copy(ctx, output)).transpose()
    })
}

fn with_codec<T>(
    invocation: &InvocationState,
    number: u32,
    call: impl FnOnce(&mut Codec) -> Option<T>,
) -> Option<T> {
    invocation.held_values.with(number, call)
}

struct Natives<'a, 'js> {
    ctx: &'a Ctx<'js>,
    object: Object<'js>,
}

impl<'js> Natives<'_, 'js> {
    fn add<P>(&self, name: &str, function: impl IntoJsFunc<'js, P> + 'js) -> rquickjs::Result<()> {
        self.object.set(name, Function::new(self.ctx.clone(), function)?)
    }
}

/// Adds the functions that keep no state.
fn add_pure_natives<'js>(natives: &Natives<'_, 'js>) -> rquickjs::Result<()> {
    natives.add("encode", |ctx: Ctx<'js>, text: String| ArrayBuffer::new_copy(ctx, text.into_bytes()))?;
    natives.add("decode", |ctx: Ctx<'js>, bytes: TypedArray<'js, u8>, fatal: bool, keep_mark: bool| {
        decode(&bytes, fatal, keep_mark).into_js(&ctx)
    })?;
    natives.add("atob", |text: String| atob(&text))?;
    natives.add("btoa", |text: String| btoa(&text))?;
    natives.add("parseForm", |ctx: Ctx<'js>, content_type: String, body: TypedArray<'js, u8>| {
        parse_form(&ctx, &content_type, &body)
    })?;
    natives.add("zoneName", |name: String| time_zones::find_name(&name))?;
    natives.add("zoneOffset", |name: String, millis: f64| {
        time_zones::offset_at(&name, millis).map(|(seconds, abbreviation)| List((seconds, abbreviation)))
    })?;
    add_number_natives(natives)?;
    natives.add("parseUrl", |text: String, base: Option<String>| parse_url(&text, base.as_deref()))?;
    natives.add("changeUrl", |href: String, part: u32, value: String| set_url_part(&href, part, &value))?;
    natives.add("parseQuery", |query: String| -> Vec<String> {
        form_urlencoded::parse(query.as_bytes())
            .flat_map(|(name, value)| [name.into_owned(), value.into_owned()])
            .collect()
    })?;
    natives.add("formatQuery", |flat: Vec<String>| -> String {
        form_urlencoded::Serializer::new(String::new()).extend_pairs(unflatten_pairs(flat)).finish()
    })
}

/// Adds the functions of numbers, plurals, lists and relative times in a language. They return nothing for a tag or a number that is
/// none.
fn add_number_natives<'js>(natives: &Natives<'_, 'js>) -> rquickjs::Result<()> {
    natives.add("isLanguageTag", |tag: String| numbers::is_language_tag(&tag))?;
    natives.add("numberParts", |tag: String, settings: Vec<String>, number: String| {
        let parts = numbers::number_parts(&tag, &NumberStyle::parse(&settings)?, &number)?;
        Some(parts.into_iter().flat_map(|(kind, text)| [kind.to_owned(), text]).collect::<Vec<_>>())
    })?;
    natives.add("currencyDigits", |code: String| numbers::currency_digits(&code))?;
    natives.add("pluralCategory", |tag: String, is_ordinal: bool, digits: Vec<String>, number: String| {
        numbers::plural_category(&tag, is_ordinal, &Digits::parse(&digits)?, &number)
    })?;
    natives.add("pluralCategories", |tag: String, is_ordinal: bool| {
        numbers::plural_categories(&tag, is_ordinal)
    })?;
    natives.add("listSeparators", |tag: String, kind: String, style: String, items: Vec<String>| {
        numbers::list_separators(&tag, &kind, &style, &items)
    })?;
    natives.add("relativeTime", |tag: String, style: String, is_auto: bool, unit: String, number: String| {
        numbers::relative_time(&tag, &style, is_auto, &unit, &number)
    })
}

/// Pairs up a list in which names and values alternate.
pub(super) fn unflatten_pairs(flat: Vec<String>) -> Vec<(String, String)> {
    let mut pairs = Vec::with_capacity(flat.len() / 2);
    let mut flat = flat.into_iter();
    while let (Some(name), Some(value)) = (flat.next(), flat.next()) {
        pairs.push((name, value));
    }
    pairs
}

fn decode(bytes: &TypedArray<'_, u8>, fatal: bool, keep_mark: bool) -> Option<String> {
    let mut bytes = copy_bytes(bytes)?;
    if !keep_mark && bytes.starts_with(b"\xef\xbb\xbf") {
        bytes.drain(..3);
    }
    match String::from_utf8(bytes) {
        Ok(text) => Some(text),
        Err(_) if fatal => None,
        Err(error) => Some(String::from_utf8_lossy(error.as_bytes()).into_owned()),
    }
}

/// Returns five values for each entry of a form, as `files/20_multipart.js` expects, or text that says what is wrong.
fn parse_form<'js>(
    ctx: &Ctx<'js>,
    content_type: &str,
    body: &TypedArray<'js, u8>,
) -> rquickjs::Result<Value<'js>> {
    let body = copy_bytes(body).unwrap_or_default();
    let entries = match forms::parse(content_type, &body) {
        Ok(entries) => entries,
        Err(problem) => return problem.into_js(ctx),
    };
    let mut flat = Vec::with_capacity(entries.len() * 5);
    for Entry { name, filename, content_type, content } in entries {
        flat.extend([name.into_js(ctx)?, filename.into_js(ctx)?, content_type.into_js(ctx)?]);
        match content {
            Content::Range(range) => flat.extend([range.start.into_js(ctx)?, range.end.into_js(ctx)?]),
            Content::Text(text) => flat.extend([text.into_js(ctx)?, Value::new_null(ctx.clone())]),
        }
    }
    flat.into_js(ctx)
}

/// Decodes base64 as the Infra standard's forgiving-base64 does: white space is ignored, and padding is complete or absent.
fn atob(text: &str) -> Option<String> {
    const FORGIVING: engine::GeneralPurpose = engine::GeneralPurpose::new(
        &alphabet::STANDARD,
        engine::GeneralPurposeConfig::new()
            .with_decode_padding_mode(engine::DecodePaddingMode::RequireNone)
            .with_decode_allow_trailing_bits(true),
    );
    let bare: String = text.chars().filter(|character| !character.is_ascii_whitespace()).collect();
    let mut digits = bare.as_str();
    if digits.len().is_multiple_of(4) {
        digits = digits.strip_suffix("==").or_else(|| digits.strip_suffix('=')).unwrap_or(digits);
    }
    let bytes = FORGIVING.decode(digits).ok()?;
    Some(bytes.into_iter().map(char::from).collect())
}

fn btoa(text: &str) -> Option<String> {
    let bytes: Option<Vec<u8>> =
        text.chars().map(|character| u8::try_from(u32::from(character)).ok()).collect();
    Some(engine::general_purpose::STANDARD.encode(bytes?))
}

fn parse_url(text: &str, base: Option<&str>) -> Option<Vec<String>> {
    let base = match base {
        Some(base) => Some(Url::parse(base).ok()?),
        None => None,
    };
    Url::options().base_url(base.as_ref()).parse(text).ok().map(|url| url_parts(&url))
}

fn url_parts(url: &Url) -> Vec<String> {
    let parts = [
        quirks::href(url),
        quirks::protocol(url),
        quirks::username(url),
        quirks::password(url),
        quirks::host(url),
        quirks::hostname(url),
        quirks::port(url),
        quirks::pathname(url),
        quirks::search(url),
        quirks::hash(url),
    ];
    parts.into_iter().map(str::to_owned).chain([quirks::origin(url)]).collect()
}

/// Sets one of the parts that [`url_parts`] lists; `None` if the value does not fit.
fn set_url_part(href: &str, part: u32, value: &str) -> Option<Vec<String>> {
    let mut url = Url::parse(href).ok()?;
    let changed = match part {
        0 => quirks::set_href(&mut url, value).map_err(|_| ()),
        1 => quirks::set_protocol(&mut url, value),
        2 => quirks::set_username(&mut url, value),
        3 => quirks::set_password(&mut url, value),
        4 => quirks::set_host(&mut url, value),
        5 => quirks::set_hostname(&mut url, value),
        6 => quirks::set_port(&mut url, value),
        7 => {
            quirks::set_pathname(&mut url, value);
            Ok(())
        }
        8 => {
            quirks::set_search(&mut url, value);
            Ok(())
        }
        9 => {
            quirks::set_hash(&mut url, value);
            Ok(())
        }
        _ => Err(()),
    };
    changed.ok().map(|()| url_parts(&url))
}
