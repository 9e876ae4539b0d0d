//! Several servers asked side by side.

use std::future::poll_fn;
use std::task::Poll;

use tokio::sync::Semaphore;

/// How many are asked at the same time.
const AT_ONCE: usize = 16;

/// Runs futures side by side and returns their outputs in the order of the futures.
pub(super) async fn join_all<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    let permits = Semaphore::new(AT_ONCE);
    let in_turn = |future: F| async {
        let _permit = permits.acquire().await;
        future.await
    };
    let mut running: Vec<_> = futures.into_iter().map(|future| (Box::pin(in_turn(future)), None)).collect();
    poll_fn(|context| {
        for (future, output) in &mut running {
            if output.is_none()
                && let Poll::Ready(ready) = future.as_mut().poll(context)
            {
                *output = Some(ready);
            }
        }
        let all_done = running.iter().all(|(_, output)| output.is_some());
        if all_done { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    running.into_iter().filter_map(|(_, output)| output).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn outputs_keep_their_order_and_only_so_many_run_at_once() {
        let running = std::cell::Cell::new(0);
        let futures = (0..40).map(|number| {
            let running = &running;
            async move {
                running.set(running.get() + 1);
                assert!(running.get() <= AT_ONCE);
                // The first ones end last.
                for _ in number..40 {
                    tokio::task::yield_now().await;
                }
                running.set(running.get() - 1);
                number
            }
        });
        assert_eq!(join_all(futures).await, (0..40).collect::<Vec<_>>());
        assert_eq!(join_all(std::iter::empty::<std::future::Ready<()>>()).await, []);
    }
}
