//! How traces are exported, as the standard `OTEL_*` variables say it.

mod variables;

use std::time::Duration;

use variables::Variables;

/// Where spans go and which of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The URL of the collector; for HTTP with the path that takes traces.
    pub endpoint: String,
    /// How it is spoken to.
    pub protocol: Protocol,
    /// Sent along with every export.
    pub headers: Vec<(String, String)>,
    /// How long one export may take, retries included.
    pub timeout: Duration,
    /// What describes this process: `service.name` and whatever else.
    pub resource: Vec<(String, String)>,
    /// Which calls are traced.
    pub sampling: Sampling,
    /// How spans are gathered.
    pub batching: Batching,
    /// Whether spans carry arguments and results, not only their sizes.
    pub captures_payloads: bool,
}

/// How the collector is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// OTLP over gRPC.
    Grpc,
    /// OTLP over HTTP, as protocol buffers.
    HttpProtobuf,
    /// OTLP over HTTP, as JSON.
    HttpJson,
}

/// Which calls are traced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// Whether the caller's decision counts, where it made one.
    pub follows_caller: bool,
    /// The share of the other calls, from 0 to 1.
    pub ratio: f64,
}

/// How spans are gathered before they are exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batching {
    /// How many wait at most; those that come when it is full are lost and counted.
    pub max_queue: usize,
    /// How many are exported at once.
    pub max_batch: usize,
    /// How long the first of a batch waits for others.
    pub delay: Duration,
    /// How long an export may take in all.
    pub timeout: Duration,
}

impl Settings {
    /// What the environment of the process says; none where it does not ask for traces.
    pub fn from_env() -> Option<Self> {
        Self::read(&|name| std::env::var(name).ok())
    }

    /// What these variables say; none where they do not ask for traces.
    ///
    /// A value that means nothing is logged and its default taken, as the specification wants it:
    /// the variables are often set for a whole machine and all programs on it.
    pub fn read(lookup: &dyn Fn(&str) -> Option<String>) -> Option<Self> {
        let variables = Variables(lookup);
        if variables.flag(&["OTEL_SDK_DISABLED".to_owned()]) || !asks_for_traces(&variables) {
            return None;
        }
        let protocol = protocol(&variables);
        Some(Self {
            endpoint: endpoint(&variables, protocol),
            protocol,
            headers: variables.pairs(&otlp("HEADERS")),
            timeout: variables.millis(&otlp("TIMEOUT"), 10_000),
            resource: resource(&variables),
            sampling: sampling(&variables),
            batching: batching(&variables),
            captures_payloads: captures_payloads(&variables),
        })
    }
}

/// The names of an exporter's variable, the one for traces first.
fn otlp(what: &str) -> [String; 2] {
    [format!("OTEL_EXPORTER_OTLP_TRACES_{what}"), format!("OTEL_EXPORTER_OTLP_{what}")]
}

fn asks_for_traces(variables: &Variables<'_>) -> bool {
    match variables.word("OTEL_TRACES_EXPORTER") {
        // Every name is looked at, so that each that means nothing is logged.
        Some(names) => names.split(',').map(str::trim).fold(false, |asks, name| match name {
            "otlp" => true,
            "none" | "" => asks,
            _ => {
                variables.ignored("OTEL_TRACES_EXPORTER", name, "mcpgraph exports by `otlp`");
                asks
            }
        }),
        None => variables.first(&otlp("ENDPOINT")).is_some(),
    }
}

fn protocol(variables: &Variables<'_>) -> Protocol {
    let Some((name, value)) = variables.first(&otlp("PROTOCOL")) else {
        return Protocol::HttpProtobuf;
    };
    match &*value.to_ascii_lowercase() {
        "grpc" => Protocol::Grpc,
        "http/protobuf" => Protocol::HttpProtobuf,
        "http/json" => Protocol::HttpJson,
        _ => {
            variables.ignored(&name, &value, "use `grpc`, `http/protobuf` or `http/json`");
            Protocol::HttpProtobuf
        }
    }
}

