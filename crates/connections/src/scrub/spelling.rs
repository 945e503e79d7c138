//! The spellings of characters: a program that writes a text into JSON, HTML, a URL or code escapes some of its characters,
//! each program others. What stands at a place of a text is read here in every way in which it may be meant.
//!
//! * percent-encoding (RFC 3986), `+` for a space, and JavaScript's `%uXXXX`
//! * escapes of JSON and programming languages: `\uXXXX`, `\u{X}`, `\UXXXXXXXX`, `\xXX`, `\/`, `\n`, octal
//! * HTML's references: named, decimal and hexadecimal
//! * quoted-printable (RFC 2045) and doubled quotes (CSV, SQL)
//! * UTF-16 and UTF-32, whose zero bytes are passed over
//!
//! The signs of an escape may themselves be escaped, as in JSON within JSON, [`MAX_DEPTH`] times in all.

/// Bytes that one character takes in a spelling, at most.
pub(super) const MAX_SPELLING: usize = 64;
/// Places that a spelling leads to from a place at most, and that place.
pub(super) const NEAR_PLACES: usize = MAX_SPELLING + 1;
/// Escapes within each other, at most.
const MAX_DEPTH: u8 = 3;
/// Zero bytes between two characters, at most: UTF-32 has three.
const MAX_ZEROS: usize = 3;
/// Digits of a character's number, at most; the first may be zeros.
const MAX_DIGITS: usize = 10;
/// Spellings of one place, at most.
const MAX_SPELLINGS: usize = 8;
/// Letters of a reference's name, at most.
const MAX_NAME: usize = 8;

/// A character, or a byte of one, as it is spelled at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spelling {
    /// Bytes of the character; none for zero bytes to pass over.
    bytes: [u8; 4],
    length: u8,
    /// Place behind it.
    pub(super) end: usize,
}

impl Spelling {
    fn of_byte(byte: u8, end: usize) -> Self {
        Self { bytes: [byte, 0, 0, 0], length: 1, end }
    }

    fn of_char(c: char, end: usize) -> Self {
        let mut bytes = [0; 4];
        let length = c.encode_utf8(&mut bytes).len() as u8;
        Self { bytes, length, end }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }

    /// Returns the character if it is one of ASCII.
    fn ascii(&self) -> Option<u8> {
        (self.length == 1 && self.bytes[0].is_ascii()).then_some(self.bytes[0])
    }
}

/// The result of a read at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// All spellings were found.
    Complete,
    /// More bytes may complete another.
    Cut,
}

/// Returns `true` if a byte may begin a spelling that is more than itself.
pub(super) fn is_introducer(byte: u8) -> bool {
    matches!(byte, b'%' | b'\\' | b'&' | b'+' | b'=' | b'"' | b'\'' | 0)
}

/// Returns `false` if the next byte shows that a byte stands for itself: most quotes and signs do.
pub(super) fn may_be_escape(byte: u8, next: Option<u8>) -> bool {
    let Some(next) = next else { return is_introducer(byte) };
    match byte {
        b'"' | b'\'' => next == byte || matches!(next, b'\\' | b'&' | b'%'),
        b'=' => next.is_ascii_hexdigit(),
        b'%' => next.is_ascii_hexdigit() || next == b'u' || is_introducer(next),
        b'&' => next.is_ascii_alphabetic() || next == b'#' || is_introducer(next),
        _ => is_introducer(byte),
    }
}

/// The spellings at a place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spellings {
    found: [Spelling; MAX_SPELLINGS],
    count: usize,
    /// `true` if a byte was needed that has not come.
    is_cut: bool,
}

impl Spellings {
    pub(super) const NONE: Self = Self {
        found: [Spelling { bytes: [0; 4], length: 0, end: 0 }; MAX_SPELLINGS],
        count: 0,
        is_cut: false,
    };

    pub(super) fn as_slice(&self) -> &[Spelling] {
        &self.found[..self.count]
    }

    fn push(&mut self, spelling: Spelling) {
        if self.count < MAX_SPELLINGS && !self.as_slice().contains(&spelling) {
            self.found[self.count] = spelling;
            self.count += 1;
        }
    }

