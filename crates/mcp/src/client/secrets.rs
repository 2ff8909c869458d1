//! What must not be shown of a server, and its errors without that.

use mcpgraph_diagnostics::Secrets;

use super::{ClientError, HttpConfig, StdioConfig, TransportConfig};
use crate::message::RpcError;

/// What must not be shown of a server that is reached this way.
pub(super) fn of(transport: &TransportConfig) -> Secrets {
    match transport {
        TransportConfig::Stdio(config) => of_process(config),
        TransportConfig::Http(config) => of_url(config),
    }
}

pub(super) fn of_process(config: &StdioConfig) -> Secrets {
    Secrets::new(config.env.values().chain(&config.secrets))
}

pub(super) fn of_url(config: &HttpConfig) -> Secrets {
    Secrets::new(config.headers.values().chain(&config.secrets))
}

/// An error without them, for those who log or keep it. A server may put into its words what it was
/// given.
pub(super) fn hide_in(secrets: &Secrets, error: ClientError) -> ClientError {
    match error {
        // What else it says is for programs, and nobody reads it here.
        ClientError::Rpc(RpcError { code, message, .. }) => {
            ClientError::Rpc(RpcError::new(code, secrets.hide(&message)))
        }
        ClientError::Protocol(reason) => ClientError::Protocol(secrets.hide(&reason)),
        ClientError::Incompatible { offered } => {
            ClientError::Incompatible { offered: secrets.hide(&offered) }
        }
        ClientError::Spawn { command, reason } => {
            ClientError::Spawn { command: secrets.hide(&command), reason: secrets.hide(&reason) }
        }
        // The transports made them without secrets, or nothing of the server is in them.
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_says_in_an_error_is_hidden_too() {
        let secrets = Secrets::new(["abcdefgh1234"]);
        let said = "refused: abcdefgh1234".to_owned();
        let rpc = RpcError::new(-32000, said.clone()).with_data(&"abcdefgh1234");
        for error in [
            ClientError::Rpc(rpc),
            ClientError::Protocol(said.clone()),
            ClientError::Incompatible { offered: said.clone() },
            ClientError::Spawn { command: said.clone(), reason: said },
        ] {
            let shown = format!("{:?}", hide_in(&secrets, error));
            assert!(shown.contains("[hidden]") && !shown.contains("abcdefgh1234"), "{shown}");
        }
    }
}
