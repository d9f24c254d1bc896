//! The document as one page of HTML.

use std::fmt::Write;

use serde_json::Value;

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}\
    h2{border-bottom:1px solid #8886;padding-bottom:.3rem}summary{cursor:pointer;padding:.3rem 0}\
    code{font-size:.95em}td{padding:.2rem 1rem .2rem 0;vertical-align:top}.r td:first-child{font-weight:600}\
    :root{color-scheme:light dark}";

/// The document as one page: no script, no font, nothing to load.
pub(super) fn render(document: &Value) -> String {
    let mut page = String::new();
    let title = text(&document["info"]["title"]);
    // Writing to a String cannot fail.
    let _ = write!(
        page,
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>{title}</title><style>{STYLE}</style>\
         <h1>{title}</h1><p>{}</p><p>For machines: <a href=\"/openapi.json\">openapi.json</a>.</p>",
        text(&document["info"]["description"])
    );
    for tag in document["tags"].as_array().into_iter().flatten() {
        let _ = write!(page, "<h2>{}</h2><p>{}</p>", text(&tag["name"]), text(&tag["description"]));
        for (path, item) in document["paths"].as_object().into_iter().flatten() {
            for (method, operation) in item.as_object().into_iter().flatten() {
                if operation["tags"][0] == tag["name"] {
                    operation_into(&mut page, method, path, operation);
                }
            }
        }
    }
    page.push_str("</html>\n");
    page
}

fn operation_into(page: &mut String, method: &str, path: &str, operation: &Value) {
    let _ = write!(
        page,
        "<details><summary><code>{} {}</code> {}</summary><p>{}</p><table>",
        escape(&method.to_uppercase()),
        escape(path),
        text(&operation["summary"]),
        text(&operation["description"])
    );
    for (status, response) in operation["responses"].as_object().into_iter().flatten() {
        let refused = if status.starts_with(['4', '5']) { " class=\"r\"" } else { "" };
        let fields: Vec<_> =
            response["headers"].as_object().into_iter().flatten().map(|(name, _)| escape(name)).collect();
        let _ = write!(
            page,
            "<tr{refused}><td>{}<td>{}<td><small>{}</small>",
            escape(status),
            text(&response["description"]),
            fields.join(", ")
        );
    }
    page.push_str("</table></details>");
}

fn text(value: &Value) -> String {
    escape(value.as_str().unwrap_or_default())
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_from_the_document_cannot_become_markup() {
        let page = render(&serde_json::json!({ "info": { "title": "<script>\"&" } }));
        assert!(page.contains("<h1>&lt;script&gt;&quot;&amp;</h1>"));
    }
}
