/// A version of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    V0_3,
    V1_0,
}

/// A method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Send,
    Stream,
    Get,
    List,
    Cancel,
    Subscribe,
    /// The methods for push notifications.
    PushNotification,
    ExtendedCard,
}

impl Method {
    /// Finds a method by its name. Each name belongs to one version, which also says how the response is written.
    pub(crate) fn find(name: &str) -> Option<(Self, Version)> {
        use Version::{V0_3, V1_0};
        Some(match name {
            "message/send" => (Self::Send, V0_3),
            "message/stream" => (Self::Stream, V0_3),
            "tasks/get" => (Self::Get, V0_3),
            "tasks/list" => (Self::List, V0_3),
            "tasks/cancel" => (Self::Cancel, V0_3),
            "tasks/resubscribe" => (Self::Subscribe, V0_3),
            "agent/getAuthenticatedExtendedCard" => (Self::ExtendedCard, V0_3),
            name if name.starts_with("tasks/pushNotificationConfig/") => (Self::PushNotification, V0_3),
            "SendMessage" => (Self::Send, V1_0),
            "SendStreamingMessage" => (Self::Stream, V1_0),
            "GetTask" => (Self::Get, V1_0),
            "ListTasks" => (Self::List, V1_0),
            "CancelTask" => (Self::Cancel, V1_0),
            "SubscribeToTask" => (Self::Subscribe, V1_0),
            "GetExtendedAgentCard" => (Self::ExtendedCard, V1_0),
            "CreateTaskPushNotificationConfig"
            | "GetTaskPushNotificationConfig"
            | "ListTaskPushNotificationConfigs"
            | "DeleteTaskPushNotificationConfig" => (Self::PushNotification, V1_0),
            _ => return None,
        })
    }
}

impl Version {
    /// Reads the header `a2a-version`. Without it, any method may be called.
    ///
    /// # Errors
    /// The server does not speak the version.
    pub(crate) fn check(header: &str) -> Result<(), crate::protocol::RpcError> {
        let mut parts = header.trim().split('.');
        match (parts.next(), parts.next()) {
            (Some(""), None) | (Some("0"), Some("3")) | (Some("1"), None | Some("0")) => Ok(()),
            _ => {
                let message = format!("this server speaks A2A 0.3 and 1.0, not `{header}`");
                Err(super::A2aError::VersionNotSupported.because(message))
            }
        }
    }
}
