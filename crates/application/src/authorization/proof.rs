//! Proofs of authority as the result of a check: an operation names the proof that it needs, and gets it or a refusal.

use std::{future::Future, marker::PhantomData};

use imports::imports::Import;
use kernel::{
    Context,
    authority::{
        Admin, AppAccess, AppAdmin, AppCreator, AppRight, AppRightName, AuthorityError, Builder, Member,
        Owner, Right, Role,
    },
    id::{AutomationId, ChangeId, DeadLetterId, GateId, ImportId, RunId},
};
use projects::{
    ProjectAccess, ProjectRight,
    access::{Edit, Own},
};

use super::Requirement;
use crate::{Application, Problem, ProblemKind};

/// Proof of the caller's authority over the object with an id.
pub trait Proof: Sized + Send {
    /// Right that is proved.
    const REQUIREMENT: Requirement;

    /// Checks the caller's right and makes the proof.
    ///
    /// # Errors
    /// 404 if there is no such object or the caller may not see it; 403 if they may see it but lack the right; a
    /// [`Problem`] if the store fails.
    fn prove(
        app: &Application,
        ctx: &Context,
        id: &str,
    ) -> impl Future<Output = Result<Self, Problem>> + Send;

    /// Returns the role that the proof found; `None` if it is deferred.
    fn proven_role(&self) -> Option<Role>;

    /// Makes the proof again, for what this one is used for after a wait.
    ///
    /// # Errors
    /// Those of [`Self::prove`]; 403 `forbidden` if the caller has less than the `role` that the first proof found, by which an
    /// operation may allow more than it requires.
    fn prove_again(
        app: &Application,
        ctx: &Context,
        id: &str,
        role: Option<Role>,
    ) -> impl Future<Output = Result<(), Problem>> + Send {
        async move {
            let found = Self::prove(app, ctx, id).await?.proven_role();
            let is_lowered = role.zip(found).is_some_and(|(role, found)| !found.at_least(role));
            if is_lowered {
                let message = "Your role in the workspace was changed while the request was being sent.";
                return Err(Problem::forbidden("forbidden", message).hint("Send the request again."));
            }
            Ok(())
        }
    }
}

/// Proof about an object that the body names: the operation declares the requirement, and makes the proof after it has
/// read the body.
#[derive(Debug)]
pub struct Deferred<P>(PhantomData<fn() -> P>);

impl<P> Default for Deferred<P> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<P: Proof> Deferred<P> {
    /// Makes the proof; see [`Proof::prove`].
    ///
    /// # Errors
    /// As [`Proof::prove`].
    pub async fn prove(&self, app: &Application, ctx: &Context, id: &str) -> Result<P, Problem> {
        P::prove(app, ctx, id).await
    }
}

impl<P: AppProof> Deferred<P> {
    /// Makes the proof from the caller's rights on the app.
    ///
    /// # Errors
    /// [`AuthorityError::AppRightRequired`] if the right is missing.
    pub fn require(&self, access: AppAccess) -> Result<P, AuthorityError> {
        P::from_access(access)
    }
}

impl<P: Proof> Proof for Deferred<P> {
    const REQUIREMENT: Requirement = P::REQUIREMENT;

    async fn prove(_: &Application, _: &Context, _: &str) -> Result<Self, Problem> {
        Ok(Self::default())
    }

    fn proven_role(&self) -> Option<Role> {
        None
    }
}

/// Membership of the workspace in the path, with a deferred proof about an object in the body.
impl<P: Proof> Proof for (Member, Deferred<P>) {
    const REQUIREMENT: Requirement = P::REQUIREMENT;

    async fn prove(app: &Application, ctx: &Context, id: &str) -> Result<Self, Problem> {
        Ok((app.member(ctx, id).await?, Deferred::default()))
    }

    fn proven_role(&self) -> Option<Role> {
        Some(self.0.role())
    }
}

impl Proof for Member {
    const REQUIREMENT: Requirement = Requirement::Role(Role::Member);

    async fn prove(app: &Application, ctx: &Context, id: &str) -> Result<Self, Problem> {
        app.member(ctx, id).await
    }

    fn proven_role(&self) -> Option<Role> {
        Some(self.role())
    }
}

