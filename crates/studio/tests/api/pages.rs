//! The pages, and who may see them.

use crate::world::{GRAPH, World};

fn header<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    head.lines().find_map(|line| {
        let (key, value) = line.split_once(": ")?;
        key.eq_ignore_ascii_case(name).then_some(value)
    })
}

#[tokio::test]
async fn pages_are_checked_each_time_and_allow_no_script_inside_them() {
    let world = World::with_file(GRAPH).await;
    for path in ["/", "/index.html", "/app.js", "/app.css", "/code.js", "/icon.svg"] {
        let page = world.get(path).await;
        assert_eq!(page.status, 200, "{path}");
        assert_eq!(header(&page.head, "cache-control"), Some("no-cache"));
        assert_eq!(header(&page.head, "x-content-type-options"), Some("nosniff"));
        let policy = header(&page.head, "content-security-policy").unwrap();
        assert!(policy.contains("script-src 'self';") && !policy.contains("unsafe"), "{policy}");
        assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
        let etag = header(&page.head, "etag").unwrap();
        let again = world.send("GET", path, &format!("If-None-Match: {etag}\r\n"), None).await;
        assert_eq!((again.status, again.body.len()), (304, 0));
    }
    for path in ["/api/runs", "/api/graphs", "/api/nothing"] {
        let head = world.get(path).await.head;
        assert_eq!(header(&head, "x-content-type-options"), Some("nosniff"), "{path}");
    }
    let index = world.get("/").await.body;
    assert!(!index.contains("<script>") && !index.contains("<style"), "{index}");
}

#[tokio::test]
async fn strangers_are_let_in_nowhere() {
    let world = World::with_file(GRAPH).await;
    let run = world.start(r#"{"tool": "sum_to", "arguments": {"n": 1}}"#).await;
    let paths = [
        "/".to_owned(),
        "/app.js".to_owned(),
        "/api/graphs".to_owned(),
        "/api/graphs/sum_to".to_owned(),
        "/api/upstreams".to_owned(),
        "/api/requests".to_owned(),
        "/api/workflows".to_owned(),
        "/api/hook-modules".to_owned(),
        "/api/procedures".to_owned(),
        "/api/changes".to_owned(),
        format!("/api/runs/{run}/events"),
        format!("/api/runs/{run}/diff?a=0&b=1"),
    ];
    for path in paths {
        for headers in ["Host: evil.example\r\n", "Origin: https://evil.example\r\n"] {
            let headers = format!("{headers}Accept: text/event-stream\r\n");
            let answer = world.send("GET", &path, &headers, None).await;
            assert_eq!(answer.status, 403, "{path} {headers}");
        }
    }
    // What a page elsewhere shows or links to has no `Origin`.
    for path in ["/api/upstreams/x/tools", "/api/runs"] {
        for site in ["cross-site", "same-site"] {
            let answer =
                world.send("GET", path, &format!("Sec-Fetch-Site: {site}\r\n"), None).await;
            assert_eq!(answer.status, 403, "{path} {site}");
        }
    }
    for site in ["cross-site", "same-origin", "none"] {
        let answer = world.send("GET", "/", &format!("Sec-Fetch-Site: {site}\r\n"), None).await;
        assert_eq!(answer.status, 200, "{site}");
    }
    let own = world.send("GET", "/api/runs", "Sec-Fetch-Site: same-origin\r\n", None).await;
    assert_eq!(own.status, 200);
    let find = format!("/api/runs/{run}/find");
    let paths = ["/api/draft", "/api/expr/test", "/api/runs", "/api/hook-modules/check", &find];
    for path in paths {
        let foreign = "Origin: https://evil.example\r\nContent-Type: application/json\r\n";
        assert_eq!(world.send("POST", path, foreign, Some("{}")).await.status, 403, "{path}");
        let form = "Content-Type: text/plain\r\n";
        assert_eq!(world.send("POST", path, form, Some("{}")).await.status, 400, "{path}");
    }
}

#[tokio::test]
async fn without_a_studio_there_are_neither_pages_nor_files() {
    let world = World::new(true).await;
    for path in ["/", "/app.js", "/api/graphs", "/api/upstreams"] {
        assert_eq!(world.get(path).await.status, 404, "{path}");
    }
    assert_eq!(world.get("/api/runs").await.status, 200);
}
