//! Texts of the pages in every language, in a file that people review: `tests/snapshots/page_texts.txt`.
//!
//! Only text is compared, a line each, and the text of buttons; markup is not. Run the test with `QALA_WRITE_SNAPSHOTS=1` to
//! write the file anew, and look at the difference.

use anyhow::{Context as _, Result};
use http::{Method, header};
use serde_json::json;
use tests::{Client, Reply, Server, encode_form, invite_token};

const LANGUAGES: [&str; 3] = ["en", "ru", "kk"];

/// The pages in one language.
struct Pages<'a> {
    language: &'static str,
    texts: &'a mut String,
}

impl Pages<'_> {
    /// Adds what a page says. `changing` is in it, and differs from run to run.
    async fn add(&mut self, name: &str, client: &Client, path: &str, changing: &str) -> Result<()> {
        let reply = self.get(client, path).await?;
        self.add_reply(name, &reply, changing);
        Ok(())
    }

    async fn get(&self, client: &Client, path: &str) -> Result<Reply> {
        let request = client.request(Method::GET, path).header(header::ACCEPT, "text/html")?;
        request.header(header::ACCEPT_LANGUAGE, self.language)?.send().await
    }

    async fn post(&self, client: &Client, path: &str, form: &[(&str, &str)]) -> Result<Reply> {
        let request = client.request(Method::POST, path).header(header::ORIGIN, client.base_url())?;
        let request = request.header(header::ACCEPT_LANGUAGE, self.language)?;
        request.body("application/x-www-form-urlencoded", encode_form(form))?.send().await
    }

    fn add_reply(&mut self, name: &str, reply: &Reply, changing: &str) {
        let html = String::from_utf8_lossy(&reply.body);
        let body = html.split_once("<main>").map_or(&*html, |(_, body)| body);
        let mut text = visible_lines(body).join("\n  ");
        if !changing.is_empty() {
            text = text.replace(changing, "…");
        }
        let status = reply.status.as_u16();
        self.texts.push_str(&format!("{} {name} ({status})\n  {text}\n", self.language));
    }
}

/// The lines of text between the tags. Emphasis does not end a line.
fn visible_lines(html: &str) -> Vec<String> {
    let html = html.replace("<strong>", "").replace("</strong>", "");
    let between_tags = html.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    between_tags.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()).collect()
}

async fn add_sign_in(pages: &mut Pages<'_>, server: &Server) -> Result<()> {
    let visitor = server.client();
    pages.add("sign-in", &visitor, "/sign-in", "").await?;
    let email = format!("{}@example.test", pages.language);
    let form = [("email", email.as_str()), ("locale", pages.language)];
    let reply = pages.post(&visitor, "/sign-in/start", &form).await?;
    pages.add_reply("sign-in, code sent", &reply, "");
    let reply = pages.post(&visitor, "/sign-in/email", &[("email", &email), ("code", "abcdef")]).await?;
    pages.add_reply("sign-in, wrong code", &reply, "");
    let reply =
        pages.post(&visitor, "/sign-in/start", &[("email", "nobody"), ("locale", pages.language)]).await?;
    pages.add_reply("sign-in, no address", &reply, "");
    pages.add("sign-in, link", &visitor, "/sign-in/email?token=x", "").await?;
    let person = server.sign_in(&email).await?;
    pages.add("signed in, no workspace", &person, "/sign-in", "").await?;
    person.create_workspace("Tulpar").await?;
    pages.add("signed in", &person, "/sign-in", "").await
}

async fn add_device(pages: &mut Pages<'_>, server: &Server, person: &Client) -> Result<()> {
    pages.add("device", person, "/device", "").await?;
    pages.add("device, no such code", person, "/device?user_code=BCDF-GHJK", "").await?;
    let workspace = person.get("/v1/session").await?.string_at("/workspaceId")?;
    let login = json!({"client": "shell", "host": "laptop"});
    let code = server.client().post("/v1/cli/device", &login).await?.string_at("/userCode")?;
    pages.add("device, decision", person, &format!("/device?user_code={code}"), &code).await?;
    let form = [("user_code", code.as_str()), ("workspace_id", &workspace), ("access", "read")];
    let reply = pages.post(person, "/device/approve", &form).await?;
    pages.add_reply("device, approved", &reply, &code);
    let code = server.client().post("/v1/cli/device", &login).await?.string_at("/userCode")?;
    let reply = pages.post(person, "/device/deny", &[("user_code", &code)]).await?;
    pages.add_reply("device, denied", &reply, &code);
    Ok(())
}

async fn add_consent(pages: &mut Pages<'_>, person: &Client) -> Result<()> {
    let agent = person.register_agent("Helper").await?;
    let page = format!("/oauth/consent/{}", agent.start_authorization(&[]).await?);
    pages.add("consent", person, &page, "").await?;
    let reply = pages.post(person, &page, &[("decision", "deny")]).await?;
    assert_eq!(reply.status.as_u16(), 303, "{reply}");
    pages.add("consent, decided", person, &page, "").await
}

async fn add_invite(pages: &mut Pages<'_>, server: &Server, owner: &Client) -> Result<()> {
    let workspace = owner.get("/v1/session").await?.string_at("/workspaceId")?;
    let email = format!("bek.{}@example.test", pages.language);
    let invite = json!({"emails": [email], "role": "builder", "deliver": "link"});
    let sent = owner.post(&format!("/v1/workspaces/{workspace}/invites"), &invite).await?;
    let token = invite_token(&sent.string_at("/links/0/link")?)?;
    let page = format!("/invite/{token}");
    let next = format!("/sign-in?{}", encode_form(&[("next", &page)]));
    pages.add("invite, signed out", &server.client(), &next, "").await?;
    let stranger = server.sign_in("stranger@example.test").await?;
    pages.add("invite, of another address", &stranger, &page, "").await?;
    let invited = server.sign_in(&email).await?;
    pages.add("invite", &invited, &page, "").await?;
    let reply = pages.post(&invited, &page, &[]).await?;
    assert_eq!(reply.status.as_u16(), 303, "{reply}");
    pages.add("invite, accepted", &invited, &page, "").await?;
    let (last, start) = token.chars().next_back().zip(token.get(..token.len() - 1)).context("a token")?;
    let unknown = format!("/invite/{start}{}", if last == 'a' { 'b' } else { 'a' });
    pages.add("invite, unknown", &invited, &unknown, "").await
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn the_texts_are_as_they_were_reviewed(server: Server) -> Result<()> {
        let mut texts = String::new();
        for language in LANGUAGES {
            let mut pages = Pages { language, texts: &mut texts };
            add_sign_in(&mut pages, &server).await?;
            let owner = server.sign_in(&format!("owner.{language}@example.test")).await?;
            owner.create_workspace("Tulpar").await?;
            add_device(&mut pages, &server, &owner).await?;
            add_consent(&mut pages, &owner).await?;
            add_invite(&mut pages, &server, &owner).await?;
        }
        tests::compare_snapshot("page_texts.txt", &texts)
    }
}