impl Proof for Builder {
    const REQUIREMENT: Requirement = Requirement::Role(Role::Builder);

    async fn prove(app: &Application, ctx: &Context, id: &str) -> Result<Self, Problem> {
        Ok(app.member(ctx, id).await?.require_builder()?)
    }

    fn proven_role(&self) -> Option<Role> {
        Some(self.role())
    }
}

impl Proof for AppCreator {
    const REQUIREMENT: Requirement = Requirement::Role(Role::Member);

    async fn prove(app: &Application, ctx: &Context, id: &str) -> Result<Self, Problem> {
        Ok(app.member(ctx, id).await?.require_importer()?)
    }

    fn proven_role(&self) -> Option<Role> {
        Some(self.role())
    }
}

impl Proof for Admin {
    const REQUIREMENT: Requirement = Requirement::Role(Role::Admin);

    async fn prove(app: &Application, ctx: &Context, id: &str) -> Result<Self, Problem> {
        Ok(app.member(ctx, id).await?.require_admin()?)
    }

    fn proven_role(&self) -> Option<Role> {
        Some(self.role())
    }
}

impl Proof for Owner {
    const REQUIREMENT: Requirement = Requirement::Role(Role::Owner);

    async fn prove(app: &Application, ctx: &Context, id: &str) -> Result<Self, Problem> {
        Ok(app.member(ctx, id).await?.require_owner()?)
    }

    fn proven_role(&self) -> Option<Role> {
        Some(self.role())
    }
}

/// Admin of the gate's workspace.
impl Proof for (GateId, Admin) {
    const REQUIREMENT: Requirement = Requirement::Role(Role::Admin);

    async fn prove(app: &Application, ctx: &Context, id: &str) -> Result<Self, Problem> {
        let (gate, member) = app.gate(ctx, id).await?;
        Ok((gate, member.require_admin()?))
    }

    fn proven_role(&self) -> Option<Role> {
        Some(self.1.role())
    }
}

/// Authority over an object that may be deleted, to restore it. A deleted object is visible only to those who may restore
/// it.
#[derive(Debug)]
pub struct Restorable<P>(pub P);

impl Proof for Restorable<Owner> {
    const REQUIREMENT: Requirement = Owner::REQUIREMENT;

    async fn prove(app: &Application, ctx: &Context, id: &str) -> Result<Self, Problem> {
        match app.member(ctx, id).await {
            Ok(member) => Ok(Self(member.require_owner()?)),
            Err(problem) if problem.kind == ProblemKind::NotFound => {
                Ok(Self(app.owner_of_deleted(ctx, id).await?))
            }
            Err(problem) => Err(problem),
        }
    }

    fn proven_role(&self) -> Option<Role> {
        Some(self.0.role())
    }
}

impl Proof for ProjectAccess {
    const REQUIREMENT: Requirement = Requirement::ViewProject;

    async fn prove(app: &Application, ctx: &Context, id: &str) -> Result<Self, Problem> {
        app.project(ctx, id).await
    }

    fn proven_role(&self) -> Option<Role> {
        Some(self.member().role())
    }
}

impl Proof for ProjectRight<Edit> {
    const REQUIREMENT: Requirement = Requirement::EditProject;

    async fn prove(app: &Application, ctx: &Context, id: &str) -> Result<Self, Problem> {
        Ok(app.project(ctx, id).await?.require()?)
    }

    fn proven_role(&self) -> Option<Role> {
        Some(self.member().role())
    }
}

impl Proof for ProjectRight<Own> {
    const REQUIREMENT: Requirement = Requirement::OwnProject;

    async fn prove(app: &Application, ctx: &Context, id: &str) -> Result<Self, Problem> {
        Ok(app.project(ctx, id).await?.require()?)
    }

    fn proven_role(&self) -> Option<Role> {
        Some(self.member().role())
    }
}

impl Proof for Restorable<ProjectRight<Own>> {
    const REQUIREMENT: Requirement = Requirement::OwnProject;

    async fn prove(app: &Application, ctx: &Context, id: &str) -> Result<Self, Problem> {
        match app.project(ctx, id).await {
            Ok(access) => Ok(Self(access.require()?)),
            Err(problem) if problem.kind == ProblemKind::NotFound => {
                Ok(Self(app.owner_of_deleted_project(ctx, id).await?))
            }
            Err(problem) => Err(problem),
        }
    }

