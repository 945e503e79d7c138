//! A reader that yields to other tasks. A task that always finds more to read would keep its thread from all others for
//! milliseconds.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::io::{AsyncRead, ReadBuf};

/// Bytes after which the reader yields.
const READ_BUDGET: usize = 256 << 10;

/// A reader that is pending once after every [`READ_BUDGET`] bytes.
pub(crate) struct CooperativeReader<R> {
    reader: R,
    /// Bytes that were read since the reader was last pending.
    read_since_yield: usize,
}

impl<R> CooperativeReader<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self { reader, read_since_yield: 0 }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for CooperativeReader<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.read_since_yield >= READ_BUDGET {
            self.read_since_yield = 0;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.reader).poll_read(cx, buffer);
        self.read_since_yield =
            if read.is_pending() { 0 } else { self.read_since_yield + (buffer.filled().len() - before) };
        read
    }
}

#[cfg(test)]
mod tests {
    use futures::poll;
    use tokio::io::AsyncReadExt as _;

    use super::*;

    #[tokio::test]
    async fn much_is_read_whole_with_yields() {
        let bytes: Vec<u8> = (0..READ_BUDGET * 3 + 5).map(|n| u8::try_from(n % 251).unwrap()).collect();
        let (mut reader, mut read) = (CooperativeReader::new(bytes.as_slice()), Vec::new());
        let mut polls = 1;
        {
            let mut all = std::pin::pin!(reader.read_to_end(&mut read));
            while poll!(&mut all).is_pending() {
                polls += 1;
            }
        }
        assert_eq!((read == bytes, polls > 3), (true, true));
    }
}
