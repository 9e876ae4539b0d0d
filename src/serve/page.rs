//! The page: one file whose script the browser may run only unchanged.

use std::sync::LazyLock;

use axum::http::header;
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};

const PAGE: &str = include_str!("page.html");
const MANIFEST: &str = include_str!("manifest.json");
const ICON: &[u8] = include_bytes!("../../config/icon.png");

/// The rights of the page in a browser: its own script, identified by its hash, and requests to this server.
static POLICY: LazyLock<String> = LazyLock::new(|| {
    let allowed = |element: &str| {
        let (open, close) = (format!("<{element}>"), format!("</{element}>"));
        let content = PAGE.split_once(&open).and_then(|(_, rest)| rest.split_once(&close)).map_or("", |(text, _)| text);
        format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(content)))
    };
    format!(
        "default-src 'none'; script-src {}; style-src {}; connect-src 'self'; manifest-src 'self'; img-src 'self' data:; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
        allowed("script"),
        allowed("style")
    )
});

/// `GET /`.
pub(super) async fn page() -> Response {
    let headers =
        [(header::CONTENT_TYPE, "text/html; charset=utf-8"), (header::CONTENT_SECURITY_POLICY, POLICY.as_str())];
    (headers, PAGE).into_response()
}

/// `GET /manifest.json`: the page as an app on a home screen.
pub(super) async fn manifest() -> Response {
    ([(header::CONTENT_TYPE, "application/manifest+json")], MANIFEST).into_response()
}

/// `GET /icon.png`.
pub(super) async fn icon() -> Response {
    ([(header::CONTENT_TYPE, "image/png")], ICON).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_makes_nothing_of_texts_but_text() {
        for way in [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "Function(",
            " onclick",
            " style=\"",
        ] {
            assert!(!PAGE.contains(way), "{way}");
        }
        assert!(!PAGE.contains("://"), "it asks nobody else");
        assert!(POLICY.matches("'sha256-").count() == 2 && PAGE.matches("<script").count() == 1);
    }
}