    fn push_number(&mut self, number: u32, end: usize) {
        if let Some(c) = char::from_u32(number) {
            self.push(Spelling::of_char(c, end));
        }
    }
}

/// Reads spellings. Those that were read for one place serve others, too: an escape at one may be a part of one before it.
#[derive(Default)]
pub(super) struct Reader {
    /// By the rest of a place and the depth; with the place.
    read: Vec<Option<(usize, Spellings)>>,
}

impl Reader {
    /// Returns the spellings at a place but the byte that stands there by itself. The first byte is at the place `base`.
    pub(super) fn read(&mut self, bytes: &[u8], base: usize, at: usize) -> (Spellings, Reading) {
        let mut text = Text { bytes, base, is_cut: false, read: &mut self.read };
        let byte = bytes[at - base];
        if !text.may_be_escape(byte, at + 1) {
            let reading = if text.is_cut { Reading::Cut } else { Reading::Complete };
            return (Spellings::NONE, reading);
        }
        let all = text.read(at, MAX_DEPTH);
        let mut others = Spellings::NONE;
        for spelling in all.as_slice() {
            let is_itself = spelling.end == at + 1 && spelling.bytes() == [byte];
            if !is_itself && spelling.end - at <= MAX_SPELLING {
                others.push(*spelling);
            }
        }
        let is_cut = all.is_cut && base + bytes.len() - at < MAX_SPELLING;
        (others, if is_cut { Reading::Cut } else { Reading::Complete })
    }
}

struct Text<'a> {
    bytes: &'a [u8],
    /// Place of the first byte.
    base: usize,
    /// `true` if a byte was needed that has not come.
    is_cut: bool,
    read: &'a mut Vec<Option<(usize, Spellings)>>,
}

