use crate::protocol::RpcError;

/// The errors of the protocol, beside those of JSON-RPC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum A2aError {
    /// There is no such task.
    TaskNotFound,
    /// The task has ended.
    TaskNotCancelable,
    /// The server sends no notifications.
    PushNotificationNotSupported,
    /// The operation does not fit the state of the task.
    UnsupportedOperation,
    /// The server does not read this kind of part.
    ContentTypeNotSupported,
    /// There is only one card.
    ExtendedCardNotConfigured,
    /// The server does not speak this version.
    VersionNotSupported,
}

impl A2aError {
    /// Returns the error of a call.
    pub(crate) fn because(self, message: impl Into<String>) -> RpcError {
        let code = match self {
            Self::TaskNotFound => -32_001,
            Self::TaskNotCancelable => -32_002,
            Self::PushNotificationNotSupported => -32_003,
            Self::UnsupportedOperation => -32_004,
            Self::ContentTypeNotSupported => -32_005,
            Self::ExtendedCardNotConfigured => -32_007,
            Self::VersionNotSupported => -32_009,
        };
        RpcError::with_code(code, message)
    }
}
