use superstep::messages::MessagesState;

async fn greet(_: &MessagesState) -> superstep::messages::MessagesStateUpdate {
    MessagesState::update().messages(("assistant", "hello"))
}

fn main() {}