impl Text<'_> {
    fn byte(&mut self, at: usize) -> Option<u8> {
        let byte = self.bytes.get(at - self.base).copied();
        self.is_cut |= byte.is_none();
        byte
    }

    /// Returns what may stand at a place, with so many escapes within each other.
    fn read(&mut self, at: usize, depth: u8) -> Spellings {
        let mut found = Spellings::NONE;
        let Some(byte) = self.byte(at) else {
            found.is_cut = true;
            return found;
        };
        found.push(Spelling::of_byte(byte, at + 1));
        if depth == 0 || !is_introducer(byte) {
            return found;
        }
        let key = at % MAX_SPELLING * usize::from(MAX_DEPTH) + usize::from(depth - 1);
        if let Some(Some((place, read))) = self.read.get(key)
            && *place == at
        {
            return *read;
        }
        let was_cut = std::mem::take(&mut self.is_cut);
        if self.may_be_escape(byte, at + 1) {
            if byte == 0 {
                self.zeros(at).into_iter().for_each(|zeros| found.push(zeros));
            } else {
                let introducers = self.read(at, depth - 1);
                self.is_cut |= introducers.is_cut;
                for introducer in introducers.as_slice() {
                    found.push(*introducer);
                    if let Some(sign) = introducer.ascii() {
                        self.read_after(sign, (at, introducer.end), depth - 1, &mut found);
                    }
                }
            }
        }
        found.is_cut = self.is_cut;
        self.is_cut |= was_cut;
        if !found.is_cut {
            if self.read.is_empty() {
                self.read.resize(MAX_SPELLING * usize::from(MAX_DEPTH), None);
            }
            self.read[key] = Some((at, found));
        }
        found
    }

    fn may_be_escape(&mut self, byte: u8, next: usize) -> bool {
        let next = if byte == b'+' { None } else { self.byte(next) };
        may_be_escape(byte, next)
    }

    /// Returns the zero bytes from a place on, if they are few.
    fn zeros(&mut self, at: usize) -> Option<Spelling> {
        if at > self.base && self.bytes[at - 1 - self.base] == 0 {
            return None;
        }
        let count = (at..=at + MAX_ZEROS).take_while(|at| self.byte(*at) == Some(0)).count();
        (count <= MAX_ZEROS).then_some(Spelling { bytes: [0; 4], length: 0, end: at + count })
    }

    /// Adds what an escape means whose sign was read.
    fn read_after(&mut self, sign: u8, (from, at): (usize, usize), depth: u8, found: &mut Spellings) {
        match sign {
            b'+' => found.push(Spelling::of_byte(b' ', at)),
            b'%' => {
                if let Some((number, end)) = self.digits(at, depth, 16, 2, 2) {
                    found.push(Spelling::of_byte(number as u8, end));
                }
                if let Some(end) = self.expect(at, depth, b"u") {
                    self.unit(end, depth, b'%', found);
                }
            }
            b'=' => {
                if let Some((number, end)) = self.digits(at, 0, 16, 2, 2) {
                    found.push(Spelling::of_byte(number as u8, end));
                }
            }
            b'"' | b'\'' => {
                if let Some(end) = self.expect(at, depth, &[sign]) {
                    found.push(Spelling::of_byte(sign, end));
                }
            }
            b'\\' => self.backslash((from, at), depth, found),
            b'&' => self.reference(at, depth, found),
            _ => {}
        }
    }

    fn backslash(&mut self, (from, at): (usize, usize), depth: u8, found: &mut Spellings) {
        let escapes = self.read(at, depth);
        self.is_cut |= escapes.is_cut;
        for spelling in escapes.as_slice() {
            let (Some(escaped), end) = (spelling.ascii(), spelling.end) else { continue };
            // Two backslashes that mean one are spelled in one way.
            if escaped == b'\\' && end - at != at - from {
                continue;
            }
            let control = match escaped {
                b'n' => Some(b'\n'),
                b'r' => Some(b'\r'),
                b't' => Some(b'\t'),
                b'b' => Some(8),
                b'f' => Some(12),
                b'v' => Some(11),
                b'a' => Some(7),
                b'e' => Some(27),
                sign if !sign.is_ascii_alphanumeric() => Some(sign),
                _ => None,
            };
            if let Some(control) = control {
                found.push(Spelling::of_byte(control, end));
            }
            match escaped {
                b'u' => {
                    self.unit(end, depth, b'\\', found);
                    if let Some(open) = self.expect(end, depth, b"{")
                        && let Some((number, end)) = self.digits(open, depth, 16, 1, MAX_DIGITS)
                        && let Some(end) = self.expect(end, depth, b"}")
                    {
                        found.push_number(number, end);
                    }
                }
                b'U' => {
                    if let Some((number, end)) = self.digits(end, depth, 16, 8, 8) {
                        found.push_number(number, end);
                    }
                }
                b'x' => {
                    if let Some((number, end)) = self.digits(end, depth, 16, 2, 2) {
                        found.push(Spelling::of_byte(number as u8, end));
                        found.push_number(number, end);
                    }
                }
                b'0'..=b'7' => {
                    if let Some((number, end)) = self.digits(spelling.end - 1, 0, 8, 3, 3)
                        && number < 256
                    {
                        found.push(Spelling::of_byte(number as u8, end));
                    }
                }
                _ => {}
            }
        }
    }

    /// Adds the character of a UTF-16 unit in four digits, or of two units, the second of which begins with `sign` and `u`.
    fn unit(&mut self, at: usize, depth: u8, sign: u8, found: &mut Spellings) {
        let Some((unit, end)) = self.digits(at, depth, 16, 4, 4) else { return };
        if !(0xd800..0xdc00).contains(&unit) {
            found.push_number(unit, end);
            return;
        }
        let second = self.read(end, depth);
        self.is_cut |= second.is_cut;
        for spelling in second.as_slice() {
            if spelling.ascii() == Some(sign)
                && let Some(second) = self.expect(spelling.end, depth, b"u")
                && let Some((low, end)) = self.digits(second, depth, 16, 4, 4)
                && (0xdc00..0xe000).contains(&low)
            {
                found.push_number(0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00), end);
            }
        }
    }

    /// Adds the character of a reference (HTML, section 13.5).
    fn reference(&mut self, at: usize, depth: u8, found: &mut Spellings) {
        if let Some(number) = self.expect(at, depth, b"#") {
            let read = match self.expect(number, depth, b"xX") {
                Some(hex) => self.digits(hex, depth, 16, 1, MAX_DIGITS),
                None => self.digits(number, depth, 10, 1, MAX_DIGITS),
            };
            if let Some((number, end)) = read {
                // Browsers do not need the semicolon.
                found.push_number(number, self.expect(end, depth, b";").unwrap_or(end));
            }
            return;
        }
        let (mut name, mut end) = (Vec::new(), at);
        while name.len() <= MAX_NAME {
            let Some((byte, next)) =
                self.next(end, depth, |byte| byte.is_ascii_alphanumeric() || byte == b';')
            else {
                return;
            };
            end = next;
            if byte == b';' {
                if let Some((_, c)) = REFERENCES.iter().find(|(known, _)| known.as_bytes() == name) {
                    found.push(Spelling::of_char(*c, end));
                }
                return;
            }
            name.push(byte);
        }
    }

    /// Reads a number with so many digits; no digit may follow one with fewer than `max`.
    fn digits(&mut self, at: usize, depth: u8, base: u32, min: usize, max: usize) -> Option<(u32, usize)> {
        let (mut number, mut end, mut count) = (0_u32, at, 0);
        while count < max
            && let Some((digit, next)) = self.next(end, depth, |byte| char::from(byte).is_digit(base))
        {
            number = number.saturating_mul(base).saturating_add(char::from(digit).to_digit(base)?);
            (end, count) = (next, count + 1);
        }
        (count >= min).then_some((number, end))
    }

    /// Returns the place behind one of these signs.
    fn expect(&mut self, at: usize, depth: u8, signs: &[u8]) -> Option<usize> {
        self.next(at, depth, |byte| signs.contains(&byte)).map(|(_, end)| end)
    }

    /// Returns the character of ASCII at a place if it is wanted, and the place behind it.
    fn next(&mut self, at: usize, depth: u8, is_wanted: impl Fn(u8) -> bool) -> Option<(u8, usize)> {
        let byte = self.byte(at)?;
        if is_wanted(byte) {
            return Some((byte, at + 1));
        }
        if depth == 0 || !is_introducer(byte) || byte == 0 {
            return None;
        }
        let found = self.read(at, depth);
        self.is_cut |= found.is_cut;
        found.as_slice().iter().find_map(|spelling| {
            spelling.ascii().filter(|byte| is_wanted(*byte)).map(|byte| (byte, spelling.end))
        })
    }
}

