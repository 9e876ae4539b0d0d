//! A stand-in for the client in a build without the feature `serve`.

use std::path::Path;
use std::time::Duration;

use http::{HeaderName, HeaderValue, Method};
use tokio::io::DuplexStream;

use super::{HttpAnswer, HttpError, WITHOUT};

/// Whom to ask: there is nobody.
#[derive(Clone, Debug)]
pub enum Endpoint {}

impl Endpoint {
    pub fn new(_url: &str, _authority: Option<&Path>) -> Result<Self, HttpError> {
        let (what, hint) = WITHOUT;
        Err(HttpError::Address { what: what.to_owned(), hint: hint.to_owned() })
    }

    pub fn with_token(self, _token: &str) -> Result<Self, HttpError> {
        match self {}
    }

    pub fn place(&self) -> &str {
        match *self {}
    }

    pub fn is_private(&self) -> bool {
        match *self {}
    }

    pub async fn ask(
        &self,
        _method: Method,
        _path: &str,
        _headers: &[(HeaderName, HeaderValue)],
        _body: Vec<u8>,
        _limit: Duration,
    ) -> Result<HttpAnswer, HttpError> {
        match *self {}
    }

    pub async fn upgrade(&self, _path: &str, _protocol: &'static str) -> Result<DuplexStream, HttpError> {
        match *self {}
    }

    pub fn refused(&self, _answer: &HttpAnswer) -> HttpError {
        match *self {}
    }
}
