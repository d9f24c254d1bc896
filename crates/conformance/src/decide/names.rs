//! The names that questions and answers use, written once. Renaming a variant changes none of them.

use retry_core::{
    Anomalies, Anomaly, Application, Applied, Body, Combine, Dates, Join, Malformed, Needs, OverBudget,
    OverCeiling, Reason,
};

pub(super) const DATES: [(&str, Dates); 2] =
    [("honour", Dates::Honour), ("treat_as_absent", Dates::TreatAsAbsent)];

pub(super) const OVER_CEILING: [(&str, OverCeiling); 2] =
    [("clamp", OverCeiling::Clamp), ("give_up", OverCeiling::GiveUp)];

pub(super) const COMBINE: [(&str, Combine); 2] = [("hint_only", Combine::HintOnly), ("max", Combine::Max)];

pub(super) const OVER_BUDGET: [(&str, OverBudget); 2] =
    [("give_up", OverBudget::GiveUp), ("truncate_then_try", OverBudget::TruncateThenTry)];

pub(super) const NEEDS: [(&str, Needs); 2] = [("transient", Needs::TRANSIENT), ("hint", Needs::HINT)];

pub(super) const BODIES: [(&str, Body); 3] =
    [("none", Body::Replayable), ("replayable", Body::Replayable), ("once", Body::Once)];

pub(super) const JOINS: [(&str, Join); 2] = [("latest", Join::Latest), ("earliest", Join::Earliest)];

/// Sorted by name, as answers are.
const ANOMALIES: [(&str, Anomaly); 9] = [
    ("date_skew", Anomaly::DateSkew),
    ("folded", Anomaly::Folded),
    ("fraction", Anomaly::Fraction),
    ("ignored_line", Anomaly::IgnoredLine),
    ("leap_second", Anomaly::LeapSecond),
    ("past", Anomaly::Past),
    ("repeated", Anomaly::Repeated),
    ("saturated", Anomaly::Saturated),
    ("wrong_weekday", Anomaly::WrongWeekday),
];

/// In the order in which they act, as answers are.
const APPLICATIONS: [(&str, Application); 6] = [
    ("default_backoff", Application::DefaultBackoff),
    ("backoff", Application::Backoff),
    ("floor", Application::Floor),
    ("ceiling", Application::Ceiling),
    ("truncated", Application::Truncated),
    ("jitter", Application::Jitter),
];

pub(super) fn of_anomalies(anomalies: Anomalies) -> Vec<&'static str> {
    ANOMALIES.iter().filter(|(_, anomaly)| anomalies.contains(*anomaly)).map(|(name, _)| *name).collect()
}

pub(super) fn of_applied(applied: Applied) -> Vec<&'static str> {
    APPLICATIONS
        .iter()
        .filter(|(_, application)| applied.contains(*application))
        .map(|(name, _)| *name)
        .collect()
}

pub(super) fn of_malformed(reason: Malformed) -> &'static str {
    match reason {
        Malformed::Empty => "empty",
        Malformed::BadDate => "bad_date",
        Malformed::TooLong => "too_long",
        Malformed::Folded => "folded",
        // Informative, and this is the one for everything else.
        _ => "not_a_delay_or_date",
    }
}

pub(super) fn of_reason(reason: Reason) -> &'static str {
    match reason {
        Reason::NotRetryable => "not_retryable",
        Reason::Disabled => "disabled",
        Reason::Unmarked => "unmarked",
        Reason::NotReplayable => "not_replayable",
        Reason::AttemptsExhausted => "attempts_exhausted",
        Reason::HintAboveCeiling => "hint_above_ceiling",
        Reason::BudgetExhausted => "budget_exhausted",
        // Deadlines, windows and cancellation do not occur in a session.
        other => other.name(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every anomaly has a name, and the names are sorted (section 11.1).
    #[test]
    fn every_anomaly_is_named_in_the_order_of_the_alphabet() {
        let all = Anomaly::ALL.into_iter().fold(Anomalies::NONE, Anomalies::with);
        let names = of_anomalies(all);
        assert_eq!(names.len(), Anomaly::ALL.len());
        assert!(names.is_sorted(), "{names:?}");
    }

    /// Every application has a name, and they come in the order in which they act (section 5).
    #[test]
    fn every_application_is_named_in_the_order_of_acting() {
        assert_eq!(APPLICATIONS.map(|(_, application)| application), Application::ALL);
    }
}