/// Named references: the signs of ASCII, and Latin-1 (HTML, section 13.5), which is what encoders write by name.
const REFERENCES: &[(&str, char)] = &[
    ("amp", '&'),
    ("AMP", '&'),
    ("lt", '<'),
    ("LT", '<'),
    ("gt", '>'),
    ("GT", '>'),
    ("quot", '"'),
    ("QUOT", '"'),
    ("apos", '\''),
    ("Tab", '\t'),
    ("NewLine", '\n'),
    ("excl", '!'),
    ("num", '#'),
    ("dollar", '$'),
    ("percnt", '%'),
    ("lpar", '('),
    ("rpar", ')'),
    ("ast", '*'),
    ("midast", '*'),
    ("plus", '+'),
    ("comma", ','),
    ("period", '.'),
    ("sol", '/'),
    ("colon", ':'),
    ("semi", ';'),
    ("equals", '='),
    ("quest", '?'),
    ("commat", '@'),
    ("lsqb", '['),
    ("lbrack", '['),
    ("bsol", '\\'),
    ("rsqb", ']'),
    ("rbrack", ']'),
    ("Hat", '^'),
    ("lowbar", '_'),
    ("UnderBar", '_'),
    ("grave", '`'),
    ("lcub", '{'),
    ("lbrace", '{'),
    ("verbar", '|'),
    ("vert", '|'),
    ("VerticalLine", '|'),
    ("rcub", '}'),
    ("rbrace", '}'),
    ("nbsp", '\u{a0}'),
    ("iexcl", '\u{a1}'),
    ("cent", '\u{a2}'),
    ("pound", '\u{a3}'),
    ("curren", '\u{a4}'),
    ("yen", '\u{a5}'),
    ("brvbar", '\u{a6}'),
    ("sect", '\u{a7}'),
    ("uml", '\u{a8}'),
    ("copy", '\u{a9}'),
    ("ordf", '\u{aa}'),
    ("laquo", '\u{ab}'),
    ("not", '\u{ac}'),
    ("shy", '\u{ad}'),
    ("reg", '\u{ae}'),
    ("macr", '\u{af}'),
    ("deg", '\u{b0}'),
    ("plusmn", '\u{b1}'),
    ("sup2", '\u{b2}'),
    ("sup3", '\u{b3}'),
    ("acute", '\u{b4}'),
    ("micro", '\u{b5}'),
    ("para", '\u{b6}'),
    ("middot", '\u{b7}'),
    ("cedil", '\u{b8}'),
    ("sup1", '\u{b9}'),
    ("ordm", '\u{ba}'),
    ("raquo", '\u{bb}'),
    ("frac14", '\u{bc}'),
    ("frac12", '\u{bd}'),
    ("frac34", '\u{be}'),
    ("iquest", '\u{bf}'),
    ("Agrave", '\u{c0}'),
    ("Aacute", '\u{c1}'),
    ("Acirc", '\u{c2}'),
    ("Atilde", '\u{c3}'),
    ("Auml", '\u{c4}'),
    ("Aring", '\u{c5}'),
    ("AElig", '\u{c6}'),
    ("Ccedil", '\u{c7}'),
    ("Egrave", '\u{c8}'),
    ("Eacute", '\u{c9}'),
    ("Ecirc", '\u{ca}'),
    ("Euml", '\u{cb}'),
    ("Igrave", '\u{cc}'),
    ("Iacute", '\u{cd}'),
    ("Icirc", '\u{ce}'),
    ("Iuml", '\u{cf}'),
    ("ETH", '\u{d0}'),
    ("Ntilde", '\u{d1}'),
    ("Ograve", '\u{d2}'),
    ("Oacute", '\u{d3}'),
    ("Ocirc", '\u{d4}'),
    ("Otilde", '\u{d5}'),
    ("Ouml", '\u{d6}'),
    ("times", '\u{d7}'),
    ("Oslash", '\u{d8}'),
    ("Ugrave", '\u{d9}'),
    ("Uacute", '\u{da}'),
    ("Ucirc", '\u{db}'),
    ("Uuml", '\u{dc}'),
    ("Yacute", '\u{dd}'),
    ("THORN", '\u{de}'),
    ("szlig", '\u{df}'),
    ("agrave", '\u{e0}'),
    ("aacute", '\u{e1}'),
    ("acirc", '\u{e2}'),
    ("atilde", '\u{e3}'),
    ("auml", '\u{e4}'),
    ("aring", '\u{e5}'),
    ("aelig", '\u{e6}'),
    ("ccedil", '\u{e7}'),
    ("egrave", '\u{e8}'),
    ("eacute", '\u{e9}'),
    ("ecirc", '\u{ea}'),
    ("euml", '\u{eb}'),
    ("igrave", '\u{ec}'),
    ("iacute", '\u{ed}'),
    ("icirc", '\u{ee}'),
    ("iuml", '\u{ef}'),
    ("eth", '\u{f0}'),
    ("ntilde", '\u{f1}'),
    ("ograve", '\u{f2}'),
    ("oacute", '\u{f3}'),
    ("ocirc", '\u{f4}'),
    ("otilde", '\u{f5}'),
    ("ouml", '\u{f6}'),
    ("divide", '\u{f7}'),
    ("oslash", '\u{f8}'),
    ("ugrave", '\u{f9}'),
    ("uacute", '\u{fa}'),
    ("ucirc", '\u{fb}'),
    ("uuml", '\u{fc}'),
    ("yacute", '\u{fd}'),
    ("thorn", '\u{fe}'),
    ("yuml", '\u{ff}'),
];
