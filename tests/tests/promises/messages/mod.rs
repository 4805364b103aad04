//! Messages: formats, the `add_messages` reducer, and states that contain them.

mod add_messages_laws;
mod anthropic;
mod fixtures;
mod inputs;
mod json_forms;
mod openai;
mod schema;
mod states_with_messages;
