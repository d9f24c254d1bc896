//! Presigned URLs: who holds one may do one thing with one pack until it expires.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::refusal::Failure;
use crate::tokens::hex;

/// What a URL permits. The path holds owner, slug, id and, for an upload, the size: all of it is signed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Permit<'a> {
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    pub(super) id: &'a str,
    /// Seconds since the Unix epoch; good until and including this second.
    pub(super) expires: u64,
}

/// Signs URLs and checks them, with a key that never leaves the server.
#[derive(Clone)]
pub(super) struct Signer(Hmac<Sha256>);

impl Signer {
    pub(super) fn new(key: &[u8; 32]) -> Self {
        Self(Hmac::new_from_slice(key).expect("HMAC takes a key of any length"))
    }

    /// The signature, in lower-case hex.
    pub(super) fn sign(&self, permit: &Permit<'_>) -> String {
        hex(&self.mac(permit).finalize().into_bytes())
    }

    /// Checks a signature in constant time, and the expiry of a permit that it confirms.
    pub(super) fn check(&self, permit: &Permit<'_>, signature: &str, now: u64) -> Result<(), Failure> {
        // Not `verify` before this: a text that is not hex must take the same path to its refusal.
        let given = from_hex(signature).unwrap_or_default();
        if self.mac(permit).verify_slice(&given).is_err() {
            return Err(Failure::Forbidden("the signature of this URL does not match".into()));
        }
        if now > permit.expires {
            return Err(Failure::Forbidden(format!(
                "this URL expired {} seconds ago: ask for a new one",
                now - permit.expires
            )));
        }
        Ok(())
    }

    fn mac(&self, permit: &Permit<'_>) -> Hmac<Sha256> {
        let mut mac = self.0.clone();
        // Joined by line feeds, which none of the parts can hold: no two permits give the same text.
        mac.update(format!("{}\n{}\n{}\n{}", permit.method, permit.path, permit.id, permit.expires).as_bytes());
        mac
    }
}

/// The bytes of a signature in lower-case hex; any other spelling is none.
fn from_hex(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if text.len() != 64 || !text.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')) {
        return None;
    }
    for (byte, at) in bytes.iter_mut().zip((0..64).step_by(2)) {
        *byte = u8::from_str_radix(&text[at..at + 2], 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERMIT: Permit<'static> =
        Permit { method: "GET", path: "/owner/slug/mpacks/sha256:00", id: "sha256:00", expires: 1_000 };

    fn refusal(signer: &Signer, permit: &Permit<'_>, signature: &str, now: u64) -> String {
        signer.check(permit, signature, now).unwrap_err().to_string()
    }

    #[test]
    fn a_permit_holds_until_and_including_its_expiry() {
        let signer = Signer::new(&[7; 32]);
        let signature = signer.sign(&PERMIT);
        assert_eq!(signer.check(&PERMIT, &signature, 1_000), Ok(()));
        insta::assert_snapshot!(refusal(&signer, &PERMIT, &signature, 1_001),
            @"this URL expired 1 seconds ago: ask for a new one");
    }

    #[test]
    fn every_part_of_a_permit_is_signed() {
        let signer = Signer::new(&[7; 32]);
        let signature = signer.sign(&PERMIT);
        for tampered in [
            Permit { method: "PUT", ..PERMIT },
            Permit { path: "/other/slug/mpacks/sha256:00", ..PERMIT },
            Permit { id: "sha256:01", ..PERMIT },
            Permit { expires: 2_000, ..PERMIT },
        ] {
            assert_eq!(
                refusal(&signer, &tampered, &signature, 0),
                "the signature of this URL does not match",
                "{tampered:?}"
            );
        }
    }

    #[test]
    fn no_other_text_is_taken_for_the_signature() {
        let signer = Signer::new(&[7; 32]);
        let signature = signer.sign(&PERMIT);
        let other_key = Signer::new(&[8; 32]).sign(&PERMIT);
        let longer = format!("{signature}00");
        for wrong in ["", "zz", &signature[..62], &longer, &signature.to_uppercase(), &other_key, "+f"] {
            assert!(signer.check(&PERMIT, wrong, 0).is_err(), "{wrong}");
        }
    }
}
