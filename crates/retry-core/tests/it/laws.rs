//! The project's own policies, held to the laws that it offers to others.

use std::time::Duration;

use proptest::prelude::*;
use retry_core::testing::{Reply, Seeded, Simulation, Trace, laws, strategies};
use retry_core::{
    Decision, Hint, LogicalRequest, Monotonic, NoRandom, Outcome, Policy, Reading, Replay, Step, Verdict,
};

/// Some clients under one policy, against a server that follows the script and then answers 200.
fn simulate(policy: &Policy, replay: Replay, script: &[Reply], seed: u64) -> Trace {
    let mut simulation = Simulation::seeded(seed);
    if let Some(windows) = policy.windows() {
        simulation = simulation.windows(windows);
    }
    for client in 0..3 {
        let from = Monotonic::from_millis(client * 700);
        simulation = simulation.client_from(from, LogicalRequest::new(policy, replay, from));
    }
    let good = Reply::answer(200, Hint::NONE);
    simulation.run(|arrival| script.get(arrival.earlier).copied().unwrap_or(good))
}

/// Mostly near the origin, sometimes anywhere, and near the last instant that there is.
fn any_instant() -> impl Strategy<Value = Monotonic> {
    prop_oneof![
        3 => (0..400_000_u64).prop_map(Monotonic::from_millis),
        1 => any::<u64>().prop_map(Monotonic::from_micros),
        1 => (0..400_000_000_u64).prop_map(|left| Monotonic::from_micros(u64::MAX - left)),
    ]
}

fn any_replay() -> impl Strategy<Value = Replay> {
    prop_oneof![Just(Replay::Always), Just(Replay::OnlyIfUnsent), Just(Replay::Never)]
}

