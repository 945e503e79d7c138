//! Counts of durations in logarithmic buckets, from which percentiles are estimated.
//!
//! A bucket holds the durations from one power of γ = 1.05 microseconds to the next. So an estimate is at most 2.5 % from a
//! duration that was added, however long it is, and two histograms are merged by adding their counts. The scheme is that of
//! DDSketch (Masson, Rim and Lee, 2019).

use std::time::Duration;

/// Ratio of the bounds of a bucket.
const GAMMA: f64 = 1.05;
/// Number of the last bucket, which ends after `u64::MAX` microseconds.
const MAX_INDEX: u16 = 910;
/// First byte of an encoded histogram.
const FORMAT: u8 = 1;
/// Most bytes of an encoded histogram: the format, and for each bucket a step of at most two bytes and a count of at most ten.
pub const MAX_ENCODED_BYTES: usize = 1 + 12 * (MAX_INDEX as usize + 1);

/// Counts of durations. Its memory grows with the number of different durations, to 15 KiB at most.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Histogram {
    /// Buckets that are not empty, by their numbers.
    buckets: Vec<Bucket>,
    /// Sum of all counts, up to `u64::MAX`.
    count: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Bucket {
    index: u16,
    count: u64,
}

/// Error of bytes that are no encoded histogram.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidHistogram {
    /// More than [`MAX_ENCODED_BYTES`].
    #[error("the histogram is too long")]
    TooLong,
    /// A format of another version.
    #[error("the histogram has an unknown format")]
    UnknownFormat,
    /// A number that is cut off, too large, or not in its shortest form.
    #[error("the histogram has a broken number")]
    BrokenNumber,
    /// A bucket out of range or out of order, or one that is empty.
    #[error("the histogram has an impossible bucket")]
    ImpossibleBucket,
}

impl Histogram {
    /// Adds a duration. One below a microsecond counts as one.
    pub fn add(&mut self, duration: Duration) {
        let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        self.add_to_bucket(Bucket { index: index_of(micros), count: 1 });
    }

    /// Adds all durations of another histogram.
    pub fn merge(&mut self, other: &Self) {
        for bucket in &other.buckets {
            self.add_to_bucket(*bucket);
        }
    }

    /// Returns the number of durations.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns true if nothing was added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Estimates the quantile of a number between 0 and 1, such as 0.95, by its nearest rank; `None` if the histogram is empty.
    #[must_use]
    pub fn quantile(&self, quantile: f64) -> Option<Duration> {
        let rank = (quantile.clamp(0.0, 1.0) * self.count as f64).ceil().max(1.0);
        let mut below = 0.0;
        let reached = |bucket: &&Bucket| {
            below += bucket.count as f64;
            below >= rank
        };
        // Sums of large numbers are not exact, and may stay below the largest rank.
        let bucket = self.buckets.iter().find(reached).or(self.buckets.last())?;
        Some(estimate(bucket.index))
    }

    /// Returns the histogram as bytes: the format, then each bucket as the step of its number from the one before and its
    /// count, in LEB128. At most [`MAX_ENCODED_BYTES`]; an empty one has no bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        if self.buckets.is_empty() {
            return Vec::new();
        }
        let mut bytes = vec![FORMAT];
        let mut next = 0;
        for bucket in &self.buckets {
            write_number(&mut bytes, u64::from(bucket.index - next));
            write_number(&mut bytes, bucket.count);
            next = bucket.index + 1;
        }
        bytes
    }

    /// Reads what [`encode`](Self::encode) returned.
    ///
    /// # Errors
    /// [`InvalidHistogram`] for other bytes.
    pub fn decode(bytes: &[u8]) -> Result<Self, InvalidHistogram> {
        if bytes.len() > MAX_ENCODED_BYTES {
            return Err(InvalidHistogram::TooLong);
        }
        let mut rest = match bytes {
            [] => return Ok(Self::default()),
            [FORMAT, rest @ ..] => rest,
            _ => return Err(InvalidHistogram::UnknownFormat),
        };
        let (mut histogram, mut next) = (Self::default(), 0_u64);
        while !rest.is_empty() {
            let step = read_number(&mut rest)?;
            let count = read_number(&mut rest)?;
            let index = next.checked_add(step).and_then(|index| u16::try_from(index).ok());
            let index = index.filter(|index| *index <= MAX_INDEX && count > 0);
            let index = index.ok_or(InvalidHistogram::ImpossibleBucket)?;
            histogram.buckets.push(Bucket { index, count });
            histogram.count = histogram.count.saturating_add(count);
            next = u64::from(index) + 1;
        }
        Ok(histogram)
    }

    fn add_to_bucket(&mut self, added: Bucket) {
        self.count = self.count.saturating_add(added.count);
        match self.buckets.binary_search_by_key(&added.index, |bucket| bucket.index) {
            Ok(at) => self.buckets[at].count = self.buckets[at].count.saturating_add(added.count),
            Err(at) => self.buckets.insert(at, added),
        }
    }
}

