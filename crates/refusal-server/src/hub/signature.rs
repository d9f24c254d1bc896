//! Presigned URLs: who holds one may do one thing with one pack until it expires.

use hmac::{Hmac, KeyInit, Mac};
use http::Uri;
use hub_protocol::Id;
use sha2::Sha256;

use crate::refusal::Failure;
use crate::tokens::{from_hex, hex};

/// Signs URLs and checks them, with a key that never leaves the server.
#[derive(Clone)]
pub(super) struct Signer(Hmac<Sha256>);

impl Signer {
    pub(super) fn new(key: &[u8; 32]) -> Self {
        Self(Hmac::new_from_slice(key).expect("HMAC takes a key of any length"))
    }

    /// Path and query of a URL that permits `method` on `path`, which is about `id`, until and including the
    /// second `expires` after the Unix epoch.
    ///
    /// The path holds owner, slug, id and, for an upload, the size: all of it is signed.
    pub(super) fn sign(&self, method: &str, path: &str, id: &Id, expires: u64) -> String {
        let signature = hex(&self.mac(method, path, id, expires).finalize().into_bytes());
        format!("{path}?expires={expires}&signature={signature}")
    }

    /// Checks the signature of a URL in constant time, and then the expiry that it confirms.
    pub(super) fn check(&self, method: &str, uri: &Uri, id: &Id, now: u64) -> Result<(), Failure> {
        let query = uri.query().unwrap_or_default();
        let (Some(expires), Some(signature)) = (parameter(query, "expires"), parameter(query, "signature"))
        else {
            return Err(Failure::Forbidden("this URL is not signed: ask for one that is".into()));
        };
        let no_match = || Failure::Forbidden("the signature of this URL does not match".into());
        let is_number = expires.bytes().all(|byte| byte.is_ascii_digit());
        let expires: u64 = expires.parse().ok().filter(|_| is_number).ok_or_else(no_match)?;
        let given = from_hex(signature).ok_or_else(no_match)?;
        self.mac(method, uri.path(), id, expires).verify_slice(&given).map_err(|_| no_match())?;
        if now > expires {
            let ago = now - expires;
            return Err(Failure::Forbidden(format!("this URL expired {ago} s ago: ask for a new one")));
        }
        Ok(())
    }

    fn mac(&self, method: &str, path: &str, id: &Id, expires: u64) -> Hmac<Sha256> {
        let mut mac = self.0.clone();
        // Joined by line feeds, which none of the parts can hold: no two permits give the same text.
        mac.update(format!("{method}\n{path}\n{id}\n{expires}").as_bytes());
        mac
    }
}

/// The value of a parameter. Values are digits, so nothing is escaped.
fn parameter<'q>(query: &'q str, name: &str) -> Option<&'q str> {
    query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str = "/owner/slug/mpacks/it";

    fn id() -> Id {
        Id::of("a pack")
    }

    fn check(signer: &Signer, method: &str, url: &str, id: Id, now: u64) -> Result<(), String> {
        signer.check(method, &url.parse().unwrap(), &id, now).map_err(|refusal| refusal.to_string())
    }

    #[test]
    fn a_permit_holds_until_and_including_its_expiry() {
        let signer = Signer::new(&[7; 32]);
        let url = signer.sign("GET", PATH, &id(), 1_000);
        assert_eq!(check(&signer, "GET", &url, id(), 1_000), Ok(()));
        insta::assert_snapshot!(check(&signer, "GET", &url, id(), 1_003).unwrap_err(),
            @"this URL expired 3 s ago: ask for a new one");
    }

    #[test]
    fn every_part_of_a_permit_is_signed() {
        let signer = Signer::new(&[7; 32]);
        let url = signer.sign("GET", PATH, &id(), 1_000);
        let no_match = Err("the signature of this URL does not match".to_owned());
        assert_eq!(check(&signer, "PUT", &url, id(), 0), no_match);
        assert_eq!(check(&signer, "GET", &url.replace("slug", "gulf"), id(), 0), no_match);
        assert_eq!(check(&signer, "GET", &url, Id::of("another pack"), 0), no_match);
        assert_eq!(check(&signer, "GET", &url.replace("1000", "2000"), id(), 0), no_match);
    }

    #[test]
    fn no_other_text_is_taken_for_the_signature() {
        let signer = Signer::new(&[7; 32]);
        let url = signer.sign("GET", PATH, &id(), 1_000);
        let (start, signature) = url.split_once("signature=").unwrap();
        let other_key = Signer::new(&[8; 32]).sign("GET", PATH, &id(), 1_000);
        for wrong in [
            format!("{start}signature="),
            format!("{start}signature={}", &signature[..62]),
            format!("{start}signature={signature}00"),
            format!("{start}signature={}", signature.to_uppercase()),
            format!("{start}signature={}", "0".repeat(64)),
            url.replace("expires=1000", "expires=+1000"),
            url.replace("expires=1000", "expires=99999999999999999999999"),
            other_key,
        ] {
            assert_eq!(
                check(&signer, "GET", &wrong, id(), 0),
                Err("the signature of this URL does not match".into()),
                "{wrong}"
            );
        }
        for unsigned in
            [PATH.to_owned(), format!("{PATH}?expires=1000"), format!("{PATH}?signature={signature}")]
        {
            let refusal = check(&signer, "GET", &unsigned, id(), 0);
            assert_eq!(refusal, Err("this URL is not signed: ask for one that is".into()), "{unsigned}");
        }
    }
}