proptest! {
    /// B1, B4, B5, B6, C5, W1: whatever the policy and the server, the upper bounds hold.
    #[test]
    fn every_policy_keeps_the_upper_bounds(
        policy in strategies::policy(),
        script in strategies::script(),
        replay in any_replay(),
        seed: u64,
    ) {
        let trace = simulate(&policy, replay, &script, seed);
        laws::waits_within_the_budget(&trace, policy.budget())?;
        laws::call_within_the_budget_and_one_attempt(&trace, policy.budget(), policy.attempt_timeout())?;
        laws::a_stop_is_absorbing(&trace)?;
        laws::a_stop_tells_the_last_hint(&trace)?;
        if let Some(most) = policy.max_attempts() {
            laws::attempts_within_the_cap(&trace, most.get())?;
        }
        if policy.budget() == Duration::ZERO || replay == Replay::Never || !policy.enabled() {
            laws::attempts_within_the_cap(&trace, 1)?;
        }
        if !policy.first_deadline() {
            laws::waits_at_least_the_floor(&trace, policy.floor())?;
        }
    }

    /// The law of the two bounds, E7: a policy that gives up is never early.
    #[test]
    fn an_obedient_policy_is_never_early(
        policy in strategies::obedient_policy(),
        script in strategies::script(),
        seed: u64,
    ) {
        let trace = simulate(&policy, Replay::Always, &script, seed);
        laws::never_before_the_not_before(&trace)?;
        laws::never_inside_a_window(&trace)?;
    }

    /// T3: saturation, floor, ceiling and budget keep the order of hints.
    #[test]
    fn a_larger_hint_never_waits_less(
        policy in strategies::policy(),
        status in prop_oneof![Just(429_u16), Just(503), 400_u16..600],
        mut hints in prop::array::uniform2(prop_oneof![any::<u64>(), 0_u64..200_000]),
    ) {
        hints.sort_unstable();
        laws::a_larger_hint_never_waits_less(&policy, status, hints[0], hints[1])?;
    }

    /// W3.
    #[test]
    fn jitter_never_shortens(
        policy in strategies::policy(),
        hint in strategies::hint(),
        seed: u64,
    ) {
        laws::jitter_never_shortens(&policy, 503, hint, seed)?;
    }

    /// P8.
    #[test]
    fn parsing_is_total(
        lines in strategies::field_lines(),
        date in prop::option::of(strategies::field_line()),
        age in prop::option::of(strategies::field_line()),
        now in strategies::wall_clock(),
    ) {
        let reading = Reading {
            date: date.as_deref(),
            age: age.as_deref(),
            lenient_fractions: true,
            ..Reading::at(now)
        };
        let lines: Vec<&[u8]> = lines.iter().map(Vec::as_slice).collect();
        laws::parsing_is_total(&lines, &reading)?;
    }

    /// P4.
    #[test]
    fn parse_of_format_is_the_identity(at in strategies::any_second()) {
        laws::parse_of_format_is_the_identity(at)?;
    }

    /// E3 to E6, E9.
    #[test]
    fn windows_match_the_plain_model(
        policy in strategies::windows(),
        operations in strategies::window_operations(),
    ) {
        laws::windows_match_the_plain_model(policy, &operations)?;
    }

    /// E10.
    #[test]
    fn latest_join_is_a_semilattice(policy in strategies::windows(), instants: [u64; 3]) {
        let [first, second, third] = instants.map(Monotonic::from_micros);
        laws::latest_join_is_a_semilattice(policy, first, second, third)?;
    }

    /// Polling is pure: early, late or often, it changes nothing.
    #[test]
    fn a_spurious_poll_changes_nothing(
        policy in strategies::policy(),
        outcome in strategies::outcome(),
        polls in prop::collection::vec((any::<u64>(), prop::option::of(any::<u64>())), 0..5),
    ) {
        let start = Monotonic::from_millis(5);
        let mut quiet = LogicalRequest::new(&policy, Replay::Always, start);
        quiet.begin(start);
        let mut asked = quiet.clone();
        for (now, window) in polls {
            let _ = asked.poll(Monotonic::from_micros(now), window.map(Monotonic::from_micros));
        }
        let received = Monotonic::from_millis(9);
        let one = quiet.end(&outcome, received, received, &mut NoRandom);
        let two = asked.end(&outcome, received, received, &mut NoRandom);
        prop_assert_eq!(one, two);
    }

    /// H1: on a success or a redirect a hint means nothing.
    #[test]
    fn a_hint_never_makes_a_success_retryable(
        policy in strategies::policy(),
        hint in strategies::hint(),
        status in 200_u16..400,
    ) {
        let start = Monotonic::ORIGIN;
        let mut request = LogicalRequest::new(&policy, Replay::Always, start);
        request.begin(start);
        let decision = request.end(&Outcome::answered(status, hint), start, start, &mut NoRandom);
        prop_assert_eq!(decision, Decision::Done);
    }

    /// T3, B5, T6: wherever on its clock a request stands, and whatever it is told, nothing overflows and the
    /// bounds hold.
    #[test]
    fn no_instant_and_no_hint_breaks_the_bounds(
        policy in strategies::policy(),
        start in any_instant(),
        steps in prop::collection::vec((any_instant(), any::<u64>(), any::<u8>()), 1..6),
        deadline in prop::option::of(any_instant()),
        window in prop::option::of(any_instant()),
        seed: u64,
    ) {
        let mut random = Seeded::new(seed);
        let mut request = LogicalRequest::new(&policy, Replay::Always, start).spread(&mut random);
        if let Some(deadline) = deadline {
            request = request.finish_by(deadline);
        }
        let mut now = start;
        for (instant, millis, shift) in steps {
            now = now.max(instant);
            match request.poll(now, window) {
                Step::Wait(until) => prop_assert!(until > now && until <= request.hard_stop()),
                Step::Stop(stop) => prop_assert!(!stop.to_string().is_empty()),
                Step::Attempt => {}
            }
            let attempt = request.begin(now);
            prop_assert!(attempt.abandon_at >= now);
            prop_assert!(attempt.look_until(now, Duration::MAX) <= attempt.abandon_at);
            let hint = Hint::after_millis(millis >> (shift % 64), b"");
            let outcome = Outcome::Answered { status: 503, hint, verdict: Verdict::Transient };
            match request.end(&outcome, now, now, &mut random) {
                Decision::Wait(wait) => {
                    prop_assert!(wait.until >= now && wait.until <= request.hard_stop());
                    prop_assert!(!wait.to_string().is_empty());
                }
                Decision::Stop(stop) => {
                    prop_assert!(stop.possible_at >= Some(now));
                    request.resume();
                }
                Decision::Done => prop_assert!(false, "503 is no success"),
            }
        }
    }

    /// A stop is absorbing for the state machine too, whatever is asked of it afterwards.
    #[test]
    fn after_a_stop_every_poll_says_stop(
        policy in strategies::policy(),
        outcome in strategies::outcome(),
        later: u64,
        window in prop::option::of(any::<u64>()),
    ) {
        let start = Monotonic::ORIGIN;
        let mut request = LogicalRequest::new(&policy, Replay::Never, start);
        request.begin(start);
        if let Decision::Stop(stop) = request.end(&outcome, start, start, &mut NoRandom) {
            let step = request.poll(Monotonic::from_micros(later), window.map(Monotonic::from_micros));
            prop_assert_eq!(step, Step::Stop(stop));
        }
    }
}
