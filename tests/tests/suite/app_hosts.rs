//! Apps on hosts of their own below the apps domain, and the hosts that are served at all.

use anyhow::{Context as _, Result};
use http::{HeaderName, Method, header};
use tests::{Client, Reply, Server};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

/// An app that sets response headers whose effect would go beyond its own response.
const SETS_FORBIDDEN_HEADERS: &str = "export default { fetch(request) {
    const headers = new Headers({
        'nel': '{}', 'report-to': '{}', 'reporting-endpoints': 'a=\"https://evil.test\"', 'alt-svc': 'h2=\":1\"',
        'www-authenticate': 'Basic', 'set-login': 'logged-in', 'accept-ch': 'sec-ch-ua', 'critical-ch': 'sec-ch-ua',
        'service-worker-allowed': '/', 'origin-agent-cluster': '?0', 'use-as-dictionary': 'match=\"/*\"',
        'access-control-allow-credentials': 'true', 'x-accel-redirect': '/internal', 'x-sendfile': '/etc/passwd',
        'x-lighttpd-send-file': '/etc/passwd', 'x-reproxy-url': 'http://10.0.0.1/', 'x-accel-buffering': 'yes',
        'x-total-count': '7', 'etag': '\"1\"', 'cache-control': 'max-age=60',
    });
    headers.append('set-cookie', 'a=1; Domain=apps.test; Path=/');
    headers.append('set-cookie', 'b=2; Path=/; HttpOnly');
    return new Response('hello', { headers });
} };";

struct AppFixture {
    visitor: Client,
    slug: String,
}

impl AppFixture {
    async fn create(server: &Server) -> Result<Self> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let app = owner.create_app(&workspace, SETS_FORBIDDEN_HEADERS).await?;
        let slug = owner.get(&format!("/v1/apps/{app}")).await?.string_at("/slug")?;
        Ok(Self { visitor: server.client(), slug })
    }

    async fn get_with_host(&self, host: &str, path: &str) -> Result<Reply> {
        self.visitor.request(Method::GET, path).header(header::HOST, host)?.send().await
    }
}

/// Sends a raw request head and returns the status of the response.
async fn status_of(server: &Server, head: &str) -> Result<u16> {
    let address = server.base_url().strip_prefix("http://").context("no URL")?;
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(head.as_bytes()).await?;
    let mut response = vec![0; 12];
    stream.read_exact(&mut response).await?;
    Ok(std::str::from_utf8(&response[9..])?.parse()?)
}

const HEADERS_STRIPPED_EVERYWHERE: [&str; 5] =
    ["x-accel-redirect", "x-sendfile", "x-lighttpd-send-file", "x-reproxy-url", "alt-svc"];

tests::on_both! {
    args: ["--apps-domain", "apps.test"];

    async fn a_host_is_that_of_an_app_or_of_the_server_or_rejected(server: Server) -> Result<()> {
        let app = AppFixture::create(&server).await?;
        let own = format!("{}.apps.test", app.slug);
        for host in [own.clone(), own.to_uppercase(), format!("{own}:8080")] {
            let reply = app.get_with_host(&host, "/").await?;
            reply.assert_status(200);
            assert_eq!(reply.body, "hello", "{host}");
        }
        app.get_with_host("nobody.apps.test", "/").await?.assert_error(404, "app_not_found");
        for host in [
            "apps.test".to_owned(),
            format!("{own}."),
            format!("x.{own}"),
            format!("{own}.evil.test"),
            "evil.test".to_owned(),
        ] {
            for path in ["/", "/v1/session", "/docs", "/a/x/"] {
                app.get_with_host(&host, path).await?.check_error(421, Some("unknown_host")).context(host.clone())?;
            }
            // Health checks may send any host.
            app.get_with_host(&host, "/healthz").await?.assert_status(200);
        }
        for host in ["127.0.0.1:1", "localhost", "[::1]", "qala"] {
            app.get_with_host(host, "/openapi.json").await?.assert_status(200);
        }
        Ok(())
    }

    async fn a_request_must_name_exactly_one_host(server: Server) -> Result<()> {
        for (head, status) in [
            ("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", 200),
            ("GET /healthz HTTP/1.0\r\n\r\n", 200),
            ("GET /healthz HTTP/1.1\r\n\r\n", 400),
            ("GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", 400),
            ("GET /healthz HTTP/1.1\r\nHost: localhost\r\nhost: evil.test\r\n\r\n", 400),
            ("GET /healthz HTTP/1.1\r\nHost: a b\r\n\r\n", 400),
            ("GET /v1/session HTTP/1.1\r\nHost: evil.test\r\n\r\n", 421),
            ("GET http://evil.test/v1/session HTTP/1.1\r\nHost: localhost\r\n\r\n", 421),
        ] {
            assert_eq!(status_of(&server, head).await?, status, "{head}");
        }
        Ok(())
    }

    async fn an_app_cannot_set_headers_that_affect_other_hosts(server: Server) -> Result<()> {
        let app = AppFixture::create(&server).await?;
        let own = app.get_with_host(&format!("{}.apps.test", app.slug), "/").await?;
        own.assert_status(200);
        let cookies: Vec<_> = own.headers.get_all(header::SET_COOKIE).iter().collect();
        assert_eq!(cookies, ["a=1; Path=/", "b=2; Path=/; HttpOnly"]);
        for name in HEADERS_STRIPPED_EVERYWHERE {
            assert_eq!(own.header(name), None, "{name}");
        }
        assert_eq!((own.header("x-accel-buffering"), own.header("x-total-count")), (Some("yes"), Some("7")));

        let shared = app.visitor.get(&format!("/a/{}/", app.slug)).await?;
        shared.assert_status(200);
        for name in [
            "nel", "report-to", "reporting-endpoints", "www-authenticate", "set-login", "accept-ch", "critical-ch",
            "service-worker-allowed", "origin-agent-cluster", "use-as-dictionary", "access-control-allow-credentials",
            "set-cookie",
        ] {
            assert_eq!(shared.header(name), None, "{name}");
        }
        for name in HEADERS_STRIPPED_EVERYWHERE {
            assert_eq!(shared.header(name), None, "{name}");
        }
        for (name, value) in [
            ("x-total-count", "7"), ("etag", "\"1\""), ("cache-control", "max-age=60"), ("x-accel-buffering", "yes"),
        ] {
            assert_eq!(shared.header(name), Some(value), "{name}");
        }

        let worker = HeaderName::from_static("service-worker");
        let script = app.visitor.request(Method::GET, &format!("/a/{}/sw.js", app.slug));
        script.header(worker.clone(), "script")?.send().await?.assert_error(403, "service_worker_denied");
        let own = app.visitor.request(Method::GET, "/sw.js").header(header::HOST, &format!("{}.apps.test", app.slug))?;
        own.header(worker, "script")?.send().await?.assert_status(200);
        Ok(())
    }
}
