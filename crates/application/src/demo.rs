//! A webhook call with which to try the server, for someone who starts it on their own machine for the first time.

use identity::{Email, sessions::SignInClient, sign_in::dev_sign_in};
use kernel::{Caller, Id, page::PageRequest};
use runs::{
    TriggerKind,
    webhooks::{Proof, Webhook, proof},
};
use workspace::workspaces::{CreateWorkspace, Profile, TeamSize};

use crate::{Application, Problem, sample_data, unit};

/// Person whose workspace is called.
const DEVELOPER: &str = "dev@localhost.localdomain";
const BODY: &str = r#"{"title":"Hello from the terminal"}"#;

/// Signed call of the webhook of a workspace's sample data. The signature is valid for five minutes and for one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DemoCall {
    /// E-mail address with which to sign in and see the run.
    pub email: String,
    /// URL of the webhook.
    pub url: String,
    /// Header with the signature, as `name: value`.
    pub signature: String,
    /// JSON body.
    pub body: String,
}

impl Application {
    /// Signs a call of a webhook of the developer's first workspace, and creates the workspace if there is none.
    /// Returns `None` if no automation with a webhook is left, or its proof is no longer a signature.
    ///
    /// # Errors
    /// [`Problem`] if a use case refuses or the store fails.
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
        // Only needed to act as the developer: nobody has its cookie.
        self.transaction(unit!(|tx| identity::sessions::end_session(tx, &ctx, session.session).await))
            .await?;

        let Some(workspace) = workspaces.first() else { return Ok(None) };
        let member = self.member(&ctx, &workspace.id.to_string()).await?;
        let page = PageRequest { limit: 200, after: None };
        let automations = self.store().automations(workspace.id, member.visibility(), None, page).await?;
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
