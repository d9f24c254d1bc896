//! Access tokens: a key is exchanged for one at `POST /auth`, and every other request presents it.

use std::sync::{PoisonError, RwLock};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::tokens::{from_hex, hex};

/// Signs access tokens and checks them. The key is made at the start of the server and never leaves it: like
/// the cluster itself, tokens do not outlive a restart, and clients ask for new ones.
#[derive(Debug)]
pub(super) struct AccessTokens(RwLock<Hmac<Sha256>>);

impl AccessTokens {
    pub(super) fn new() -> Self {
        Self(RwLock::new(fresh_key()))
    }

    /// A token that opens `namespace` until and including the second `expires` after the Unix epoch.
    pub(super) fn issue(&self, namespace: &str, expires: u64) -> String {
        let signature = hex(&self.mac(namespace, expires).finalize().into_bytes());
        format!("{namespace}~{expires}~{signature}")
    }

    /// The namespace that a token opens, if it is one of these and still good.
    pub(super) fn check(&self, token: &str, now: u64) -> Option<String> {
        let (rest, signature) = token.rsplit_once('~')?;
        let (namespace, expires) = rest.rsplit_once('~')?;
        let expires: u64 = expires.parse().ok()?;
        // In constant time.
        self.mac(namespace, expires).verify_slice(&from_hex(signature)?).ok()?;
        (now <= expires).then(|| namespace.to_owned())
    }

    /// Makes every token that was issued before worthless.
    pub(super) fn revoke_all(&self) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = fresh_key();
    }

    fn mac(&self, namespace: &str, expires: u64) -> Hmac<Sha256> {
        let mut mac = self.0.read().unwrap_or_else(PoisonError::into_inner).clone();
        mac.update(format!("{namespace}\n{expires}").as_bytes());
        mac
    }
}

fn fresh_key() -> Hmac<Sha256> {
    Hmac::new_from_slice(&rand::random::<[u8; 32]>()).expect("HMAC takes a key of any length")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_opens_its_namespace_until_it_expires() {
        let tokens = AccessTokens::new();
        let token = tokens.issue("a.b", 100);
        assert_eq!(tokens.check(&token, 100).as_deref(), Some("a.b"));
        assert_eq!(tokens.check(&token, 101), None);
    }

    #[test]
    fn a_token_that_was_changed_cut_or_revoked_opens_nothing() {
        let tokens = AccessTokens::new();
        let token = tokens.issue("mine", 100);
        let changed =
            [token.replace("mine", "yours"), token.replace("~100~", "~900~"), "~~".into(), String::new()];
        for wrong in changed.into_iter().chain((0..token.len()).map(|end| token[..end].to_owned())) {
            assert_eq!(tokens.check(&wrong, 0), None, "{wrong}");
        }
        tokens.revoke_all();
        assert_eq!(tokens.check(&token, 0), None);
    }
}
