//! Apps with streaming responses.

use std::time::Duration;

use anyhow::{Context as _, Result};
use http::{Method, StatusCode, header};
use serde_json::json;
use tests::{Client, LogLine, Server, StreamingReply, eventually, eventually_within};

const DOCS: &str = include_str!("../../../docs/runtime.md");

/// Covers a wall-clock limit of 30 seconds on a loaded machine.
const WALL_LIMIT_DEADLINE: Duration = Duration::from_secs(100);

/// Returns the source of an app that streams what `stream` yields for a `url`, and adds a note for each `POST`.
/// `waitForNote` waits for the note with a title.
fn streaming_app(stream: &str) -> String {
    format!(
        "const utf8 = (text) => new TextEncoder().encode(text);
        const sleep = (millis) => new Promise((done) => setTimeout(done, millis));
        export default {{ async fetch(request, env, ctx) {{
            const url = new URL(request.url);
            if (request.method === 'POST') {{
                await env.data.main.insert('notes', {{ title: await request.text(), source: 'test', data: {{}} }});
                return new Response('stored');
            }}
            const waitForNote = async (title) => {{
                while ((await env.data.main.select('notes', {{ title: `eq.${{title}}` }})).length === 0) await sleep(20);
            }};
            {stream}
        }} }};"
    )
}

/// A streaming app with its owner and a visitor.
struct StreamingAppFixture {
    owner: Client,
    visitor: Client,
    app: String,
    path: String,
}

impl StreamingAppFixture {
    async fn create(server: &Server, stream: &str) -> Result<Self> {
        Self::from_source(server, &streaming_app(stream)).await
    }

