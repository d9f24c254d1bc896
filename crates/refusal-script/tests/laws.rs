//! The judge over generated traces.

mod common;

use common::{Story, case};
use proptest::prelude::*;
use refusal_script::{Case, Trace, VerdictKind, judge};

/// A chain of promises, one after the other.
fn chain(promises_ms: &[u64]) -> Case {
    let steps: Vec<String> = promises_ms
        .iter()
        .map(|ms| format!(r#"{{"status": 503, "promise": {{"not_before_ms": {ms}}}}}"#))
        .collect();
    case(&format!("[{}]", steps.join(",")), r#"[{"that": "attempts", "min": 2}, {"that": "not_before"}]"#, "")
}

/// A client that comes back `gaps_ms` after each refusal, and then keeps still.
fn trace(gaps_ms: &[u64]) -> Trace {
    let (mut story, mut now) = (Story::new(), 5);
    for (step, gap) in gaps_ms.iter().enumerate() {
        story = story.refused(now, step);
        now += gap;
    }
    story.fine(now).ended(now + 1)
}

prop_compose! {
    /// Promises, and for each how much later than asked the client comes.
    fn obeyed()(steps in prop::collection::vec((30_u64..5_000, 0_u64..5_000), 1..8)) -> (Vec<u64>, Vec<u64>) {
        steps.into_iter().map(|(promise, late)| (promise, promise + late)).unzip()
    }
}

proptest! {
    #[test]
    fn a_client_that_is_never_early_never_fails((promises, gaps) in obeyed()) {
        let verdict = judge(&chain(&promises), &trace(&gaps));
        prop_assert_eq!(verdict.kind, VerdictKind::Pass, "{}", verdict);
    }

    #[test]
    fn one_early_attempt_always_fails((promises, mut gaps) in obeyed(), which: prop::sample::Index, early in 21_u64..30) {
        let which = which.index(gaps.len());
        gaps[which] = promises[which] - early;
        let verdict = judge(&chain(&promises), &trace(&gaps));
        prop_assert_eq!(verdict.kind, VerdictKind::Fail, "{}", verdict);
    }

    #[test]
    fn coming_later_is_never_judged_worse((promises, gaps) in obeyed(), early in 0_u64..30, later in 0_u64..10_000) {
        let sooner: Vec<u64> = gaps.iter().map(|gap| gap.saturating_sub(early)).collect();
        let later: Vec<u64> = sooner.iter().map(|gap| gap + later).collect();
        let case = chain(&promises);
        let fails = |gaps: &[u64]| judge(&case, &trace(gaps)).kind == VerdictKind::Fail;
        prop_assert!(!fails(&later) || fails(&sooner));
    }

    /// A trace from elsewhere may have its lines in any order that its stamps allow.
    #[test]
    fn the_order_of_the_lines_does_not_decide((promises, gaps) in obeyed()) {
        let mut reversed = trace(&gaps);
        reversed.events.sort_by_key(|event| std::mem::discriminant(event) != std::mem::discriminant(&refusal_script::Event::Arrival {
            at_us: 0, exchange: 0, connection: 0, operation: 0, method: String::new(), target: String::new(), headers: vec![],
        }));
        prop_assert_eq!(judge(&chain(&promises), &reversed), judge(&chain(&promises), &trace(&gaps)));
    }

    /// Whatever arrives as JSON lines, the judge answers.
    #[test]
    fn the_judge_is_total(stamps in prop::collection::vec((any::<u64>(), 1_u32..4, prop::option::of(0_usize..3), any::<i64>()), 0..20)) {
        let mut story = Story::new();
        for (at_ms, operation, step, fraction) in stamps {
            story = story.exchange(operation, at_ms / 1_000, step, fraction / 2);
        }
        let case = chain(&[1_000, 2_000]);
        let _ = judge(&case, &story.ended(1));
    }
}
