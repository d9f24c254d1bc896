//! Names that are safe to make files of, and those that are not.

use hub_protocol::{BranchName, RepositoryPath};
use proptest::prelude::*;

/// F48: what would leave the target, or overwrite what is not the user's, or be no file on some system.
#[test]
fn hostile_paths_are_refused_with_path_and_reason() {
    let refusal = |path: &str| RepositoryPath::new(path).unwrap_err().to_string();
    insta::assert_snapshot!(refusal(""), @r#"the path "" is empty"#);
    insta::assert_snapshot!(refusal("/etc/passwd"), @r#"the path "/etc/passwd" is absolute"#);
    insta::assert_snapshot!(refusal("../../x"), @r#"the path "../../x" has the component "..", which is no file name"#);
    insta::assert_snapshot!(refusal("./x"), @r#"the path "./x" has the component ".", which is no file name"#);
    insta::assert_snapshot!(refusal("a//b"), @r#"the path "a//b" has an empty component"#);
    insta::assert_snapshot!(refusal("a/"), @r#"the path "a/" has an empty component"#);
    insta::assert_snapshot!(refusal("a\\..\\b"), @r#"the path "a\\..\\b" holds the character '\\', which is not allowed"#);
    insta::assert_snapshot!(refusal("C:evil"), @r#"the path "C:evil" holds the character ':', which is not allowed"#);
    insta::assert_snapshot!(refusal("a\0b"), @r#"the path "a\0b" holds the character '\0', which is not allowed"#);
    insta::assert_snapshot!(refusal("a\nb"), @r#"the path "a\nb" holds the character '\n', which is not allowed"#);
    insta::assert_snapshot!(refusal("a\u{85}b"), @r#"the path "a\u{85}b" holds the character '\u{85}', which is not allowed"#);
    insta::assert_snapshot!(refusal("x/.Muse/HEAD"), @r#"the path "x/.Muse/HEAD" has the component ".Muse", which is the repository's own folder"#);
    insta::assert_snapshot!(refusal("con"), @r#"the path "con" has the component "con", which Windows reserves for a device"#);
    insta::assert_snapshot!(refusal("src/Aux.rs"), @r#"the path "src/Aux.rs" has the component "Aux.rs", which Windows reserves for a device"#);
    insta::assert_snapshot!(refusal("a. /b"), @r#"the path "a. /b" has the component "a. ", which ends in a dot or a space"#);
    insta::assert_snapshot!(refusal("b."), @r#"the path "b." has the component "b.", which ends in a dot or a space"#);
    insta::assert_snapshot!(refusal(&"n".repeat(256)), @r#"the path "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn…" (256 bytes) has a component of 256 bytes, and at most 255 are allowed"#);
    insta::assert_snapshot!(refusal(&"n/".repeat(2_049)).replace("n/", ""), @r#"the path "…" (4098 bytes) is 4098 bytes long, and at most 4096 are allowed"#);
}

#[test]
fn the_longest_path_is_4096_bytes() {
    let folders = "d/".repeat(2_047);
    assert!(RepositoryPath::new(format!("{folders}ff")).is_ok());
    assert!(RepositoryPath::new(format!("{folders}fff")).is_err());
}

/// F48: the repository's own folder, under every name that some file system opens it by.
#[test]
fn the_control_folder_is_refused_in_every_disguise() {
    for path in [
        ".muse",
        ".muse/config.toml",
        ".MUSE/x",
        "a/.mUsE",
        ".mu\u{200c}se/x",
        "\u{feff}.muse",
        ".muse\u{202e}/HEAD",
        "MUSE~1",
        "muse~2/HEAD",
        "muse~12/HEAD",
    ] {
        assert!(RepositoryPath::new(path).is_err(), "{path:?}");
    }
}

#[test]
fn the_devices_of_windows_are_refused() {
    for device in
        ["con", "NUL", "Aux", "prn", "COM1", "com9", "lpt1", "LPT9", "com¹", "LPT³", "CONIN$", "conout$"]
    {
        for path in
            [device.to_owned(), format!("{device}.txt"), format!("a/{device}.tar.gz"), format!("{device} .x")]
        {
            assert!(RepositoryPath::new(&path[..]).is_err(), "{path:?}");
        }
    }
}

#[test]
fn ordinary_paths_are_accepted() {
    for path in [
        "a",
        "README.md",
        ".museignore",
        ".muse2/x",
        ".gitignore",
        "a..b/c",
        "..a",
        "über/日本 語.txt",
        "🎼/👩‍🎤.png",
        "console",
        "com0",
        "com10",
        "com",
        "lpt",
        "icon/aux2",
        "muse~",
        "muse~x",
        "muse",
        " leading",
        "-dash",
        &"n".repeat(255),
    ] {
        assert_eq!(RepositoryPath::new(path).map(String::from), Ok(path.to_owned()));
    }
}

#[test]
fn a_path_knows_its_components_and_ancestors() {
    let path = RepositoryPath::new("a/bc/d").unwrap();
    assert!(path.components().eq(["a", "bc", "d"]));
    assert!(path.ancestors().eq(["a", "a/bc"]));
}

#[test]
fn branches_that_are_no_file_names_are_refused_by_name() {
    let refusal = |name: &str| BranchName::new(name).unwrap_err().to_string();
    insta::assert_snapshot!(refusal(""), @r#"the branch name "" is empty"#);
    insta::assert_snapshot!(refusal("a b"), @r#"the branch name "a b" holds the character ' ', and only ASCII letters, digits, `.`, `_`, `-` and `/` are allowed"#);
    insta::assert_snapshot!(refusal("/main"), @r#"the branch name "/main" has an empty component"#);
    insta::assert_snapshot!(refusal("../main"), @r#"the branch name "../main" has the component "..", which starts with a dot or a dash"#);
    insta::assert_snapshot!(refusal("a..b"), @r#"the branch name "a..b" has the component "a..b", which holds `..`"#);
    insta::assert_snapshot!(refusal("feat/-x"), @r#"the branch name "feat/-x" has the component "-x", which starts with a dot or a dash"#);
    insta::assert_snapshot!(refusal("main.LOCK"), @r#"the branch name "main.LOCK" has the component "main.LOCK", which ends in a dot or `.lock`"#);
    insta::assert_snapshot!(refusal("main."), @r#"the branch name "main." has the component "main.", which ends in a dot or `.lock`"#);
    insta::assert_snapshot!(refusal("nul"), @r#"the branch name "nul" has the component "nul", which Windows reserves for a device"#);
    insta::assert_snapshot!(refusal(&"n".repeat(256)), @r#"the branch name "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn…" (256 bytes) is 256 bytes long, and at most 255 are allowed"#);
    for name in
        ["a/", "a//b", "é", "a\\b", "a\0", "a\n", ".hidden", "a/.b", "x.lock/y", "com1.x", "a:b", "a~1", "@"]
    {
        assert!(BranchName::new(name).is_err(), "{name:?}");
    }
}

#[test]
fn ordinary_branches_are_accepted() {
    for name in ["main", "feat/retry-after_2", "v1.0", "HEAD", "a/b/c", "lock", "x.locked", &"n".repeat(255)]
    {
        assert_eq!(BranchName::new(name).unwrap().as_str(), name);
    }
}

#[test]
fn names_are_checked_when_they_arrive_as_json() {
    assert!(serde_json::from_str::<RepositoryPath>(r#""a/b""#).is_ok());
    insta::assert_snapshot!(serde_json::from_str::<RepositoryPath>(r#""../b""#).unwrap_err(), @r#"the path "../b" has the component "..", which is no file name"#);
    assert!(serde_json::from_str::<BranchName>(r#""main""#).is_ok());
    insta::assert_snapshot!(serde_json::from_str::<BranchName>(r#""..""#).unwrap_err(), @r#"the branch name ".." has the component "..", which starts with a dot or a dash"#);
}

proptest! {
    /// F48: whatever is accepted stays below the folder that it is joined to.
    #[test]
    fn an_accepted_path_is_relative_and_plain(path in "([.a-zA-Z~:/\\\\ \0é]|\\.\\.|\\.muse){1,12}") {
        if let Ok(path) = RepositoryPath::new(&path[..]) {
            let plain = std::path::Path::new(path.as_str())
                .components()
                .all(|component| matches!(component, std::path::Component::Normal(_)));
            prop_assert!(plain);
            prop_assert!(!path.as_str().to_lowercase().split('/').any(|component| component == ".muse"));
            prop_assert!(!path.as_str().contains(['\\', ':', '\0']));
        }
    }
}
