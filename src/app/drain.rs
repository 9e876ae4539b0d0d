//! Taking in all that is there already, before anything is drawn.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

/// What a future has ready, if anything. It is polled as the loop itself: the terminal's events wake whoever polled them last,
/// and one that is polled as nobody leaves the next key lying until something else happens.
pub(super) async fn at_once<F: Future>(future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};
    use std::task::{Context, Wake, Waker};

    use super::*;

    struct Loop;

    impl Wake for Loop {
        fn wake(self: Arc<Self>) {}
    }

    #[test]
    fn the_events_of_the_terminal_wake_the_loop_after_they_were_drained() {
        let waker = Waker::from(Arc::new(Loop));
        let polled_by = Mutex::new(None);
        let nothing_yet = poll_fn(|context| {
            *polled_by.lock().unwrap() = Some(context.waker().clone());
            Poll::<()>::Pending
        });
        let drained = pin!(at_once(nothing_yet)).poll(&mut Context::from_waker(&waker));
        assert!(matches!(drained, Poll::Ready(None)));
        assert!(polled_by.lock().unwrap().as_ref().is_some_and(|found| found.will_wake(&waker)));
    }
}
