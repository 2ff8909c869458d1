use async_trait::async_trait;
use mcpgraph_value::Value;

/// What a script may ask of the world.
#[async_trait]
pub trait Host: Send + Sync + 'static {
    /// What is known of a server, for `getServerInfo`.
    fn server_info(&self, name: &str) -> Option<Value>;

    /// Makes an HTTP request, if the script may reach that host. The error is what the script's
    /// promise is rejected with.
    async fn fetch(&self, request: FetchRequest) -> Result<FetchResponse, String>;
}

/// What a script gave to `fetch`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchRequest {
    /// The address as it was given, not looked at yet.
    pub url: String,
    /// The method, in upper case.
    pub method: String,
    /// Names and values of headers.
    pub headers: Vec<(String, String)>,
    /// The body, if there is one.
    pub body: Option<String>,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchResponse {
    /// The status.
    pub status: u16,
    /// The words for it.
    pub status_text: String,
    /// Names, in lower case, and values of headers.
    pub headers: Vec<(String, String)>,
    /// The body as text.
    pub body: String,
}

/// A host with nothing around it: no servers, no network.
#[derive(Clone, Copy, Debug)]
pub struct Alone;

#[async_trait]
impl Host for Alone {
    fn server_info(&self, _: &str) -> Option<Value> {
        None
    }

    async fn fetch(&self, _: FetchRequest) -> Result<FetchResponse, String> {
        Err(String::from("fetch is not allowed here"))
    }
}
