//! The published OpenAPI document, as something to hold answers against.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::Full;
use jsonschema::Validator;
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use super::{Client, Reply};

/// What the server publishes of itself, to hold its answers to.
pub(crate) struct Published {
    pub(crate) document: Value,
    /// What bodies are held to, by the place in the document. To make one takes far longer than to use it.
    validators: Mutex<HashMap<String, Arc<Validator>>>,
}

static PUBLISHED: OnceCell<Published> = OnceCell::const_new();

impl Published {
    /// The document; it is the same for every server of this build.
    pub(crate) async fn of(client: &Client) -> &'static Self {
        PUBLISHED
            .get_or_init(async || {
                let request = Request::get("/openapi.json").body(Full::<Bytes>::default()).unwrap();
                let document = client.send_unchecked(request).await.json();
                Self { document, validators: Mutex::default() }
            })
            .await
    }

    /// Asserts that the document knows this operation, this status of it, and a body and fields like these.
    #[track_caller]
    pub(crate) fn check(&self, method: &Method, path: &str, reply: &Reply) {
        let Some(template) = self.template(path) else {
            assert_eq!(reply.text(), "nothing is served at this path", "{method} {path} is not documented");
            return;
        };
        // axum answers HEAD as GET.
        let documented_method = if method == Method::HEAD { Method::GET } else { method.clone() };
        let pointer = pointer(&["paths", &template, &documented_method.as_str().to_lowercase()]);
        let Some(operation) = self.document.pointer(&pointer) else {
            assert_eq!(reply.status, 405, "{method} {template} is not documented");
            return;
        };
        let status = reply.status.as_str();
        let response = &operation["responses"][status];
        assert!(!response.is_null(), "{method} {template} does not document {status}: {}", reply.text());
        check_fields(response, reply, &format!("{method} {template} {status}"));
        if method != Method::HEAD {
            self.check_body(&format!("{pointer}/responses/{status}"), response, reply);
        }
    }

    /// The documented path that a request for `path` is answered by; one without parameters first.
    pub(crate) fn template(&self, path: &str) -> Option<String> {
        let matches = |template: &&String| {
            let (mut wanted, mut given) = (template.split('/'), path.split('/'));
            loop {
                match (wanted.next(), given.next()) {
                    (None, None) => return true,
                    (Some(wanted), Some(given)) if wanted == given => {}
                    (Some(wanted), Some(given)) if wanted.starts_with('{') && !given.is_empty() => {}
                    _ => return false,
                }
            }
        };
        let paths = self.document["paths"].as_object().unwrap();
        paths.keys().filter(matches).min_by_key(|template| template.matches('{').count()).cloned()
    }

    /// Every documented operation, as `METHOD /path`.
    pub(crate) fn operations(&self) -> BTreeSet<String> {
        let paths = self.document["paths"].as_object().unwrap();
        let of_path = |(path, item): (&String, &Value)| {
            let methods = item.as_object().unwrap().keys();
            methods.map(|method| format!("{} {path}", method.to_uppercase())).collect::<Vec<_>>()
        };
        paths.iter().flat_map(of_path).collect()
    }

    #[track_caller]
    fn check_body(&self, at: &str, response: &Value, reply: &Reply) {
        let content_type = reply.all("content-type").first().copied().unwrap_or_default();
        let media_type = content_type.split(';').next().unwrap();
        let Some(content) = response["content"].as_object() else {
            assert!(reply.body.is_empty(), "{at} documents no body: {}", reply.text());
            return;
        };
        assert!(content.contains_key(media_type), "{at} does not document {media_type}");
        let body = match media_type {
            "application/json" | "application/problem+json" => reply.json(),
            "text/plain" | "text/html" => reply.text().into(),
            _ => return,
        };
        let validator = self.validator(&format!("{at}/content/{media_type}"), &content[media_type]["schema"]);
        let faults: Vec<_> = validator.iter_errors(&body).map(|error| error.to_string()).collect();
        assert!(faults.is_empty(), "{at}: {faults:#?} in {body:#}");
    }

    fn validator(&self, place: &str, schema: &Value) -> Arc<Validator> {
        let mut validators = self.validators.lock().unwrap_or_else(PoisonError::into_inner);
        let made = validators.entry(place.to_owned()).or_insert_with(|| {
            let whole = json!({
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "allOf": [schema],
                // Where its references lead.
                "components": self.document["components"],
            });
            Arc::new(jsonschema::validator_for(&whole).unwrap())
        });
        Arc::clone(made)
    }
}

/// Every field that is documented as required is there, and has a value like the documented one; what is
/// documented of a refusal and optional is there only where it may be.
#[track_caller]
fn check_fields(response: &Value, reply: &Reply, at: &str) {
    let documented = response["headers"].as_object();
    for (name, field) in documented.into_iter().flatten() {
        let values = reply.all(name);
        let is_optional = name == "Retry-After" && field["required"] != true;
        assert!(values.len() == 1 || values.is_empty() && is_optional, "{at}: {name} is {values:?}");
        if let (Some(expected), Some(value)) = (field["schema"]["const"].as_str(), values.first()) {
            assert_eq!(*value, expected, "{at}: {name}");
        }
    }
    if !reply.all("retry-after").is_empty() {
        assert!(documented.is_some_and(|fields| fields.contains_key("Retry-After")), "{at}: a hint");
    }
}

fn pointer(segments: &[&str]) -> String {
    segments.iter().map(|segment| format!("/{}", escape(segment))).collect()
}

fn escape(segment: &str) -> String {
    segment.replace('~', "~0").replace('/', "~1")
}
