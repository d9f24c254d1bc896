//! What all operations have in common, added to the document once.

use serde_json::{Map, Value, json};
use utoipa::ToSchema;
use utoipa::openapi::OpenApi;

/// Problem details (RFC 9457), as every refusal is told to whoever accepts them.
#[derive(ToSchema)]
#[expect(dead_code, reason = "the body is written by the refusals themselves; this is its published shape")]
pub(super) struct Problem {
    /// The kind of refusal.
    title: String,
    status: u16,
    /// What happened this time.
    detail: String,
    /// Whether waiting helps; only where the answer can be 503 or 507.
    #[schema(nullable = false)]
    transient: Option<bool>,
    /// At which stage; only where the answer can be 503 or 507.
    #[schema(nullable = false)]
    stage: Option<String>,
    /// How many objects are not indexed yet; only with 503.
    #[schema(nullable = false)]
    missing: Option<u64>,
}

/// Adds what no handler has to say of itself: the answers that any operation of its kind can give, the bodies
/// and the fields of every refusal.
pub(super) fn complete(described: OpenApi) -> Value {
    let mut document = serde_json::to_value(described).expect("an OpenAPI document is JSON");
    let schemas = document["components"]["schemas"].clone();
    for (path, item) in members(&mut document["paths"]) {
        for (_method, operation) in members(item) {
            add_common_answers(path, operation);
            allow_empty_body(&schemas, operation);
            if operation["tags"][0] == "admin" {
                operation["security"] = json!([{}, { "admin_token": [] }]);
            }
            let tag = operation["tags"][0].as_str().unwrap_or_default().to_owned();
            for (status, response) in members(&mut operation["responses"]) {
                complete_response(&tag, status, response);
            }
        }
    }
    document
}

/// The members of an object; of anything else there are none.
fn members(value: &mut Value) -> impl Iterator<Item = (&String, &mut Value)> {
    value.as_object_mut().into_iter().flat_map(|map| map.iter_mut())
}

fn add_common_answers(path: &str, operation: &mut Value) {
    let reads_json = !operation["requestBody"]["content"]["application/json"].is_null();
    let reads = !operation["requestBody"].is_null();
    let is_of = |tag: &str| operation["tags"][0] == tag;
    let mut common = vec![(500, "The server failed")];
    if reads {
        common.push((400, "The body broke off"));
        common.push((408, "The body stopped arriving"));
        common.push((413, "The body is too long"));
    }
    if reads_json && !is_of("cluster") {
        common.push((422, "Not such a document"));
    }
    if path.starts_with("/{owner}") {
        common.push((400, "The path cannot be read"));
        common.push((404, "No such repository, or none that you may see"));
        common.push((422, "Not the name of a repository, or not acceptable"));
    }
    if is_of("throttle") {
        common.push((400, "The path cannot be read"));
    }
    if is_of("admin") {
        common.push((401, "The admin token is needed"));
        common.push((403, "Only this machine may do that while there is no admin token"));
    }
    if let Some(responses) = operation["responses"].as_object_mut() {
        for (status, description) in common {
            responses.entry(status.to_string()).or_insert_with(|| json!({ "description": description }));
        }
    }
}

/// Outside the cluster an empty body counts as `{}`: where that is a good document, no body is one too.
fn allow_empty_body(schemas: &Value, operation: &mut Value) {
    let schema = &operation["requestBody"]["content"]["application/json"]["schema"]["$ref"];
    let Some((_, name)) = schema.as_str().and_then(|schema| schema.rsplit_once('/')) else { return };
    if operation["tags"][0] != "cluster" && schemas[name]["required"].is_null() {
        operation["requestBody"]["required"] = false.into();
    }
}

fn complete_response(tag: &str, status: &str, response: &mut Value) {
    let Some(response) = response.as_object_mut() else { return };
    let is_refusal = status.starts_with(['4', '5']);
    let mut fields = Map::new();
    fields.insert(
        "X-Request-Id".into(),
        field("Names this exchange, in the server's log too.", json!({ "type": "string" })),
    );
    if is_refusal {
        response.insert("content".into(), content(tag, status));
        fields.insert("Cache-Control".into(), field("", json!({ "const": "no-store" })));
        fields.insert(
            "Access-Control-Expose-Headers".into(),
            field("Lets pages of other origins read the hint.", json!({ "const": "Retry-After" })),
        );
    }
    let hint = json!({ "type": "integer", "minimum": 1 });
    match status {
        "401" => {
            fields.insert("WWW-Authenticate".into(), field("", json!({ "const": "Bearer" })));
        }
        "416" => {
            fields.insert(
                "Content-Range".into(),
                field("How many bytes there are.", json!({ "type": "string" })),
            );
        }
        "429" | "503" => {
            let mut hint = field("Seconds until it is worth asking again.", hint);
            hint["required"] = true.into();
            fields.insert("Retry-After".into(), hint);
        }
        "507" => {
            let text = "Seconds until it is worth asking again: there if and only if `transient` is `true`.";
            fields.insert("Retry-After".into(), field(text, hint));
        }
        _ => {}
    }
    let headers = response.entry("headers").or_insert_with(|| json!({}));
    if let Some(headers) = headers.as_object_mut() {
        headers.extend(fields);
    }
}

fn field(description: &str, schema: Value) -> Value {
    let mut field = json!({ "schema": schema });
    if !description.is_empty() {
        field["description"] = description.into();
    }
    field
}

/// The bodies of a refusal: the room's own shape, and problem details.
fn content(tag: &str, status: &str) -> Value {
    let schema = |name: &str| json!({ "$ref": format!("#/components/schemas/{name}") });
    let problem = json!({ "schema": schema("Problem") });
    match (tag, status) {
        ("cluster", "507") => {
            let either = json!({ "oneOf": [schema("CapacityRefused"), schema("PlainError")] });
            json!({ "application/json": { "schema": either }, "application/problem+json": problem })
        }
        ("cluster", _) => {
            let plain = json!({ "schema": schema("PlainError") });
            json!({ "application/json": plain, "application/problem+json": problem })
        }
        _ => {
            let text = json!({ "schema": { "type": "string" } });
            json!({ "text/plain": text, "application/problem+json": problem })
        }
    }
}
