//! Digits of a number: rounding and padding.

use fixed_decimal::{Decimal, SignedRoundingMode, UnsignedRoundingMode};

/// Digits of a number, as `SetNumberFormatDigitOptions` of ECMA-402 (section 15.1.3) resolves them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Digits {
    /// Digits before the separator, at least.
    pub(crate) min_integer: i16,
    pub(crate) limits: DigitLimits,
    pub(crate) rounding: SignedRoundingMode,
    /// True if a fraction of zeros is left out.
    pub(crate) strips_zeros: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum DigitLimits {
    Fraction { min: i16, max: i16 },
    Significant { min: i16, max: i16 },
}

impl Digits {
    /// Parses what `spelled` of `js/numbers/00_options.js` gives.
    pub(crate) fn parse(settings: &[String]) -> Option<Self> {
        let [min_integer, kind, min, max, rounding, strips_zeros] = settings else { return None };
        let (min, max) = (min.parse().ok()?, max.parse().ok()?);
        Some(Self {
            min_integer: min_integer.parse().ok()?,
            limits: match kind.as_str() {
                "significant" => DigitLimits::Significant { min, max },
                _ => DigitLimits::Fraction { min, max },
            },
            rounding: rounding_mode(rounding)?,
            strips_zeros: strips_zeros == "true",
        })
    }

    /// Rounds a number and pads it with zeros.
    pub(super) fn apply(&self, mut number: Decimal) -> Decimal {
        let end = match self.limits {
            DigitLimits::Fraction { min, max } => {
                number.round_with_mode(-max, self.rounding);
                number.absolute.trim_end();
                -min
            }
            DigitLimits::Significant { min, max } => {
                if !number.absolute.is_zero() {
                    number.round_with_mode(
                        number.absolute.nonzero_magnitude_start() - (max - 1),
                        self.rounding,
                    );
                }
                number.absolute.trim_end();
                let start =
                    if number.absolute.is_zero() { 0 } else { number.absolute.nonzero_magnitude_start() };
                start - (min - 1)
            }
        };
        let is_whole = number.absolute.nonzero_magnitude_end() >= 0;
        number.absolute.pad_end(if self.strips_zeros && is_whole { 0 } else { end.min(0) });
        number.absolute.trim_start();
        number.absolute.pad_start(self.min_integer);
        number
    }
}

/// Parses a rounding mode of ECMA-402.
fn rounding_mode(name: &str) -> Option<SignedRoundingMode> {
    Some(match name {
        "ceil" => SignedRoundingMode::Ceil,
        "floor" => SignedRoundingMode::Floor,
        "expand" => SignedRoundingMode::Unsigned(UnsignedRoundingMode::Expand),
        "trunc" => SignedRoundingMode::Unsigned(UnsignedRoundingMode::Trunc),
        "halfCeil" => SignedRoundingMode::HalfCeil,
        "halfFloor" => SignedRoundingMode::HalfFloor,
        "halfExpand" => SignedRoundingMode::Unsigned(UnsignedRoundingMode::HalfExpand),
        "halfTrunc" => SignedRoundingMode::Unsigned(UnsignedRoundingMode::HalfTrunc),
        "halfEven" => SignedRoundingMode::Unsigned(UnsignedRoundingMode::HalfEven),
        _ => return None,
    })
}
