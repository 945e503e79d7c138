//! Values that Rust keeps for objects of the code: decoders, codecs and keys. The code has their numbers in private fields.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    rc::Rc,
};

use super::natives::{codec::Codec, crypto::key::Key, text_decoder::StreamDecoder};

/// A value of any kind.
pub(super) enum HeldValue {
    Codec(Codec),
    Decoder(StreamDecoder),
    Key(Rc<Key>),
}

impl HeldValue {
    /// Returns how many values of this kind there may be.
    fn quota(&self) -> usize {
        match self {
            // Each has some hundred KiB.
            Self::Codec(_) => 64,
            Self::Decoder(_) => 10_000,
            Self::Key(_) => 4096,
        }
    }
}

/// The values of one invocation. A number is given once, so that a late release of one value frees no other.
#[derive(Default)]
pub(super) struct HeldValues {
    last: Cell<u32>,
    values: RefCell<HashMap<u32, HeldValue>>,
}

impl HeldValues {
    /// Drops all values.
    pub(super) fn clear(&self) {
        self.values.take();
    }

    /// Keeps a value and returns its number; `None` if there are too many of its kind.
    pub(super) fn keep(&self, value: HeldValue) -> Option<u32> {
        let mut values = self.values.borrow_mut();
        let kind = std::mem::discriminant(&value);
        let of_kind = values.values().filter(|held| std::mem::discriminant(*held) == kind);
        if values.len() >= value.quota() && of_kind.count() >= value.quota() {
            return None;
        }
        let number = self.last.get().checked_add(1)?;
        self.last.set(number);
        values.insert(number, value);
        Some(number)
    }

    /// Drops a value, if it is still there.
    pub(super) fn release(&self, number: u32) {
        self.values.borrow_mut().remove(&number);
    }

    /// Calls a function with a value; `None` if there is none with this number.
    pub(super) fn with<T>(&self, number: u32, call: impl FnOnce(&mut HeldValue) -> Option<T>) -> Option<T> {
        self.values.borrow_mut().get_mut(&number).and_then(call)
    }
}