/// Over HTTP, the general endpoint is the root of all signals; that of traces is taken as it is.
fn endpoint(variables: &Variables<'_>, protocol: Protocol) -> String {
    let [of_traces, general] = otlp("ENDPOINT");
    let given = variables.text(&of_traces);
    let is_for_traces = given.is_some();
    let given = given.or_else(|| variables.text(&general));
    match (protocol, given) {
        (Protocol::Grpc, Some(url)) if url.contains("://") => url,
        (Protocol::Grpc, Some(address)) => {
            let is_plain = variables.flag(&otlp("INSECURE"));
            format!("{}://{address}", if is_plain { "http" } else { "https" })
        }
        (Protocol::Grpc, None) => "http://localhost:4317".to_owned(),
        (_, Some(url)) if is_for_traces => url,
        (_, Some(root)) => format!("{}/v1/traces", root.trim_end_matches('/')),
        (_, None) => "http://localhost:4318/v1/traces".to_owned(),
    }
}

fn captures_payloads(variables: &Variables<'_>) -> bool {
    const NAME: &str = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";
    let Some(word) = variables.word(NAME) else { return false };
    match &*word {
        "true" | "span_only" | "span_and_event" => true,
        "false" | "no_content" | "event_only" => false,
        _ => {
            let why = "use `true`, `span_only`, `span_and_event` or `false`; payloads are left out";
            variables.ignored(NAME, &word, why);
            false
        }
    }
}

fn resource(variables: &Variables<'_>) -> Vec<(String, String)> {
    const NAME: &str = "service.name";
    const VERSION: &str = "service.version";
    let mut resource = variables.pairs(&["OTEL_RESOURCE_ATTRIBUTES".to_owned()]);
    if let Some(name) = variables.text("OTEL_SERVICE_NAME") {
        resource.retain(|(key, _)| key != NAME);
        resource.push((NAME.to_owned(), name));
    }
    for (key, default) in [(NAME, "mcpgraph"), (VERSION, env!("CARGO_PKG_VERSION"))] {
        if !resource.iter().any(|(name, _)| name == key) {
            resource.push((key.to_owned(), default.to_owned()));
        }
    }
    resource
}

fn sampling(variables: &Variables<'_>) -> Sampling {
    const NAME: &str = "OTEL_TRACES_SAMPLER";
    let all = Sampling { follows_caller: true, ratio: 1.0 };
    let Some(name) = variables.word(NAME) else { return all };
    let (follows_caller, rest) = match name.strip_prefix("parentbased_") {
        Some(rest) => (true, rest),
        None => (false, &*name),
    };
    let ratio = match rest {
        "always_on" => 1.0,
        "always_off" => 0.0,
        "traceidratio" => ratio(variables),
        _ => {
            variables.ignored(NAME, &name, "every call is traced, unless the caller says no");
            return all;
        }
    };
    Sampling { follows_caller, ratio }
}

fn ratio(variables: &Variables<'_>) -> f64 {
    const NAME: &str = "OTEL_TRACES_SAMPLER_ARG";
    let Some(text) = variables.text(NAME) else { return 1.0 };
    match text.parse::<f64>() {
        Ok(ratio) if (0.0..=1.0).contains(&ratio) => ratio,
        _ => {
            variables.ignored(NAME, &text, "it is a number from 0 to 1; 1 is taken");
            1.0
        }
    }
}

fn batching(variables: &Variables<'_>) -> Batching {
    /// More would be memory that nobody planned for.
    const MOST_WAITING: usize = 1 << 20;
    let millis = |name: &str, default| variables.millis(&[name.to_owned()], default);
    let max_queue = variables.count("OTEL_BSP_MAX_QUEUE_SIZE", 2048).min(MOST_WAITING);
    Batching {
        max_queue,
        max_batch: variables.count("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 512).min(max_queue),
        delay: millis("OTEL_BSP_SCHEDULE_DELAY", 5_000),
        timeout: millis("OTEL_BSP_EXPORT_TIMEOUT", 30_000),
    }
}

#[cfg(test)]
mod tests;
