//! A call to try the server with, for whoever starts it on their own machine for the first time.

use identity::{Email, sessions::SignInClient, sign_in::dev_sign_in};
use kernel::{Caller, Id, Problem, page::PageRequest};
use runs::{
    TriggerKind,
    webhooks::{Proof, Webhook, proof},
};
use workspace::workspaces::{CreateWorkspace, Profile, TeamSize};

use crate::{Application, sample_data, unit};

/// Whose workspace the call is about.
const DEVELOPER: &str = "dev@localhost.localdomain";
const BODY: &str = r#"{"title":"Hello from the terminal"}"#;

/// A signed call of a starter road's webhook. The signature is good for five minutes, and once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DemoCall {
    /// Who signs in to see what it did.
    pub email: String,
    /// Where it goes.
    pub url: String,
    /// The header that proves it.
    pub signature: String,
    /// What it carries.
    pub body: String,
}

impl Application {
    /// Makes sure that the developer has a workspace, and signs a call of its road. None when its road, webhook or
    /// secret is not as it came.
    ///
    /// # Errors
    /// What the store says.
    pub async fn demo_call(&self) -> Result<Option<DemoCall>, Problem> {
        let now = self.now();
        let ctx = |caller| self.context_at(now, caller, Id::generate(self.random(), now), None);
        let email: Email = DEVELOPER.parse()?;
        let system = ctx(Caller::System("first-start"));
        let opened = self
            .transaction(unit!(|tx| dev_sign_in(
                tx,
                &system,
                self.peppers(),
                &email,
                Some("Developer"),
                &SignInClient::default(),
            )
            .await))
            .await?;
        let session = opened.session.caller(now).ok_or_else(Problem::unauthorized)?;
        let ctx = ctx(Caller::Session(session.clone()));

        let mut workspaces = self.store().workspaces_of(session.user, now).await?;
        if workspaces.is_empty() {
            let project = sample_data::provision_rows(self, &ctx).await?;
            let input = CreateWorkspace {
                name: "My workspace".to_owned(),
                profile: Profile::Global,
                team_size: TeamSize::Solo,
                intents: Vec::new(),
                locale: None,
                timezone: None,
                currency: None,
                plan: self.settings().default_plan,
            };
            let created = self.transaction(unit!(|tx| {
                let workspace =
                    workspace::workspaces::create_workspace(tx, &ctx, session.user, input.clone()).await?;
                sample_data::seed(self, tx, &ctx, workspace.id, project).await?;
                Ok::<_, Problem>(())
            }));
            sample_data::or_deprovision(self, project, created.await).await?;
            workspaces = self.store().workspaces_of(session.user, now).await?;
        }
        // The session was only a way to act as the developer; nobody holds its cookie.
        self.transaction(unit!(|tx| identity::sessions::end_session(tx, &ctx, session.session).await))
            .await?;

        let Some(workspace) = workspaces.first() else { return Ok(None) };
        let member = self.member(&ctx, &workspace.id.to_string()).await?;
        let page = PageRequest { limit: 200, after: None };
        let automations = self.store().automations(workspace.id, member.visibility(), page).await?;
        let Some(automation) =
            automations.iter().rev().find(|automation| automation.trigger.kind() == TriggerKind::Webhook)
        else {
            return Ok(None);
        };
        let webhook = self.store().webhook(workspace.id, automation.id).await?;
        Ok(webhook.and_then(|webhook| self.sign_demo(&webhook, now)))
    }

    fn sign_demo(&self, webhook: &Webhook, now: kernel::Timestamp) -> Option<DemoCall> {
        let Proof::Signed(sealed) = &webhook.proof else { return None };
        let owner = Webhook::secret_owner(webhook.workspace, webhook.id);
        let owner: Vec<&str> = owner.iter().map(String::as_str).collect();
        let secret = self.vault().open(&owner, &sealed.sealed).ok()?;
        let time = now.timestamp().to_string();
        let mac = proof::sign(&secret, &time, BODY.as_bytes());
        let hex: String = mac.iter().map(|byte| format!("{byte:02x}")).collect();
        Some(DemoCall {
            email: DEVELOPER.to_owned(),
            url: format!("{}/v1/hooks/{}", self.settings().public_url, webhook.id),
            signature: format!("{}: t={time},v1={hex}", proof::SIGNATURE_HEADER),
            body: BODY.to_owned(),
        })
    }
}
