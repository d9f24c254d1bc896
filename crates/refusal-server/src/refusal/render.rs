//! A refusal as it is sent: text, JSON or problem details, and its fields.

use axum::response::{IntoResponse, Response};
use http::header::{ACCESS_CONTROL_EXPOSE_HEADERS, CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue};
use serde_json::{Map, Value};

use super::{Body, Refusal};

/// Which representation of a refusal the client gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Representation {
    /// The refusal's own body.
    Default,
    /// `application/problem+json` (RFC 9457).
    ProblemDetails,
}

impl Representation {
    /// Problem details for clients that name them in `Accept` and do not like plain text better.
    ///
    /// `*/*` is what clients send that have no opinion: they get the text.
    pub(crate) fn accepted(request: &HeaderMap) -> Self {
        let quality = |wanted: &str| {
            request
                .get_all(http::header::ACCEPT)
                .iter()
                .filter_map(|line| line.to_str().ok())
                .flat_map(|line| line.split(','))
                .filter_map(|range| {
                    let mut parts = range.split(';').map(str::trim);
                    let named = parts.next()?.eq_ignore_ascii_case(wanted);
                    named.then(|| parts.find_map(parse_quality).unwrap_or(1000))
                })
                .max()
                .unwrap_or(0)
        };
        let problem = quality("application/problem+json");
        if problem > 0 && problem >= quality("text/plain") { Self::ProblemDetails } else { Self::Default }
    }
}

/// The weight of RFC 9110 section 12.4.2 in thousandths; anything that is none counts as 0.
fn parse_quality(parameter: &str) -> Option<u16> {
    let (name, value) = parameter.split_once('=')?;
    if !name.trim().eq_ignore_ascii_case("q") {
        return None;
    }
    let weight: f32 = value.trim().parse().unwrap_or(0.0);
    // A float that is no weight (NaN, negative, huge) saturates into the range.
    Some((weight * 1000.0).clamp(0.0, 1000.0) as u16)
}

/// Builds the answer of a refusal. `earlier` are the fields that inner layers had set; those that only
/// one place may decide are replaced, so that a `Retry-After` is there exactly once or not at all (F40).
pub(crate) fn render(refusal: &dyn Refusal, representation: Representation, earlier: HeaderMap) -> Response {
    let (content_type, bytes) = match (representation, refusal.body()) {
        (Representation::ProblemDetails, _) => ("application/problem+json", problem_details(refusal)),
        (Representation::Default, Body::Text(text)) => ("text/plain; charset=utf-8", text),
        (Representation::Default, Body::Json(value)) => ("application/json", json(&value)),
    };
    let mut response = (refusal.status(), bytes).into_response();
    let headers = response.headers_mut();
    *headers = earlier;
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("Retry-After"));
    match refusal.retry_after() {
        Some(delay) => headers.insert(RETRY_AFTER, delay.to_header_value()),
        None => headers.remove(RETRY_AFTER),
    };
    refusal.add_headers(headers);
    response
}

fn problem_details(refusal: &dyn Refusal) -> String {
    let mut problem = Map::new();
    problem.insert("title".into(), refusal.title().into());
    problem.insert("status".into(), refusal.status().as_u16().into());
    problem.insert("detail".into(), refusal.detail().into());
    problem.extend(refusal.members());
    json(&Value::Object(problem))
}

fn json(value: &Value) -> String {
    serde_json::to_string(value).expect("any JSON value can be written")
}
