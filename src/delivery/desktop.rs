//! Notices of the desktop, where they are built in.

use super::carrier::Troubles;

const SUBJECT: &str = "desktop notices";

/// Shows a notice on the desktop. A desktop may take its time, so that happens on a thread of its own.
#[cfg(feature = "desktop")]
pub(super) fn show(text: String, troubles: Troubles) {
    tokio::task::spawn_blocking(move || {
        match notify_rust::Notification::new().appname("fleetwatch").summary("fleetwatch").body(&escaped(&text)).show()
        {
            Ok(_) => troubles.passed(SUBJECT),
            Err(error) => troubles.tell(SUBJECT, &format!("cannot be shown: {error}")),
        }
    });
}

/// Desktops read a little markup in a notice's body.
#[cfg(feature = "desktop")]
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Says that this program cannot do it.
#[cfg(not(feature = "desktop"))]
pub(super) fn show(_text: String, troubles: Troubles) {
    troubles
        .tell(SUBJECT, "this fleetwatch was built without them (`cargo build --features desktop`); use osc9 or bell");
}
