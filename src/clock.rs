//! The clock of this process, which all its times are read from.

use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::time::{Clock, Span, Timestamp};

/// Nobody notices so short a wait. After it, something that cannot say that it is ready is looked at again.
pub const A_MOMENT: Duration = Duration::from_millis(20);
/// How long the end of a process waits for what it has begun: prompts, messages and answers under way, and the last records.
pub const FAREWELL: Duration = Duration::from_secs(10);

impl From<Span> for Duration {
    fn from(span: Span) -> Self {
        Duration::from_millis(span.as_millis())
    }
}

/// The current time for the whole process; it never runs backwards, even if the system clock does.
pub fn now() -> Timestamp {
    static CLOCK: LazyLock<(Instant, Mutex<Clock>)> =
        LazyLock::new(|| (Instant::now(), Mutex::new(Clock::new(wall_clock()))));
    let (began, clock) = &*CLOCK;
    let mut clock = clock.lock().unwrap_or_else(PoisonError::into_inner);
    let elapsed = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    clock.at(wall_clock(), Span::from_millis(elapsed))
}

fn wall_clock() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