    fn proven_role(&self) -> Option<Role> {
        Some(self.0.member().role())
    }
}

/// Proof about an app, independent of how the app is found.
pub trait AppProof: Sized + Send {
    /// Right that is proved.
    const RIGHT: AppRightName;

    /// Makes the proof from the caller's rights on the app.
    ///
    /// # Errors
    /// [`AuthorityError::AppRightRequired`] if the right is missing.
    fn from_access(access: AppAccess) -> Result<Self, AuthorityError>;

    /// Returns the rights on the app from which the proof was made.
    fn access(&self) -> &AppAccess;
}

impl AppProof for AppAccess {
    const RIGHT: AppRightName = AppRightName::CanView;

    fn from_access(access: AppAccess) -> Result<Self, AuthorityError> {
        Ok(access)
    }

    fn access(&self) -> &AppAccess {
        self
    }
}

impl<R: Right + Send> AppProof for AppRight<R> {
    const RIGHT: AppRightName = R::NAME;

    fn from_access(access: AppAccess) -> Result<Self, AuthorityError> {
        access.require()
    }

    fn access(&self) -> &AppAccess {
        self
    }
}

impl Proof for AppAccess {
    const REQUIREMENT: Requirement = Requirement::App(AppRightName::CanView);

    async fn prove(app: &Application, ctx: &Context, id: &str) -> Result<Self, Problem> {
        app.app(ctx, id).await
    }

    fn proven_role(&self) -> Option<Role> {
        Some(self.member().role())
    }
}

impl<R: Right + Send> Proof for AppRight<R> {
    const REQUIREMENT: Requirement = Requirement::App(R::NAME);

    async fn prove(app: &Application, ctx: &Context, id: &str) -> Result<Self, Problem> {
        Ok(app.app(ctx, id).await?.require()?)
    }

    fn proven_role(&self) -> Option<Role> {
        Some(self.member().role())
    }
}

/// Admin of the workspace of an app that the caller may view.
impl Proof for AppAdmin {
    const REQUIREMENT: Requirement = Requirement::Role(Role::Admin);

    async fn prove(app: &Application, ctx: &Context, id: &str) -> Result<Self, Problem> {
        Ok(app.app(ctx, id).await?.require_admin()?)
    }

    fn proven_role(&self) -> Option<Role> {
        Some(self.member().role())
    }
}

/// Proofs of a right on the app that an object belongs to.
macro_rules! objects_of_apps {
    ($($id:ty: $find:ident),+ $(,)?) => {$(
        impl<A: AppProof> Proof for ($id, A) {
            const REQUIREMENT: Requirement = Requirement::App(A::RIGHT);

            async fn prove(app: &Application, ctx: &Context, id: &str) -> Result<Self, Problem> {
                let (id, access) = app.$find(ctx, id).await?;
                Ok((id, A::from_access(access)?))
            }

            fn proven_role(&self) -> Option<Role> {
                Some(self.1.access().member().role())
            }
        }
    )+};
}

objects_of_apps!(AutomationId: automation, DeadLetterId: dead_letter, ImportId: import_of_app, RunId: run);

/// An import that the caller made, or of a workspace of which they are an admin.
impl Proof for (Import, Member) {
    const REQUIREMENT: Requirement = Requirement::ImportMaker;

    async fn prove(app: &Application, ctx: &Context, id: &str) -> Result<Self, Problem> {
        app.import(ctx, id).await
    }

    fn proven_role(&self) -> Option<Role> {
        Some(self.1.role())
    }
}

/// A planned change of the caller's.
impl<A: AppProof> Proof for (ChangeId, A) {
    const REQUIREMENT: Requirement = Requirement::PlanOwner;

    async fn prove(app: &Application, ctx: &Context, id: &str) -> Result<Self, Problem> {
        let (id, access) = app.change(ctx, id).await?;
        Ok((id, A::from_access(access)?))
    }

    fn proven_role(&self) -> Option<Role> {
        Some(self.1.access().member().role())
    }
}
