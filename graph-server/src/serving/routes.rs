use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

use axum::Router;
use axum::extract::ConnectInfo;
use axum::http::{Request, Response};
use hyper::body::Incoming;
use hyper_util::service::TowerToHyperService;

use super::exchange::{Exchange, RequestBody, SentBody};

/// The routes, for the requests of one connection.
pub(super) struct Routes {
    pub(super) router: TowerToHyperService<Router>,
    pub(super) peer: SocketAddr,
    pub(super) exchange: Arc<Exchange>,
}

impl hyper::service::Service<Request<Incoming>> for Routes {
    type Response = Response<SentBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let exchange = Arc::clone(&self.exchange);
        exchange.begin(&request);
        let mut request = request.map(|body| RequestBody { body, exchange: Arc::clone(&exchange) });
        request.extensions_mut().insert(ConnectInfo(self.peer));
        let response = self.router.call(request);
        Box::pin(async move { Ok(exchange.respond(response.await?)) })
    }
}
