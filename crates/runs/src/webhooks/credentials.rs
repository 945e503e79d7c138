//! Minting the secrets of webhooks.

use kernel::{
    Context,
    id::{HookId, WorkspaceId},
    token::{self, Peppers, TokenHint, TokenKind},
    vault::Vault,
};
use secrecy::{ExposeSecret as _, SecretString};

use super::{FormSettings, Proof, ProofMode, SealedSecret, TokenDigest, Webhook};

/// Keys that seal and digest secrets.
#[derive(Debug, Clone, Copy)]
pub struct CredentialKeys<'a> {
    /// Seals secrets that are needed to verify signatures.
    pub vault: &'a Vault,
    /// Digests tokens.
    pub peppers: &'a Peppers,
}

/// A webhook and its new secret, which is shown only now.
#[derive(Debug)]
pub struct WebhookWithSecret {
    /// Webhook with its settings.
    pub webhook: Webhook,
    /// New secret or token; `None` if the secret is unchanged or the mode has none.
    pub secret: Option<SecretString>,
}

/// Returns a proof of this mode with a new secret or token, and the secret or token itself if the mode has one.
pub(super) fn new_proof(
    ctx: &Context,
    keys: CredentialKeys<'_>,
    workspace: WorkspaceId,
    hook: HookId,
    mode: ProofMode,
) -> (Proof, Option<SecretString>) {
    let seal = |secret: &SecretString| {
        let owner = Webhook::secret_owner(workspace, hook);
        let owner: Vec<&str> = owner.iter().map(String::as_str).collect();
        SealedSecret {
            sealed: keys.vault.seal(ctx.random(), &owner, secret),
            hint: TokenHint::of(TokenKind::HookSecret, secret).to_string(),
        }
    };
    let mint_token = || {
        let token = token::mint(TokenKind::HookToken, ctx.random());
        let digest = keys.peppers.digest(token.expose_secret());
        let hint = TokenHint::of(TokenKind::HookToken, &token).to_string();
        (TokenDigest { digest, hint }, token)
    };
    match mode {
        ProofMode::Signed => {
            let secret = token::mint(TokenKind::HookSecret, ctx.random());
            (Proof::Signed(seal(&secret)), Some(secret))
        }
        ProofMode::CodeHost => {
            let secret = token::mint(TokenKind::HookSecret, ctx.random());
            (Proof::CodeHost(seal(&secret)), Some(secret))
        }
        ProofMode::Token => {
            let (digest, token) = mint_token();
            (Proof::Token(digest), Some(token))
        }
        ProofMode::Messenger => {
            let (digest, token) = mint_token();
            (Proof::Messenger(digest), Some(token))
        }
        ProofMode::Form => (Proof::Form(FormSettings::default()), None),
        ProofMode::None => (Proof::None, None),
    }
}
