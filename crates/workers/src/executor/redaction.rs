//! The search for secrets that code has in clear, in what it logs and returns.

use std::{borrow::Cow, iter, sync::Arc, time::Instant};

use connections::{
    outbound::SearchAccount,
    scrub::{REDACTED, Scrubber},
};
use runs::fair_share::search_turns;

/// Takes secrets out of texts of one invocation.
pub(super) struct Redaction {
    scrubber: Arc<Scrubber>,
    account: SearchAccount,
}

impl Redaction {
    pub(super) fn new(scrubber: Scrubber, account: SearchAccount) -> Self {
        Self { scrubber: Arc::new(scrubber), account }
    }

    /// Redacts a text.
    pub(super) async fn redact(&self, text: String) -> String {
        self.redact_all(vec![text]).await.pop().unwrap_or_default()
    }

    /// Redacts texts, and returns as many. Of long ones, about ten milliseconds at a time are searched on another thread,
    /// when it is the turn of their share.
    pub(super) async fn redact_all(&self, texts: Vec<String>) -> Vec<String> {
        let (quick, turn) = (self.scrubber.quick_bytes(), self.scrubber.turn_bytes());
        if texts.iter().map(String::len).sum::<usize>() <= quick {
            return search(&self.scrubber, &self.account, texts);
        }
        let mut redacted = Vec::with_capacity(texts.len());
        let mut left = texts.into_iter().peekable();
        while let Some(first) = left.peek() {
            let mut room = turn.max(first.len());
            let part = iter::from_fn(|| {
                let next = left.next_if(|text| text.len() <= room)?;
                room -= next.len();
                Some(next)
            });
            redacted.extend(self.redact_in_turn(part.collect()).await);
        }
        redacted
    }

    async fn redact_in_turn(&self, texts: Vec<String>) -> Vec<String> {
        let count = texts.len();
        let turn = search_turns().acquire(self.account.share()).await;
        let (scrubber, account) = (Arc::clone(&self.scrubber), self.account.clone());
        let searched = tokio::task::spawn_blocking(move || {
            let redacted = search(&scrubber, &account, texts);
            drop(turn);
            redacted
        });
        // What could not be searched is not kept.
        searched.await.unwrap_or_else(|_| vec![REDACTED.to_owned(); count])
    }
}

fn search(scrubber: &Scrubber, account: &SearchAccount, texts: Vec<String>) -> Vec<String> {
    let begun = Instant::now();
    let redact = |text: String| match scrubber.scrub_text(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(redacted) => redacted,
    };
    let redacted = texts.into_iter().map(redact).collect();
    account.charge(begun.elapsed());
    redacted
}
