//! What makes one component of a name unsafe as a file name, here or on the machine it is cloned to.

/// Whether Windows takes `component` for a device, whatever extension follows and in any case.
///
/// The list is Microsoft's "Naming Files, Paths, and Namespaces", which counts the superscript digits as
/// digits; `CONIN$` and `CONOUT$` open the console as well.
pub(crate) fn is_reserved_by_windows(component: &str) -> bool {
    let stem = component.split('.').next().unwrap_or_default().trim_end_matches(' ');
    if ["con", "nul", "aux", "prn", "conin$", "conout$"].iter().any(|name| stem.eq_ignore_ascii_case(name)) {
        return true;
    }
    let mut rest = stem.chars().skip(3);
    let (Some(number), None) = (rest.next(), rest.next()) else { return false };
    let port = stem.get(..3).unwrap_or_default();
    (port.eq_ignore_ascii_case("com") || port.eq_ignore_ascii_case("lpt"))
        && matches!(number, '1'..='9' | '¹' | '²' | '³')
}

/// Whether some file system opens the repository's own folder under this name.
///
/// In any case; with the code points in it that HFS+ ignores; or by the short name that NTFS gives it. Each
/// of the three has let a checkout overwrite a version control system's own files before.
pub(crate) fn is_control_folder(component: &str) -> bool {
    let seen =
        || component.chars().filter(|character| !is_ignored_by_hfs(*character)).flat_map(char::to_lowercase);
    if seen().eq(".muse".chars()) {
        return true;
    }
    component.split_once('~').is_some_and(|(stem, number)| {
        stem.eq_ignore_ascii_case("muse")
            && !number.is_empty()
            && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

fn is_ignored_by_hfs(character: char) -> bool {
    matches!(character, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}