    async fn from_source(server: &Server, source: &str) -> Result<Self> {
        let owner = server.sign_in("aigerim@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?;
        // The sample app, because it may write notes.
        let app = workspace.sample_app;
        let version = json!({"files": {"main.js": source}});
        owner.post(&format!("/v1/apps/{app}/versions"), &version).await?.ok()?;
        let slug = owner.get(&format!("/v1/apps/{app}")).await?.string_at("/slug")?;
        Ok(Self { owner, visitor: server.client(), app, path: format!("/a/{slug}/") })
    }

    async fn open(&self, rest: &str) -> Result<StreamingReply> {
        self.visitor.request(Method::GET, &format!("{}{rest}", self.path)).open_stream().await
    }

    /// Adds a note, which the app waits for.
    async fn post_note(&self, title: &str) -> Result<()> {
        let request = self.visitor.request(Method::POST, &self.path).body("text/plain", title.to_owned())?;
        request.send().await?.assert_status(200);
        Ok(())
    }

    /// Waits until the log has a line with this text.
    async fn wait_for_log_line(&self, deadline: Duration, text: &str) -> Result<LogLine> {
        eventually_within(deadline, "the log has the line", async || {
            let log = self.owner.app_log(&self.app, None).await?;
            let found = log.iter().find(|line| line.message.contains(text)).cloned();
            found.with_context(|| format!("no {text:?} in {log:?}"))
        })
        .await
    }
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn chunks_arrive_one_by_one(server: Server) -> Result<()> {
        let fixture = StreamingAppFixture::create(&server, "return new Response(new ReadableStream({ async start(c) {
            for (const word of ['one', 'two', 'three']) { c.enqueue(utf8(word)); console.log(`sent ${word}`); await waitForNote(word) }
            c.close() } }), { status: 202, headers: { 'content-type': 'text/plain', 'content-length': '5', 'x-mine': 'yes' } });")
        .await?;
        let mut stream_reply = fixture.open("").await?;
        assert_eq!(stream_reply.status, StatusCode::ACCEPTED);
        let header = |name: &str| stream_reply.headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        assert_eq!(header("x-mine").as_deref(), Some("yes"));
        assert_eq!(header("x-accel-buffering").as_deref(), Some("no"));
        assert_eq!(header("content-length"), None, "there must be no content length");
        // The app sends each word only after a note confirms that the previous one arrived.
        for word in ["one", "two", "three"] {
            stream_reply.expect_text(word).await?;
            fixture.post_note(word).await?;
        }
        assert_eq!(stream_reply.next_chunk().await?, None);
        fixture.wait_for_log_line(Duration::from_secs(15), "sent three").await?;
        Ok(())
    }

    async fn an_app_sends_events(server: Server) -> Result<()> {
        let fixture = StreamingAppFixture::create(&server, "let number = 0;
            return new Response(new ReadableStream({ async pull(c) {
                if (number > 0) await waitForNote(`${number}`);
                if (++number > 3) return c.close();
                c.enqueue(`id: ${number}\\nevent: tick\\ndata: {\"number\":${number}}\\n\\n`);
            } }).pipeThrough(new TextEncoderStream()), { headers: { 'content-type': 'text/event-stream' } });")
        .await?;
        let mut events = fixture.visitor.request(Method::GET, &fixture.path).open_event_stream().await?;
        for number in 1..=3_u64 {
            let event = events.next_event().await?;
            assert_eq!((event.id, &event.data), (Some(number), &json!({"number": number})));
            fixture.post_note(&number.to_string()).await?;
        }
        assert!(events.next_block().await?.is_none());
        Ok(())
    }

    /// Forty visitors leave: if one of them kept its slot, later visitors would wait.
    async fn a_visitor_who_leaves_cancels_the_stream(server: Server) -> Result<()> {
        let fixture = StreamingAppFixture::create(&server, "let timer;
            return new Response(new ReadableStream({
                start(c) { timer = setInterval(() => c.enqueue(utf8('tick ')), 5) },
                async cancel(reason) { clearInterval(timer);
                    await env.data.main.insert('notes', { title: `left ${url.search}`, source: 'test', data: {} });
                    console.log(`cancelled ${reason.name}`) },
            }));")
        .await?;
        for number in 0..40 {
            // The previous visitor may still hold its slot.
            let mut stream_reply = eventually("a slot is free", async || {
                let stream_reply = fixture.open(&format!("?{number}")).await?;
                anyhow::ensure!(stream_reply.status == StatusCode::OK, "{}", stream_reply.status);
                Ok(stream_reply)
            })
            .await?;
            assert!(stream_reply.next_chunk().await?.is_some_and(|text| text.starts_with("tick")));
        }
        fixture.wait_for_log_line(Duration::from_secs(30), "cancelled AbortError").await?;
        eventually("every stream is cancelled", async || {
            let log = fixture.owner.app_log(&fixture.app, None).await?;
            let count = log.iter().filter(|line| line.message == "cancelled AbortError").count();
            anyhow::ensure!(count == 40, "{count} of 40: {log:?}");
            let failed = |line: &LogLine| line.source == "platform" && !line.message.starts_with("overloaded");
            anyhow::ensure!(!log.iter().any(failed), "{log:?}");
            Ok(())
        })
        .await
    }

    async fn a_failing_stream_is_cut_and_its_error_is_shown_only_to_the_owner(server: Server) -> Result<()> {
        let fixture = StreamingAppFixture::create(&server, "const bad = {
                '?throws': { async pull(c) { if (c.sent) throw new Error('hunter2 pulled'); c.sent = true; c.enqueue(utf8('x')) } },
                '?text': { start(c) { c.enqueue(utf8('x')); c.enqueue('hunter2') } },
                '?never': { start(c) { c.enqueue(utf8('x')) } },
                '?endless': { pull(c) { c.enqueue(new Uint8Array(65536)) } },
            }[url.search];
            if (url.search === '?before') throw new Error('hunter2 before');
            return new Response(new ReadableStream(bad));")
        .await?;
        for (query, code, says) in [
            ("?throws", "app_error", "hunter2 pulled"),
            ("?text", "app_error", "not of a string"),
            ("?never", "never_settled", "nothing will settle"),
            ("?endless", "output_too_large", "67108864 bytes"),
        ] {
            let mut stream_reply = fixture.open(query).await?;
            assert_eq!(stream_reply.status, StatusCode::OK, "{query}");
            let (count, clean) = stream_reply.drain().await;
            assert!(!clean, "{query} ended cleanly");
            if query == "?endless" {
                // The last bytes may be lost with the connection.
                assert!((60 << 20..=64 << 20).contains(&count), "{count} bytes");
            } else {
                assert!(count <= 1, "{query}: {count} bytes");
            }
            let line = fixture.wait_for_log_line(Duration::from_secs(15), says).await?;
            assert!(line.source == "platform" && line.message.starts_with(code), "{line:?}");
        }
        let before = fixture.visitor.get(&format!("{}?before", fixture.path)).await?;
        before.assert_error(500, "app_failed");
        assert!(!String::from_utf8_lossy(&before.body).contains("hunter2"), "{before}");
        Ok(())
    }

    async fn responses_without_a_body_are_empty(server: Server) -> Result<()> {
        let fixture = StreamingAppFixture::create(&server, "const source = { cancel() { console.log(`unwanted ${request.method}`) },
                start(c) { if (url.search === '?empty') c.close(); else c.enqueue(utf8('x')) }, pull: () => sleep(60000) };
            return new Response(new ReadableStream(source), { headers: { 'x-mine': 'yes' } });")
        .await?;
        let head = fixture.visitor.request(Method::HEAD, &fixture.path).send().await?;
        head.assert_status(200);
        assert_eq!((head.header("x-mine"), head.body.len()), (Some("yes"), 0));
        assert_eq!(head.header(header::CONTENT_LENGTH.as_str()), None);
        fixture.wait_for_log_line(Duration::from_secs(15), "unwanted HEAD").await?;
        let empty = fixture.visitor.get(&format!("{}?empty", fixture.path)).await?;
        empty.assert_status(200);
        assert!(empty.body.is_empty());
        Ok(())
    }

    /// The body is larger than a buffered response may be, and larger than the flow-control window.
    async fn a_large_body_arrives_completely(server: Server) -> Result<()> {
        let fixture = StreamingAppFixture::create(&server, "let left = 24;
            return new Response(new ReadableStream({ pull(c) {
                if (left-- === 0) c.close(); else c.enqueue(new Uint8Array(1 << 20).fill(97 + left)) } }));")
        .await?;
        let reply = fixture.visitor.get(&fixture.path).await?;
        reply.assert_status(200);
        assert_eq!(reply.body.len(), 24 << 20);
        for (number, part) in reply.body.chunks(1 << 20).enumerate() {
            assert!(part.iter().all(|byte| usize::from(*byte) == 97 + 23 - number), "part {number}");
        }
        Ok(())
    }

    async fn a_slow_reader_holds_its_worker_only_until_the_wall_clock_limit(server: Server) -> Result<()> {
        let fixture = StreamingAppFixture::create(&server, "let sent = 0;
            return new Response(new ReadableStream({ pull(c) { sent += 65536;
                if (sent > 60 << 20) return; c.enqueue(new Uint8Array(65536)) } }));")
        .await?;
        let mut slow = fixture.open("").await?;
        assert_eq!(slow.status, StatusCode::OK);
        let line = fixture.wait_for_log_line(WALL_LIMIT_DEADLINE, "the visitor had not taken").await?;
        assert!(line.source == "platform" && line.message.starts_with("timeout"), "{line:?}");
        let (count, clean) = slow.drain().await;
        assert!(!clean && count < 60 << 20, "{count} bytes, clean: {clean}");
        Ok(())
    }

    /// Visitors who never read get no more than their share of the worker processes.
    async fn visitors_who_stay_do_not_starve_others(server: Server) -> Result<()> {
        let fixture = StreamingAppFixture::create(&server, "if (url.search === '?whole') return new Response('whole');
            return new Response(new ReadableStream({ start(c) { c.enqueue(utf8('here')) }, pull: () => sleep(60000) }));")
        .await?;
        let mut staying = Vec::new();
        let refused = loop {
            let reply = fixture.open("").await?;
            if reply.status != StatusCode::OK {
                break reply;
            }
            staying.push(reply);
            assert!(staying.len() < 50, "no visitor was rejected");
        };
        assert_eq!(refused.status, StatusCode::SERVICE_UNAVAILABLE);
        assert!(!staying.is_empty());
        for _ in 0..5 {
            fixture.visitor.get(&format!("{}?whole", fixture.path)).await?.assert_status(200);
        }
        fixture.visitor.get(&fixture.path).await?.assert_error(503, "overloaded");
        fixture.wait_for_log_line(Duration::from_secs(15), "too many answers are being streamed at once").await?;
        staying.pop();
        eventually("the slot of a visitor who left is free", async || {
            let stream_reply = fixture.open("").await?;
            anyhow::ensure!(stream_reply.status == StatusCode::OK, "{}", stream_reply.status);
            Ok(())
        })
        .await
    }

    async fn the_example_of_the_docs_sends_events(server: Server) -> Result<()> {
        let mut examples = DOCS.split("```js\n").skip(1).filter_map(|rest| rest.split_once("\n```"));
        let (source, _) = examples.find(|(source, _)| source.contains("text/event-stream")).context("no example")?;
        let fixture = StreamingAppFixture::from_source(&server, source).await?;
        let mut events = fixture.visitor.request(Method::GET, &fixture.path).open_event_stream().await?;
        for number in 1..=2_u64 {
            let event = events.next_block().await?.context("no event")?;
            assert_eq!((event.id, &event.data), (Some(number), &json!({"number": number})));
        }
        Ok(())
    }

    async fn a_server_that_stops_cuts_streams_off(mut server: Server) -> Result<()> {
        let fixture = StreamingAppFixture::create(&server, "return new Response(new ReadableStream({
            start(c) { c.enqueue(utf8('here ')); console.log('began') }, pull: () => sleep(60000) }));")
        .await?;
        let mut stream_reply = fixture.open("").await?;
        stream_reply.expect_text("here ").await?;
        let (stopped, (_, clean)) = tokio::join!(server.restart(), stream_reply.drain());
        stopped?;
        assert!(!clean, "the stream ended cleanly");
        let line = fixture.wait_for_log_line(Duration::from_secs(15), "the server shut down").await?;
        assert_eq!(line.source, "platform");
        assert!(!fixture.owner.app_log(&fixture.app, None).await?.iter().all(|line| line.message != "began"));
        Ok(())
    }
}
