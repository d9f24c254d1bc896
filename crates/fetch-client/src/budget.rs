//! How long a command waits in all, and how seconds are written.

use std::time::Duration;

/// How long `clone`, `fetch` and `pull` keep asking, where nobody says otherwise.
///
/// 120 s and not 60 s: one refusal may ask for 60 s, and with a budget of 60 s that leaves no retry.
pub const DEFAULT_RETRY_BUDGET: Duration = Duration::from_secs(120);

/// A retry budget that is not a number of seconds.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected a number of seconds such as 120 or 2.5, got {given:?}")]
pub struct JunkBudget {
    /// What was given, as it came.
    pub given: String,
}

/// The retry budget in force: the option, else the environment, else [`DEFAULT_RETRY_BUDGET`].
///
/// Seconds are written `1*DIGIT ["." 1*DIGIT]` with an optional minus sign; a negative number is 0, which means
/// exactly one attempt (rule B1). What lies below a millisecond is cut off and what lies above the range of
/// milliseconds saturates. Junk in the environment counts as not set.
///
/// # Errors
///
/// [`JunkBudget`] when the option is no such number.
pub fn resolve_retry_budget(option: Option<&str>, environment: Option<&str>) -> Result<Duration, JunkBudget> {
    match option {
        Some(given) => budget(given).ok_or_else(|| JunkBudget { given: given.to_owned() }),
        None => Ok(environment.and_then(budget).unwrap_or(DEFAULT_RETRY_BUDGET)),
    }
}

fn budget(text: &str) -> Option<Duration> {
    match text.strip_prefix('-') {
        Some(magnitude) => seconds(magnitude).map(|_| Duration::ZERO),
        None => seconds(text),
    }
}

/// Seconds as people write them: `1*DIGIT ["." 1*DIGIT]`.
pub(crate) fn seconds(text: &str) -> Option<Duration> {
    let (whole, fraction) = match text.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (text, None),
    };
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !fraction.is_none_or(is_number) {
        return None;
    }
    let whole = whole
        .bytes()
        .fold(0_u64, |sum, digit| sum.saturating_mul(10).saturating_add(u64::from(digit - b'0')));
    let thousandths = fraction
        .unwrap_or("")
        .bytes()
        .chain(std::iter::repeat(b'0'))
        .take(3)
        .fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0'));
    Some(Duration::from_millis(whole.saturating_mul(1_000).saturating_add(thousandths)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(option: Option<&str>, environment: Option<&str>) -> u128 {
        resolve_retry_budget(option, environment).expect("a number of seconds").as_millis()
    }

    /// MWP5_06
    #[test]
    fn mwp5_06_the_option_wins_over_the_environment_and_the_environment_over_the_default() {
        assert_eq!(resolved(Some("7"), Some("9")), 7_000);
        assert_eq!(resolved(None, Some("9")), 9_000);
        assert_eq!(resolved(None, None), 120_000);
    }

    /// MWP5_06
    #[test]
    fn mwp5_06_a_negative_budget_is_zero() {
        assert_eq!(resolved(Some("-5"), None), 0);
        assert_eq!(resolved(Some("-0.5"), None), 0);
        assert_eq!(resolved(None, Some("-5")), 0);
    }

    /// MWP5_06, F04: what some number parsers take for a number is junk here.
    #[test]
    fn mwp5_06_junk_in_the_environment_counts_as_not_set_and_in_the_option_is_an_error() {
        for junk in [
            "", " ", "-", ".", "1.", ".5", "+5", "1e3", "inf", "nan", "0x10", "1_000", "5s", " 5", "5 ",
            "--5", "1.2.3", "²", "1,5",
        ] {
            assert_eq!(resolved(None, Some(junk)), 120_000, "environment {junk:?}");
            assert_eq!(
                resolve_retry_budget(Some(junk), Some("9")),
                Err(JunkBudget { given: junk.to_owned() }),
                "option {junk:?}"
            );
        }
    }

    /// MWP5_06
    #[test]
    fn mwp5_06_fractions_are_cut_to_the_millisecond() {
        assert_eq!(resolved(Some("2.5"), None), 2_500);
        assert_eq!(resolved(Some("0.0019"), None), 1);
        assert_eq!(resolved(Some("007.05"), None), 7_050);
    }

    /// T3: no number wraps into a shorter budget.
    #[test]
    fn mwp5_06_numbers_beyond_the_range_saturate() {
        let forty_digits = "9".repeat(40);
        assert_eq!(resolved(Some(&forty_digits), None), u128::from(u64::MAX));
        assert_eq!(resolved(Some("18446744073709551616"), None), u128::from(u64::MAX));
    }

    #[test]
    fn a_junk_budget_says_what_was_expected_and_what_came() {
        insta::assert_snapshot!(
            resolve_retry_budget(Some("1e3"), None).expect_err("junk"),
            @r#"expected a number of seconds such as 120 or 2.5, got "1e3""#
        );
    }
}
