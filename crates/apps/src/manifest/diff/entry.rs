//! The entries of a manifest that are compared with each other, and which of them allows what another one does.

use std::collections::BTreeSet;

use crate::manifest::{
    AiPermission, AiProfile, ConnectorPermission, CredentialHeader, DataAccess, DataPermission,
    EgressPermission, ManifestTrigger, Permissions, SecretPermission,
};

/// An entry of a manifest that is compared with others of its subject.
pub(super) trait Entry {
    /// Name of the entry among those of its subject.
    fn name(&self) -> String;
    /// Terms, as people read them.
    fn terms(&self) -> String;
    /// Returns `true` if this entry allows all that the other one allows.
    fn covers(&self, other: &Self) -> bool;
}

/// Returns `true` if a list, of which none means everything, has all of another.
fn covers_list<T: PartialEq>(own: Option<&[T]>, wanted: Option<&[T]>) -> bool {
    own.is_none_or(|own| wanted.is_some_and(|wanted| wanted.iter().all(|it| own.contains(it))))
}

fn sorted<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(", ")
}

impl Entry for EgressPermission {
    fn name(&self) -> String {
        self.host.clone()
    }

    fn terms(&self) -> String {
        // No name when all methods are allowed.
        sorted(self.methods.iter().flatten().map(|method| method.as_str()))
    }

    /// Headers are compared on their own: whoever agrees to a host does not agree to credentials for it.
    fn covers(&self, other: &Self) -> bool {
        self.host == other.host && covers_list(self.methods.as_deref(), other.methods.as_deref())
    }
}

/// The headers with credentials that code may set in requests to a host.
pub(super) struct HostHeaders<'a> {
    host: &'a str,
    headers: &'a [CredentialHeader],
}

impl<'a> HostHeaders<'a> {
    /// Returns those of each host that has any.
    pub(super) fn all(permissions: &'a Permissions) -> Vec<Self> {
        let with_headers = permissions.egress.iter().filter(|egress| !egress.headers.is_empty());
        with_headers.map(|egress| Self { host: &egress.host, headers: &egress.headers }).collect()
    }
}

impl Entry for HostHeaders<'_> {
    fn name(&self) -> String {
        self.host.to_owned()
    }

    fn terms(&self) -> String {
        sorted(self.headers.iter().map(|header| header.as_str()))
    }

    fn covers(&self, other: &Self) -> bool {
        self.host == other.host && other.headers.iter().all(|header| self.headers.contains(header))
    }
}

impl Entry for DataPermission {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn terms(&self) -> String {
        let access = match self.access {
            DataAccess::Read => "read",
            DataAccess::Write => "write",
        };
        let tables = match &self.tables {
            Some(tables) => format!(" {}", tables.join(", ")),
            None => String::new(),
        };
        format!("{access} {}{tables}", self.project_id)
    }

    fn covers(&self, other: &Self) -> bool {
        let access = self.access == DataAccess::Write || other.access == DataAccess::Read;
        self.project_id == other.project_id
            && access
            && covers_list(self.tables.as_deref(), other.tables.as_deref())
    }
}

impl Entry for ConnectorPermission {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn terms(&self) -> String {
        let paths = self.paths.as_deref().unwrap_or_default().join(", ");
        let methods = sorted(self.methods.iter().flatten().map(|method| method.as_str()));
        let parts = [self.connection_id.to_string(), methods, paths];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
    }

    fn covers(&self, other: &Self) -> bool {
        ConnectorPermission::covers(self, other)
    }
}

impl Entry for SecretPermission {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn terms(&self) -> String {
        if self.clear {
            return "clear".to_owned();
        }
        sorted(self.uses.as_deref().unwrap_or_default().iter().map(|known| known.as_str()))
    }

    /// The value itself does not cover uses: the code gets it only if the admin allows that too.
    fn covers(&self, other: &Self) -> bool {
        self.name == other.name
            && (self.clear || !other.clear)
            && covers_list(self.uses.as_deref(), other.uses.as_deref())
    }
}

impl Entry for AiPermission {
    fn name(&self) -> String {
        String::new()
    }

    fn terms(&self) -> String {
        let profile = match self.profile {
            AiProfile::Standard => None,
            AiProfile::Private => Some("private".to_owned()),
        };
        let models = Some(self.models.join(", ")).filter(|models| !models.is_empty());
        let parts = [profile, Some(format!("{} USD", self.monthly_budget_usd)), models];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    fn covers(&self, other: &Self) -> bool {
        let profile = self.profile == AiProfile::Standard || other.profile == AiProfile::Private;
        profile && self.monthly_budget_usd >= other.monthly_budget_usd && self.covers_models(other)
    }
}

impl AiPermission {
    /// Returns `true` if this permission names all models of the other one. No name is covered by no name alone: it stands for
    /// the models of the profile.
    fn covers_models(&self, other: &Self) -> bool {
        self.models.is_empty() == other.models.is_empty()
            && other.models.iter().all(|model| self.models.contains(model))
    }
}

impl Entry for ManifestTrigger {
    fn name(&self) -> String {
        match self {
            Self::Schedule { cron: Some(cron), .. } => format!("schedule {cron}"),
            Self::Schedule { cron: None, .. } => "schedule".to_owned(),
            Self::Webhook {} => "webhook".to_owned(),
            Self::Form {} => "form".to_owned(),
            Self::Manual {} => "manual".to_owned(),
            Self::Event { event: Some(event) } => format!("event {event}"),
            Self::Event { event: None } => "event".to_owned(),
        }
    }

    fn terms(&self) -> String {
        String::new()
    }

    fn covers(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}
