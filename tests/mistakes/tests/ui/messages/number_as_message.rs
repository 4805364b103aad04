use superstep::messages::MessagesState;

async fn greet(_: &MessagesState) -> superstep::messages::MessagesStateUpdate {
    MessagesState::update().messages(17)
}

fn main() {}
