//! HTTP services, behind the guard of `mcpgraph-outbound`.

use async_trait::async_trait;
use mcpgraph_command::{Answer, Request};
use mcpgraph_outbound::{self as outbound, Client, Hosts, OutboundError};

use crate::{Carrier, CommandError, ErrorKind, Limits, not_for};

/// How much of a refusal is told.
const MAX_TOLD: usize = 2000;

pub(crate) struct Http {
    headers: Vec<(String, String)>,
    client: Client,
}

impl Http {
    pub(crate) fn new(
        headers: Vec<(String, String)>,
        allow_hosts: &[String],
    ) -> Result<Self, CommandError> {
        let hosts = Hosts::public().and(allow_hosts).map_err(OutboundError::from)?;
        Ok(Self { headers, client: Client::new(hosts, outbound::Limits::default())? })
    }
}

#[async_trait]
impl Carrier for Http {
    async fn send(&self, request: Request, limits: Limits) -> Result<Answer, CommandError> {
        let Request::Http { method, url, headers, body } = request else {
            return Err(not_for("HTTP"));
        };
        let mut asked = outbound::Request::get(&url)?;
        asked.method = method
            .parse()
            .map_err(|_| CommandError::new(ErrorKind::Refused, "the method is none of HTTP"))?;
        for (name, value) in self.headers.iter().chain(&headers) {
            asked.header(name, value)?;
        }
        if let Some(body) = body {
            asked.header("content-type", body.media_type)?;
            asked.body = body.text.into();
        }
        let defaults = outbound::Limits::default();
        let limits = outbound::Limits { time: limits.time, bytes: limits.bytes, ..defaults };
        let response = self.client.within(limits).send(asked).await?;
        let text = String::from_utf8_lossy(&response.body).into_owned();
        if !response.status.is_success() {
            let said: String = text.trim().chars().take(MAX_TOLD).collect();
            let message = format!("the service answered {}: {said}", response.status.as_u16());
            return Err(CommandError::new(ErrorKind::Failed, message));
        }
        if !response.is_complete {
            let message = "the service broke off its answer";
            return Err(CommandError::new(ErrorKind::Answer, message));
        }
        Ok(Answer::Text(text))
    }
}
