//! What stands for web hooks and Web Push in a build without the feature `serve`.

use super::carrier::Troubles;
use crate::http::WITHOUT;
use crate::notify::Dispatch;
use crate::push::PushServices;

/// Posts nothing, and says so.
#[derive(Clone, Debug)]
pub(super) struct Poster(Troubles);

impl Poster {
    pub(super) fn new(troubles: Troubles) -> Self {
        Self(troubles)
    }

    pub(super) fn post(&self, _delivery: &Dispatch) {
        let (what, hint) = WITHOUT;
        self.0.tell("webhook", &format!("{what}; {hint}"));
    }
}

/// Nobody can have asked to be told.
#[derive(Clone, Debug)]
pub(super) struct Pusher;

impl Pusher {
    pub(super) fn new(_services: PushServices, _troubles: Troubles) -> Self {
        Self
    }

    pub(super) fn set_services(&mut self, _services: PushServices) {}

    pub(super) fn push(&self, _delivery: &Dispatch) {}
}
