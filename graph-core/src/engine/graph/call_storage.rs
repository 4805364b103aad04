/// The extent to which a call is stored, if the parent run is on a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CallStorage {
    /// Nothing. The call begins again if its task runs again in another process.
    Nothing,
    /// The call. It continues if its task runs again; the next call begins from scratch.
    Call,
    /// The state. Each call continues from the state of the call before it on the thread, or of the call before it
    /// with the same key.
    Thread(Option<String>),
}

impl CallStorage {
    /// Returns the reason why subgraphs inside the call cannot keep their state, with the cure. `None` if they can.
    pub(crate) fn loses_state_inside(&self, packets: bool) -> Option<&'static str> {
        match self {
            Self::Nothing => Some("whose calls are not stored: remove its `.unstored()`"),
            // The index of a packet says nothing about the call that should continue.
            Self::Call if packets => {
                Some("which begins anew for each packet: give its calls keys with `.keyed_by_packet(..)`")
            }
            Self::Call | Self::Thread(_) => None,
        }
    }
}
