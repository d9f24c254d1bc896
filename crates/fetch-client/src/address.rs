//! Where a repository lies on a hub, checked before anything is asked.

use std::fmt;
use std::str::FromStr;

use hub_protocol::RepositoryPath;
use url::Url;

use crate::errors::Error;
use crate::transport::shown_url;

/// The address of a repository on a hub: `http` or `https`, a host, and a path that ends in `/owner/slug`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    url: Url,
    slug: String,
}

impl Address {
    /// The last part of the address: the name that a clone gives its target.
    #[must_use]
    pub fn slug(&self) -> &str {
        &self.slug
    }

    /// The address of one of the repository's endpoints.
    pub(crate) fn endpoint(&self, path: &str) -> Url {
        let mut url = self.url.clone();
        url.set_path(&format!("{}/{path}", self.url.path()));
        url
    }

    /// What a URL in one of the hub's answers leads to: another machine perhaps, but never from `https` to `http`.
    pub(crate) fn presigned(&self, url: &str) -> Result<Url, Error> {
        let refused = |reason: &str| Error::Answer { url: self.url.to_string(), reason: reason.to_owned() };
        let joined =
            self.url.join(url).map_err(|error| refused(&format!("its presigned URL is none: {error}")))?;
        match (self.url.scheme(), joined.scheme()) {
            (_, "https") | ("http", "http") => Ok(joined),
            ("https", "http") => Err(refused("its presigned URL leads from https to http")),
            _ => Err(refused("its presigned URL is neither http nor https")),
        }
    }
}

impl FromStr for Address {
    type Err = Error;

    fn from_str(given: &str) -> Result<Self, Error> {
        let refused = |reason: &str| Error::Address { given: given.to_owned(), reason: reason.to_owned() };
        let mut url = Url::parse(given).map_err(|error| refused(&error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(refused("it starts with neither http:// nor https://"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            let reason = "it holds a user name or a password; give a token instead".to_owned();
            return Err(Error::Address { given: shown_url(&url), reason });
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(refused("it has a query or a fragment"));
        }
        let path = url.path().trim_end_matches('/').to_owned();
        let segments: Vec<&str> = path.split('/').skip(1).collect();
        if segments.len() < 2 || segments.iter().any(|segment| segment.is_empty()) {
            return Err(refused("its path does not end in /owner/slug"));
        }
        let slug = segments[segments.len() - 1].to_owned();
        if let Err(error) = RepositoryPath::new(slug.as_str()) {
            return Err(refused(&error.to_string()));
        }
        url.set_path(&path);
        Ok(Self { url, slug })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.url.fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(given: &str) -> Address {
        given.parse().expect("an address")
    }

    #[test]
    fn endpoints_lie_below_owner_and_slug() {
        let here = address("http://127.0.0.1:8080/gabriel/muse/");
        assert_eq!(here.to_string(), "http://127.0.0.1:8080/gabriel/muse");
        assert_eq!(here.slug(), "muse");
        assert_eq!(here.endpoint("fetch/mpack").as_str(), "http://127.0.0.1:8080/gabriel/muse/fetch/mpack");
    }

    #[test]
    fn what_is_no_address_is_refused_with_the_reason() {
        let refused = |given: &str| given.parse::<Address>().expect_err("no address").to_string();
        let reasons = [
            "gabriel/muse",
            "ftp://host/a/b",
            "https://host",
            "https://host/owner",
            "https://host/owner//slug",
            "https://me:secret@host/a/b",
            "https://host/a/b?c",
            "https://host/a/.muse",
            "",
        ]
        .map(refused)
        .map(|text| text.rsplit_once(": ").expect("a reason").1.to_owned());
        insta::assert_snapshot!(reasons.join("\n"), @r#"
        relative URL without a base
        it starts with neither http:// nor https://
        its path does not end in /owner/slug
        its path does not end in /owner/slug
        its path does not end in /owner/slug
        it holds a user name or a password; give a token instead
        it has a query or a fragment
        the path ".muse" has the component ".muse", which is the repository's own folder
        relative URL without a base
        "#);
    }

    #[test]
    fn a_password_in_an_address_is_not_repeated() {
        let refused = "https://me:secret@host/a/b".parse::<Address>().expect_err("no address").to_string();
        assert!(refused.contains("\"https://host/a/b\""), "{refused}");
    }

    #[test]
    fn a_presigned_url_may_be_relative_or_elsewhere_but_not_less_secure() {
        let secure = address("https://hub.example/a/b");
        assert_eq!(
            secure.presigned("/_packs/1?s=2").expect("fine").as_str(),
            "https://hub.example/_packs/1?s=2"
        );
        assert!(secure.presigned("https://store.example/x").is_ok());
        assert!(secure.presigned("http://store.example/x").is_err());
        assert!(secure.presigned("file:///etc/passwd").is_err());
    }
}