/// Returns the number of the bucket of a duration.
fn index_of(micros: u64) -> u16 {
    let index = (micros.max(1) as f64).ln() / GAMMA.ln();
    // Not negative and below `MAX_INDEX`, even where the last digits of the logarithm are wrong.
    (index.ceil() as u16).min(MAX_INDEX)
}

/// Returns the duration whose relative distance to both bounds of a bucket is the same.
fn estimate(index: u16) -> Duration {
    let micros = 2.0 * GAMMA.powi(index.into()) / (GAMMA + 1.0);
    // Only the last bucket reaches further than a duration.
    Duration::try_from_secs_f64(micros / 1e6).unwrap_or(Duration::MAX)
}

fn write_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn read_number(bytes: &mut &[u8]) -> Result<u64, InvalidHistogram> {
    let mut number = 0_u64;
    for shift in (0..u64::BITS).step_by(7) {
        let (byte, rest) = bytes.split_first().ok_or(InvalidHistogram::BrokenNumber)?;
        *bytes = rest;
        let bits = u64::from(byte & 0x7f);
        let is_last = byte & 0x80 == 0;
        if (bits << shift) >> shift != bits || (is_last && bits == 0 && shift > 0) {
            return Err(InvalidHistogram::BrokenNumber);
        }
        number |= bits << shift;
        if is_last {
            return Ok(number);
        }
    }
    Err(InvalidHistogram::BrokenNumber)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(micros: impl IntoIterator<Item = u64>) -> Histogram {
        let mut histogram = Histogram::default();
        for micros in micros {
            histogram.add(Duration::from_micros(micros));
        }
        histogram
    }

    /// Durations of every order of magnitude.
    fn durations() -> impl Strategy<Value = Vec<u64>> {
        let duration = (0_u32..64, any::<u64>()).prop_map(|(shift, bits)| bits >> shift);
        proptest::collection::vec(duration, 1..200)
    }

    fn assert_near(estimate: Duration, exact: u64) {
        let (estimate, exact) = (estimate.as_secs_f64() * 1e6, exact.max(1) as f64);
        assert!((estimate / exact - 1.0).abs() <= 0.025, "{estimate} for {exact}");
    }

    proptest! {
        #[test]
        fn a_quantile_is_at_most_a_fortieth_from_the_duration_of_its_rank(
            mut durations in durations(),
            quantile in 0.0..=1.0_f64,
        ) {
            let histogram = of(durations.iter().copied());
            durations.sort_unstable();
            let rank = (quantile * durations.len() as f64).ceil().max(1.0) as usize;
            assert_near(histogram.quantile(quantile).unwrap(), durations[rank - 1]);
        }

        #[test]
        fn merging_is_adding_all(parts in proptest::collection::vec(durations(), 0..6)) {
            let mut merged = Histogram::default();
            for part in &parts {
                merged.merge(&of(part.iter().copied()));
            }
            prop_assert_eq!(merged, of(parts.into_iter().flatten()));
        }

        #[test]
        fn a_histogram_survives_its_encoding(durations in durations(), count in 1..=u64::MAX) {
            let mut histogram = of(durations);
            prop_assert_eq!(Histogram::decode(&histogram.encode()), Ok(histogram.clone()));
            histogram.add_to_bucket(Bucket { index: 5, count });
            prop_assert_eq!(Histogram::decode(&histogram.encode()), Ok(histogram));
        }

        /// What is read from any bytes is in its only form, and small.
        #[test]
        fn other_bytes_are_refused(mut bytes in proptest::collection::vec(any::<u8>(), 0..300), valid in any::<bool>()) {
            if valid && let Some(first) = bytes.first_mut() {
                *first = FORMAT;
            }
            if let Ok(histogram) = Histogram::decode(&bytes) {
                prop_assert_eq!(histogram.quantile(0.5).is_some(), !histogram.is_empty());
                prop_assert!(histogram.buckets.len() <= bytes.len() / 2);
                prop_assert_eq!(histogram.encode(), if histogram.is_empty() { Vec::new() } else { bytes });
            }
        }

        #[test]
        fn a_broken_encoding_never_panics(durations in durations(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
            let mut bytes = of(durations).encode();
            let at = at.index(bytes.len());
            bytes[at] = byte;
            let _ = Histogram::decode(&bytes);
            bytes.truncate(at);
            let _ = Histogram::decode(&bytes);
        }
    }

    #[test]
    fn an_empty_histogram_has_no_quantiles_and_no_bytes() {
        let empty = Histogram::default();
        assert_eq!((empty.quantile(0.5), empty.count(), empty.encode()), (None, 0, Vec::new()));
        assert_eq!(Histogram::decode(&[FORMAT]), Ok(empty));
    }

    #[test]
    fn the_longest_histogram_fits() {
        let mut full = Histogram::default();
        for index in 0..=MAX_INDEX {
            full.add_to_bucket(Bucket { index, count: u64::MAX });
        }
        let bytes = full.encode();
        assert!(bytes.len() <= MAX_ENCODED_BYTES);
        assert_eq!(Histogram::decode(&bytes), Ok(full));
        assert_eq!(Histogram::decode(&[FORMAT; MAX_ENCODED_BYTES + 1]), Err(InvalidHistogram::TooLong));
    }

    #[test]
    fn extremes_are_in_buckets() {
        for micros in [0, 1, 2, u64::MAX - 1, u64::MAX] {
            assert_near(of([micros]).quantile(0.5).unwrap(), micros);
        }
        let mut longest = Histogram::default();
        longest.add(Duration::MAX);
        assert_near(longest.quantile(1.0).unwrap(), u64::MAX);
        assert_eq!(
            of([3, 1, 2]).quantile(f64::NAN),
            of([1]).quantile(0.5),
            "of a rank that is none, the first"
        );
    }

    #[test]
    fn what_no_encoder_writes_is_refused() {
        let refused = |bytes: &[u8]| Histogram::decode(bytes).unwrap_err();
        assert_eq!(refused(&[2, 1, 1]), InvalidHistogram::UnknownFormat);
        assert_eq!(refused(&[FORMAT, 1]), InvalidHistogram::BrokenNumber);
        assert_eq!(refused(&[FORMAT, 0x80]), InvalidHistogram::BrokenNumber);
        assert_eq!(refused(&[FORMAT, 0x81, 0, 1]), InvalidHistogram::BrokenNumber, "a longer form");
        assert_eq!(refused(&[FORMAT, 1, 0]), InvalidHistogram::ImpossibleBucket, "an empty bucket");
        assert_eq!(refused(&[FORMAT, 0x8f, 7, 1]), InvalidHistogram::ImpossibleBucket, "911");
        assert!(Histogram::decode(&[FORMAT, 0x8e, 7, 1]).is_ok(), "910");
        let mut overflows = vec![FORMAT, 0];
        overflows.extend([0xff; 9]);
        overflows.push(2);
        assert_eq!(refused(&overflows), InvalidHistogram::BrokenNumber);
    }
}
