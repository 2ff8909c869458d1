use url::Url;

use super::Hosts;

#[test]
fn a_host_is_named_with_or_without_its_port() {
    let hosts =
        Hosts::public().and(["localhost", "10.0.0.7:8080", "[::1]:81", "Example.com."]).unwrap();
    let named = [
        "http://localhost/",
        "https://LOCALHOST:9/x",
        "http://localhost./",
        "http://10.0.0.7:8080",
        "http://[::1]:81/",
        "https://example.com/",
        "http://[0:0:0:0:0:0:0:1]:81/",
        "http://10.0.7:8080/",
    ];
    for url in named {
        assert!(hosts.names(&Url::parse(url).unwrap()), "{url}");
    }
    let strange = [
        "http://10.0.0.7/",
        "http://10.0.0.7:8081/",
        "http://[::1]/",
        "http://127.0.0.1/",
        "http://localhost.example/",
        "http://user@evil.example/localhost",
    ];
    for url in strange {
        assert!(!hosts.names(&Url::parse(url).unwrap()), "{url}");
    }
}

#[test]
fn default_ports_can_be_named() {
    let hosts = Hosts::public().and(["a.example:443", "b.example:80"]).unwrap();
    for (url, is_named) in [
        ("https://a.example/", true),
        ("http://a.example/", false),
        ("http://b.example/", true),
        ("https://b.example/", false),
    ] {
        assert_eq!(hosts.names(&Url::parse(url).unwrap()), is_named, "{url}");
    }
}

#[test]
fn what_is_no_host_is_refused() {
    for text in ["", "a/b", "a b", "http://a", "a@b", "a:port", "[::1", "a?b", "a\\b"] {
        assert!(Hosts::public().and([text]).is_err(), "{text}");
    }
}
