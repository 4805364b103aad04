use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::Router;
use axum::body::{Body, Bytes};
use bytes::Buf;
use bytes::buf::Chain;
use http_body::Body as _;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;

use super::exchange::Exchange;
use super::routes::Routes;
use super::socket::Socket;

/// Serves the requests of a connection until the client closes it, or until the response after `stopping` is sent.
///
/// A response whose next part is not there yet is sent without the buffers of HTTP from then on: they are larger than everything
/// else that an open stream needs.
pub(super) async fn serve<S>(stream: S, peer: SocketAddr, router: Router, mut stopping: watch::Receiver<bool>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let exchange = Arc::new(Exchange::default());
    let mut socket = Socket::new(stream, Arc::clone(&exchange));
    loop {
        let router = TowerToHyperService::new(router.clone());
        let routes = Routes { router, peer, exchange: Arc::clone(&exchange) };
        // In a box, which is gone while the rest is sent.
        let Some((rest, body)) = Box::pin(answer(socket, routes, &mut stopping)).await else { return };
        socket = rest;
        if send_rest(&mut socket, body).await.is_err() {
            return;
        }
        if !exchange.keeps_alive() {
            // The client may be gone.
            return drop(poll_fn(|cx| Pin::new(&mut socket).poll_shutdown(cx)).await);
        }
    }
}

/// Answers requests until a response waits for its next part. Returns the rest of it. `None` if the connection is closed or has
/// become a WebSocket.
async fn answer<S>(
    socket: Socket<S>,
    routes: Routes,
    stopping: &mut watch::Receiver<bool>,
) -> Option<(Socket<S>, Body)>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let exchange = Arc::clone(&routes.exchange);
    let http = http1::Builder::new().serve_connection(TokioIo::new(socket), routes).with_upgrades();
    // The boxes are gone while the rest is sent.
    let mut http = Box::new(http);
    let mut stop = Box::pin(stopping.wait_for(|stopping| *stopping));
    let mut stops = false;
    let waiting = poll_fn(|cx| {
        if !stops && stop.as_mut().poll(cx).is_ready() {
            stops = true;
            Pin::new(&mut *http).graceful_shutdown();
        }
        match Pin::new(&mut *http).poll(cx) {
            // That a client breaks off is no failure.
            Poll::Ready(_) => Poll::Ready(None),
            Poll::Pending => exchange.take_waiting().map_or(Poll::Pending, |body| Poll::Ready(Some(body))),
        }
    });
    let body = waiting.await?;
    let parts = http.into_parts()?;
    let mut socket = parts.io.into_inner();
    socket.unread(parts.read_buf);
    Some((socket, body))
}

/// A part of a response: its length, itself, and the end of its line.
type Chunk = Chain<Chain<Bytes, Bytes>, &'static [u8]>;

fn chunk(part: Bytes) -> Chunk {
    Bytes::from(format!("{:X}\r\n", part.len())).chain(part).chain(b"\r\n")
}

/// The end of a response.
fn last_chunk() -> Chunk {
    Bytes::from_static(b"0\r\n").chain(Bytes::new()).chain(b"\r\n")
}

/// Sends the rest of a response in chunks.
async fn send_rest<S>(socket: &mut Socket<S>, mut body: Body) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut sending: Option<Chunk> = None;
    let mut ended = false;
    poll_fn(move |cx| {
        loop {
            if socket.poll_closed(cx).is_ready() {
                return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
            }
            if let Some(chunk) = &mut sending {
                ready!(poll_write(socket, chunk, cx))?;
                sending = None;
            }
            if ended {
                return Pin::new(&mut *socket).poll_flush(cx);
            }
            match ready!(Pin::new(&mut body).poll_frame(cx)) {
                Some(Ok(frame)) => {
                    // An empty chunk would be the last one.
                    sending = frame.into_data().ok().filter(|part| !part.is_empty()).map(chunk);
                }
                Some(Err(error)) => return Poll::Ready(Err(io::Error::other(error))),
                None => {
                    ended = true;
                    sending = Some(last_chunk());
                }
            }
        }
    })
    .await
}

/// Writes a chunk to its end.
fn poll_write<S>(socket: &mut Socket<S>, chunk: &mut Chunk, cx: &mut Context<'_>) -> Poll<io::Result<()>>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    while chunk.has_remaining() {
        let mut parts = [IoSlice::new(&[]); 3];
        let count = chunk.chunks_vectored(&mut parts);
        let parts = parts.get(..count).unwrap_or_default();
        match ready!(Pin::new(&mut *socket).poll_write_vectored(cx, parts))? {
            0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
            written => chunk.advance(written),
        }
    }
    Poll::Ready(Ok(()))
}
