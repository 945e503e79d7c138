//! The time of a response must not reveal whether a credential exists.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use tests::Client;

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const ROUNDS: usize = 400;

/// Returns a well-formed token: a body with its checksum, which anybody can compute.
fn with_checksum(body: &str) -> String {
    let mut crc = u32::MAX;
    for byte in body.bytes() {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
        }
    }
    let mut rest = !crc;
    let mut check = [b'0'; 6];
    for slot in check.iter_mut().rev() {
        *slot = BASE62[(rest % 62) as usize];
        rest /= 62;
    }
    format!("{body}{}", String::from_utf8_lossy(&check))
}

/// Returns three characters that are unique for a number.
fn suffix(number: usize) -> String {
    [number / 3844 % 62, number / 62 % 62, number % 62].map(|at| char::from(BASE62[at])).iter().collect()
}

async fn time_rejection(visitor: &Client, token: &str) -> Result<Duration> {
    let bearer = visitor.with_bearer(token);
    let since = Instant::now();
    let reply = bearer.get("/v1/tokens/self").await?;
    let took = since.elapsed();
    reply.assert_error(401, "unauthorized");
    Ok(took)
}

fn median(mut took: Vec<Duration>) -> Duration {
    took.sort();
    took[took.len() / 2]
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn a_nearly_correct_token_takes_as_long_as_any_other(server: Server) -> Result<()> {
        let person = server.sign_in("aigerim@example.test").await?;
        let workspace = person.create_workspace("Tulpar").await?;
        let token = person.create_token(&workspace.id, &["read"]).await?;
        let body = &token[..34];
        assert_eq!(with_checksum(body), token, "the checksum must be the documented one");
        let visitor = server.client();
        let (mut near, mut far) = (Vec::new(), Vec::new());
        // Alternating, so that other load on the machine affects both.
        for number in 0..ROUNDS {
            let almost = with_checksum(&format!("{}{}", &body[..31], suffix(number)));
            if almost != token {
                near.push(time_rejection(&visitor, &almost).await?);
            }
            let start = if body.starts_with("qat_0") { "qat_1" } else { "qat_0" };
            let other = with_checksum(&format!("{start}{}{}", &"0".repeat(26), suffix(number)));
            far.push(time_rejection(&visitor, &other).await?);
        }
        let (near, far) = (median(near), median(far));
        let ratio = near.as_secs_f64() / far.as_secs_f64();
        assert!((0.6..1.6).contains(&ratio), "nearly correct {near:?}, wrong {far:?}");
        // The token itself is valid.
        visitor.with_bearer(&token).get("/v1/tokens/self").await?.ok().context("the token").map(drop)
    }
}
