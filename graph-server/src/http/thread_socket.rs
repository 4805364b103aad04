//! The second version of the protocol over a WebSocket: commands, their responses, and events on one connection.

use std::io;
use std::sync::Arc;

use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::response::Response;
use axum::routing::get;
use axum::{Extension, Router};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::guard::count;
use super::path::ThreadPart;
use super::sse::heartbeat;
use super::thread_commands::execute;
use super::thread_events::{complete, require_visible};
use crate::api_error::ApiResult;
use crate::app::{App, Shared};
use crate::limits::OpenStream;
use crate::protocol::{CommandError, ErrorCode, ThreadCommand, ThreadId, read_body};
use crate::serving::WRITE_TIMEOUT;
use crate::thread_stream::{EventFilter, Subscription, ThreadBatch, ThreadEvent, ThreadReader};

/// The number of commands of one connection that are executed at the same time. Further ones wait.
const MAX_COMMANDS: usize = 16;

/// The number of subscriptions of one connection.
const MAX_SUBSCRIPTIONS: usize = 256;

/// The bytes of the read buffer of a connection. Longer messages are read in parts.
const READ_BUFFER: usize = 1 << 10;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/threads/{thread}/stream/events", get(open))
}

async fn open(
    Shared(app): Shared,
    ThreadPart(thread): ThreadPart,
    Extension(open): Extension<Arc<OpenStream>>,
    upgrade: WebSocketUpgrade,
) -> ApiResult<Response> {
    require_visible(&app, thread).await?;
    let limit = app.options.body_limit;
    let upgrade = upgrade.max_message_size(limit).max_frame_size(limit).read_buffer_size(READ_BUFFER);
    Ok(upgrade.on_upgrade(move |socket| async move {
        // The client has gone, or is gone now.
        let _gone = serve(app, thread, socket, &open).await;
    }))
}

/// Serves a connection until it ends.
async fn serve(
    app: Arc<App>,
    thread: ThreadId,
    socket: WebSocket,
    open: &OpenStream,
) -> Result<(), axum::Error> {
    let events = app.thread_streams.open(thread);
    let now = events.last();
    let reader = events.read(Some(now));
    let mut connection =
        Connection { app: Arc::clone(&app), thread, socket, reader, subscriptions: Vec::new(), next: 0 };
    let mut commands = JoinSet::new();
    let mut beat = heartbeat();
    loop {
        tokio::select! {
            biased;
            Some(done) = commands.join_next(), if !commands.is_empty() => {
                // A command that has panicked has no response.
                if let Ok(response) = done {
                    connection.send(&response).await?;
                }
            }
            batch = connection.reader.next() => match batch {
                Some(batch) => connection.send_events(batch).await?,
                // The server stops.
                None => return connection.write(Message::Close(None)).await,
            },
            message = connection.socket.recv(), if commands.len() < MAX_COMMANDS => {
                let command = match message {
                    Some(Ok(Message::Text(text))) => ThreadCommand::parse(text.as_bytes()),
                    Some(Ok(Message::Binary(bytes))) => ThreadCommand::parse(&bytes),
                    // The socket answers pings itself.
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => continue,
                    Some(Ok(Message::Close(_))) | None => return Ok(()),
                    Some(Err(error)) => return Err(error),
                };
                // A command is a request like any other.
                let command = match (command, count(&app, open.caller())) {
                    (Ok(command), Err(error)) => {
                        Err(command.error(ErrorCode::PermissionDenied, error.text()))
                    }
                    (command, _) => command,
                };
                match command {
                    Ok(command) if command.method.starts_with("subscription.") => {
                        connection.subscription(&command).await?;
                    }
                    Ok(command) => {
                        let app = Arc::clone(&app);
                        commands.spawn(async move {
                            execute(&app, thread, &command).await.unwrap_or_else(|error| error.json())
                        });
                    }
                    Err(error) => connection.send(&error.json()).await?,
                }
            }
            _ = beat.tick() => connection.write(Message::Ping(Vec::new().into())).await?,
        }
    }
}

/// A connection with its subscriptions.
struct Connection {
    app: Arc<App>,
    thread: ThreadId,
    socket: WebSocket,
    reader: ThreadReader,
    subscriptions: Vec<(String, EventFilter)>,
    next: u64,
}

impl Connection {
    /// Writes a message.
    ///
    /// # Errors
    /// The client has gone, or does not read.
    async fn write(&mut self, message: Message) -> Result<(), axum::Error> {
        match tokio::time::timeout(WRITE_TIMEOUT, self.socket.send(message)).await {
            Ok(written) => written,
            Err(_) => Err(axum::Error::new(io::Error::from(io::ErrorKind::TimedOut))),
        }
    }

    async fn send(&mut self, message: &Value) -> Result<(), axum::Error> {
        self.write(Message::Text(message.to_string().into())).await
    }

    /// Sends the events that some subscription wants, each once.
    async fn send_events(&mut self, batch: ThreadBatch) -> Result<(), axum::Error> {
        for event in complete(&self.app, self.thread, batch).await {
            if self.subscriptions.iter().any(|(_, filter)| filter.matches(&event)) {
                self.write(Message::Text(event.text.as_str().into())).await?;
            }
        }
        Ok(())
    }

    async fn subscription(&mut self, command: &ThreadCommand) -> Result<(), axum::Error> {
        match self.change(command).await {
            Ok((response, replayed)) => {
                self.send(&response).await?;
                for event in replayed {
                    self.write(Message::Text(event.text.as_str().into())).await?;
                }
                Ok(())
            }
            Err(error) => self.send(&error.json()).await,
        }
    }

    /// Adds or removes a subscription. Returns the response, and the events to send again.
    async fn change(
        &mut self,
        command: &ThreadCommand,
    ) -> Result<(Value, Vec<Arc<ThreadEvent>>), CommandError> {
        match command.method.as_str() {
            "subscription.subscribe" => {
                let params = Value::Object(command.params.clone());
                let Subscription { filter, since } = read_body(params)
                    .map_err(|problems| command.error(ErrorCode::InvalidArgument, problems.to_string()))?;
                if self.subscriptions.len() >= MAX_SUBSCRIPTIONS {
                    let message = format!("a connection has up to {MAX_SUBSCRIPTIONS} subscriptions");
                    return Err(command.error(ErrorCode::InvalidArgument, message));
                }
                self.next += 1;
                let id = format!("sub-{}", self.next);
                let passed = self.reader.passed(since.filter(|since| *since > 0));
                let mut replayed = complete(&self.app, self.thread, passed).await;
                replayed.retain(|event| filter.matches(event));
                let result = json!({ "subscription_id": id, "replayed_events": replayed.len() });
                self.subscriptions.push((id, filter));
                Ok((command.success(result), replayed))
            }
            "subscription.unsubscribe" => {
                let id = command.params.get("subscription_id").and_then(Value::as_str).unwrap_or_default();
                let count = self.subscriptions.len();
                self.subscriptions.retain(|(other, _)| other != id);
                if self.subscriptions.len() == count {
                    let message = format!("no subscription `{id}`");
                    return Err(command.error(ErrorCode::NoSuchSubscription, message));
                }
                Ok((command.success(json!({})), Vec::new()))
            }
            other => Err(command.error(ErrorCode::UnknownCommand, format!("unknown command `{other}`"))),
        }
    }
}
