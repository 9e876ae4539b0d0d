//! Where requests come in: a port or a socket, with a limit on connections. Idle ones are closed.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Sleep;
use tower::ServiceExt as _;

use super::places::{ConnectionPlace, ConnectionPlaces};
use crate::clock;
use crate::present::objection::Objection;
use crate::private;

/// How long the head of a request may take, its body, and how long a connection may be idle.
pub(super) const ARRIVES: Duration = Duration::from_secs(10);
/// How often it is checked whether a reader may still follow. One that is idle gets a comment.
pub(super) const HEART_BEAT: Duration = Duration::from_secs(15);
/// How long a client may leave its answer unread: twice as long as it is sure to get nothing new.
const UNREAD: Duration = HEART_BEAT.saturating_mul(2);
/// The longest head of a request, in bytes.
const HEAD_BYTES: usize = 32 << 10;

/// Who is at the other end of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Peer {
    Address(SocketAddr),
    /// A process of this user, through the socket.
    Socket,
}

impl fmt::Display for Peer {
    /// The address for people, without the port, which says nothing.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Peer::Address(address) => address.ip().fmt(f),
            Peer::Socket => f.write_str("the socket"),
        }
    }
}

/// Where `serve` listens.
pub enum Listener {
    Port(TcpListener),
    Socket(UnixListener, PathBuf),
}

/// A connection to a client.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

impl Listener {
    /// # Errors
    /// The address is in use, or not allowed.
    pub async fn on_port(address: SocketAddr) -> Result<Self, Objection> {
        TcpListener::bind(address).await.map(Listener::Port).map_err(|error| {
            let hint = "choose another address or port with `--listen`; port 0 takes any free port";
            Objection::new(format!("cannot listen on {address}: {error}"), hint)
        })
    }

    /// A socket that only this user can reach.
    ///
    /// # Errors
    /// Its directory belongs to others, or somebody listens there.
    pub async fn on_socket(path: &Path) -> Result<Self, Objection> {
        let refused = |error: io::Error| {
            let hint = "name a path in a directory that is yours alone";
            Objection::new(format!("cannot listen on {}: {error}", path.display()), hint)
        };
        private::make_directory(path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new(".")))
            .map_err(refused)?;
        // A socket that nobody listens on was left by a killed process. Nothing else is removed: Linux refuses connections
        // to a file that is no socket as well.
        let is_socket = std::fs::symlink_metadata(path).is_ok_and(|it| it.file_type().is_socket());
        if is_socket
            && let Err(error) = tokio::net::UnixStream::connect(path).await
            && error.kind() == io::ErrorKind::ConnectionRefused
        {
            std::fs::remove_file(path).map_err(refused)?;
        }
        let listener = UnixListener::bind(path).map_err(refused)?;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map_err(refused)?;
        Ok(Listener::Socket(listener, path.to_owned()))
    }

    /// The place for people: a URL, or a path.
    pub fn place(&self) -> io::Result<String> {
        match self {
            Listener::Port(listener) => Ok(format!("http://{}", listener.local_addr()?)),
            Listener::Socket(_, path) => Ok(path.display().to_string()),
        }
    }

    async fn accept(&self) -> io::Result<(Box<dyn Stream>, Peer)> {
        match self {
            Listener::Port(listener) => {
                let (stream, address) = listener.accept().await?;
                stream.set_nodelay(true)?;
                Ok((Box::new(stream), Peer::Address(address)))
            }
            Listener::Socket(listener, _) => {
                let (stream, _) = listener.accept().await?;
                // Others could have connected before its mode was set.
                if !private::is_own(stream.peer_cred()?.uid()) {
                    return Err(io::ErrorKind::PermissionDenied.into());
                }
                Ok((Box::new(stream), Peer::Socket))
            }
        }
    }

    /// Answers requests until `ending` is true, and then completes those in progress.
    pub(super) async fn serve(self, router: Router, places: ConnectionPlaces, mut ending: watch::Receiver<bool>) {
        let mut answering = JoinSet::new();
        loop {
            let arrived = tokio::select! {
                arrived = self.accept() => arrived,
                Some(_) = answering.join_next() => continue,
                _ = ending.wait_for(|ending| *ending) => break,
            };
            let (stream, peer) = match arrived {
                Ok(arrived) => arrived,
                Err(error) => {
                    tracing::warn!(%error, "a connection was not taken");
                    // Without free file descriptors the next one fails as well.
                    tokio::time::sleep(clock::A_MOMENT).await;
                    continue;
                }
            };
            // Where good tokens have them all, a new connection is closed.
            if let Some(place) = places.take() {
                answering.spawn(answer(stream, (peer, place), router.clone(), ending.clone()));
            }
        }
        let all = async { while answering.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(clock::FAREWELL, all).await;
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Listener::Socket(_, path) = self {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Answers the requests of one connection until it ends or has to make room, or until `ending` is true and the current one is
/// answered.
pub(super) async fn answer(
    stream: Box<dyn Stream>,
    (peer, place): (Peer, ConnectionPlace),
    router: Router,
    mut ending: watch::Receiver<bool>,
) {
    let place = Arc::new(place);
    let held = Arc::clone(&place);
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(peer.clone());
        request.extensions_mut().insert(Arc::clone(&held));
        router.clone().oneshot(request)
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(ARRIVES).max_buf_size(HEAD_BYTES);
    let connection = http.serve_connection(TokioIo::new(Patient { stream, unread: None }), service);
    let mut connection = std::pin::pin!(connection);
    let is_ended = tokio::select! {
        // A client may go away in the middle of it.
        _ = &mut connection => true,
        () = place.ended() => true,
        _ = ending.wait_for(|ending| *ending) => false,
    };
    if !is_ended {
        connection.as_mut().graceful_shutdown();
        let _ = connection.await;
    }
}

/// A connection that ends if its client does not read for too long.
struct Patient {
    stream: Box<dyn Stream>,
    unread: Option<Pin<Box<Sleep>>>,
}

impl Patient {
    /// Ends a write that has waited for too long.
    fn wait(&mut self, context: &mut Context<'_>, is_pending: bool) -> Poll<io::Result<()>> {
        if !is_pending {
            self.unread = None;
            return Poll::Ready(Ok(()));
        }
        let unread = self.unread.get_or_insert_with(|| Box::pin(tokio::time::sleep(UNREAD)));
        ready!(unread.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Patient {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Patient {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        ready!(self.wait(context, written.is_pending()))?;
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        ready!(self.wait(context, flushed.is_pending()))?;
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
