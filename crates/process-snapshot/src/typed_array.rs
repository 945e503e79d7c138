//! Bytes of typed arrays, copied out of the engine's memory.

#![expect(unsafe_code, reason = "a view's bytes may go away whenever JavaScript runs")]

use std::ops::Range;

use rquickjs::TypedArray;

/// Copies all bytes of a view; `None` if its buffer is detached.
#[must_use]
pub fn copy_bytes(view: &TypedArray<'_, u8>) -> Option<Vec<u8>> {
    // SAFETY: the slice is copied at once; no JavaScript runs while it lives.
    unsafe { view.as_bytes() }.map(<[u8]>::to_vec)
}

/// Copies some bytes of a view; `None` if its buffer is detached or the range goes beyond its end.
#[must_use]
pub fn copy_range(view: &TypedArray<'_, u8>, range: Range<usize>) -> Option<Vec<u8>> {
    // SAFETY: as above.
    unsafe { view.as_bytes() }.and_then(|bytes| bytes.get(range)).map(<[u8]>::to_vec)
}
