//! Values that Rust keeps for objects of the code: decoders, codecs and keys. The objects have their numbers in private fields.

use std::{
    any::Any,
    cell::{Cell, RefCell},
    collections::HashMap,
};

/// The values of one invocation. A number is given once, so that a late release of one value frees no other.
#[derive(Default)]
pub(super) struct HeldValues {
    last: Cell<u32>,
    values: RefCell<HashMap<u32, Box<dyn Any>>>,
}

impl HeldValues {
    /// Drops all values.
    pub(super) fn clear(&self) {
        self.values.take();
    }

    /// Keeps a value and returns its number; `None` if there are `quota` of its type.
    pub(super) fn keep<T: Any>(&self, value: T, quota: usize) -> Option<u32> {
        let mut values = self.values.borrow_mut();
        if values.len() >= quota && values.values().filter(|held| held.is::<T>()).count() >= quota {
            return None;
        }
        let number = self.last.get().checked_add(1)?;
        self.last.set(number);
        values.insert(number, Box::new(value));
        Some(number)
    }

    /// Drops a value, if it is still there.
    pub(super) fn release(&self, number: u32) {
        self.values.borrow_mut().remove(&number);
    }

    /// Calls a function with a value; `None` if there is none of this type with this number.
    pub(super) fn with<T: Any, U>(&self, number: u32, call: impl FnOnce(&mut T) -> Option<U>) -> Option<U> {
        self.values.borrow_mut().get_mut(&number)?.downcast_mut().and_then(call)
    }
}
