//! Policies as TOML and JSON.

use retry_core::{Policy, profiles};

/// Section 8: every profile survives both formats, and does not depend on a profile's name.
#[test]
fn profiles_survive_toml_and_json() {
    for (name, policy) in profiles::NAMES {
        let toml = toml::to_string(&policy).unwrap();
        assert_eq!(toml::from_str::<Policy>(&toml).unwrap(), policy, "{name}\n{toml}");
        let json = serde_json::to_string(&policy).unwrap();
        assert_eq!(serde_json::from_str::<Policy>(&json).unwrap(), policy, "{name}\n{json}");
        assert_eq!(toml::from_str::<Policy>(&format!("profile = \"{name}\"")).unwrap(), policy);
        assert_eq!(profiles::named(name), Some(policy));
    }
    assert_eq!(profiles::named("Muse"), None);
}

/// Section 8: single settings over a profile.
#[test]
fn a_document_changes_single_settings_of_a_profile() {
    let policy: Policy = toml::from_str(
        r#"
        profile = "alkhttp"
        budget_ms = 30000
        max_attempts = "none"
        windows = "none"
        jitter_cap_ms = "none"
        backoff = { kind = "constant", ms = 250 }
        retry_on = [{ status = 503 }, { status = 507, needs = "hint" }, { status = 413, needs = "transient_and_hint" }]
        "#,
    )
    .unwrap();
    insta::assert_snapshot!(serde_json::to_string(&policy).unwrap(), @r#"{"enabled":true,"retry_on":[{"status":413,"needs":"transient_and_hint"},{"status":503},{"status":507,"needs":"transient_and_hint"}],"repeat_unanswered":true,"dates":"honour","lenient_fractions":false,"combine":"max","backoff":{"kind":"constant","ms":250},"default_backoff_ms":0,"floor_ms":0,"ceiling_ms":300000,"over_ceiling":"clamp","budget_ms":30000,"over_budget":"truncate_then_try","max_attempts":"none","first_deadline":true,"windows":"none","jitter_per_mille":250,"jitter_cap_ms":"none","attempt_timeout_ms":30000}"#);
    let nulls = r#"{"profile":"alkhttp","max_attempts":null,"windows":null,"jitter_cap_ms":null}"#;
    let policy: Policy = serde_json::from_str(nulls).unwrap();
    assert_eq!((policy.max_attempts(), policy.windows(), policy.jitter().cap_millis), (None, None, None));
    assert_eq!(serde_json::from_str::<Policy>("{}").unwrap(), profiles::RECOMMENDED);
}

/// Bad text is refused with a name for what is wrong.
#[test]
fn bad_documents_are_named_errors() {
    let error = |text: &str| toml::from_str::<Policy>(text).unwrap_err().message().to_string();
    insta::assert_snapshot!(error("profile = \"mouse\""), @r#"expected a profile muse, shakenfist, alkhttp or recommended, got "mouse""#);
    insta::assert_snapshot!(error("floor_ms = 70000\nprofile = \"muse\""), @"expected a floor of at most the ceiling of 60 s, got 70 s");
    insta::assert_snapshot!(error("retry_on = [{ status = 99 }]"), @"expected a status from 100 to 599 in retry_on, got 99");
    insta::assert_snapshot!(error("retry_on = [{ status = 503 }, { status = 503 }]"), @"expected each status once in retry_on, got 503 twice");
    insta::assert_snapshot!(error("over_budget = \"cut\""), @"unknown variant `cut`, expected `give_up` or `truncate_then_try`");
    insta::assert_snapshot!(error("windows = { capacity = 0, join = \"latest\", ceiling_ms = 1 }"), @"invalid value: integer `0`, expected a nonzero u32");
    insta::assert_snapshot!(error("windows = { capacity = 1, join = \"latest\" }"), @"missing field `ceiling_ms`");
    insta::assert_snapshot!(error("windows = true"), @"invalid type: boolean `true`, expected a value or `none`");
    insta::assert_snapshot!(error("max_attempts = 0"), @"expected at least 1 attempt, got 0");
    insta::assert_snapshot!(error("max_attempts = -1"), @"invalid value: integer `-1`, expected u32");
    insta::assert_snapshot!(error("max_attempts = 4294967296"), @"invalid value: integer `4294967296`, expected u32");
    insta::assert_snapshot!(error("max_attempts = \"None\""), @r#"invalid value: string "None", expected a value or `none`"#);
    insta::assert_snapshot!(error("backoff = { kind = \"linear\", ms = 1 }"), @"unknown variant `linear`, expected `constant` or `exponential`");
    insta::assert_snapshot!(error("backoff = { kind = \"exponential\", base_ms = 1, factor = 0, cap_ms = 1 }"), @"expected a backoff factor of at least 1, got 0");
    insta::assert_snapshot!(error("backoff = { kind = \"constant\", ms = 1, factor = 2 }"), @"unknown field `factor`, expected `ms`");
    insta::assert_snapshot!(error("jitter_cap_ms = 1.5"), @"invalid type: floating point `1.5`, expected a value or `none`");
    insta::assert_snapshot!(error("retry_on = [503]"), @"invalid type: integer `503`, expected a table like { status = 503 }");
    insta::assert_snapshot!(error("retry_on = [{ status = 70000 }]"), @"invalid value: integer `70000`, expected u16");
    insta::assert_snapshot!(error("budget = 3"), @"unknown field `budget`, expected one of `profile`, `enabled`, `retry_on`, `repeat_unanswered`, `dates`, `lenient_fractions`, `combine`, `backoff`, `default_backoff_ms`, `floor_ms`, `ceiling_ms`, `over_ceiling`, `budget_ms`, `over_budget`, `max_attempts`, `first_deadline`, `windows`, `jitter_per_mille`, `jitter_cap_ms`, `attempt_timeout_ms`");
    insta::assert_snapshot!(error("budget_ms = -3"), @"invalid value: integer `-3`, expected u64");
    insta::assert_snapshot!(error("jitter_per_mille = 1001"), @"expected a jitter of at most 1000 per mille, got 1001");
}
