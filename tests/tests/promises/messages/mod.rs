//! Messages: the forms that are read and written, what is kept of a conversation, and where one may stand.

mod accepted;
mod anthropic;
mod fixtures;
mod inputs;
mod laws;
mod openai;
mod places;
mod schema;
