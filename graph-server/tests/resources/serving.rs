use superstep_server::Server;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

#[tokio::test]
async fn a_server_serves_until_it_is_told_to_stop() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let started = Server::new().start().await.unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = tokio::spawn(async move { started.serve(listener, async { drop(stopped.await) }).await });
    // The client keeps its connection, which must not keep the server.
    let mut client = TcpStream::connect(address).await.unwrap();
    client.write_all(b"GET /ok HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    let mut response = [0; 15];
    client.read_exact(&mut response).await.unwrap();
    assert_eq!(&response, b"HTTP/1.1 200 OK");
    stop.send(()).unwrap();
    serving.await.unwrap().unwrap();
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn the_routes_can_be_nested_in_an_application() {
    let started = Server::new().api_key("secret").start().await.unwrap();
    let routes = axum::Router::new().nest("/agents", started.router());
    let client = crate::support::Client(routes);
    client.get("/agents/ok").await.ok();
    client.get("/agents/info").await.error(401);
    assert_eq!(client.get("/agents/nowhere").await.error(404), "Not Found");
}

#[tokio::test]
async fn the_caller_of_a_connection_has_an_address() {
    use superstep_server::{AuthError, AuthRequest, Identity};
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let recognize = async |request: AuthRequest| {
        let peer = request.peer().map(|peer| peer.to_string()).unwrap_or_default();
        Err::<Identity, _>(AuthError::forbidden(format_args!(
            "{peer} {} {}",
            request.method(),
            request.path()
        )))
    };
    let started = Server::new().authenticate(recognize).start().await.unwrap();
    tokio::spawn(async move { started.serve(listener, std::future::pending()).await });
    let mut client = TcpStream::connect(address).await.unwrap();
    client.write_all(b"GET /info HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").await.unwrap();
    let mut response = String::new();
    client.read_to_string(&mut response).await.unwrap();
    assert!(response.ends_with(r#"{"detail":"127.0.0.1 GET /info"}"#), "{response}");
}
