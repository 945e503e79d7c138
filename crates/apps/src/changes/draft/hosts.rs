//! Hosts.

use super::{Draft, Note, Step};
use crate::manifest::{EgressMethod, EgressPermission};

impl Draft<'_> {
    pub(super) fn allow_host(&mut self, host: String, methods: Vec<EgressMethod>, has_path: bool) {
        let egress = &mut self.manifest.permissions.egress;
        let known = egress.iter_mut().find(|known| known.host == host);
        match known {
            None => {
                let methods = (!methods.is_empty()).then(|| methods.clone());
                egress.push(EgressPermission::new(host.clone(), methods));
            }
            Some(EgressPermission { methods: Some(known), .. })
                if !methods.is_empty() && methods.iter().any(|method| !known.contains(method)) =>
            {
                let missing: Vec<_> =
                    methods.iter().filter(|method| !known.contains(method)).copied().collect();
                known.extend(missing);
            }
            Some(EgressPermission { methods: known @ Some(_), .. }) if methods.is_empty() => *known = None,
            Some(_) => {
                self.notes.push(Note::Already(host));
                return;
            }
        }
        if has_path {
            self.notes.push(Note::WholeHost(host.clone()));
        }
        self.steps.push(Step::AllowHost { host, methods });
    }

    pub(super) fn forbid_host(&mut self, host: String, methods: Vec<EgressMethod>) {
        let egress = &mut self.manifest.permissions.egress;
        let Some(at) = egress.iter().position(|known| known.host == host) else {
            self.notes.push(Note::Already(host));
            return;
        };
        let had = egress[at].methods.clone().unwrap_or_else(|| EgressMethod::ALL.to_vec());
        let mut left = had.clone();
        left.retain(|method| !methods.is_empty() && !methods.contains(method));
        if left == had {
            self.notes.push(Note::Already(host));
            return;
        }
        if left.is_empty() {
            egress.remove(at);
        } else {
            egress[at].methods = Some(left);
        }
        self.steps.push(Step::ForbidHost { host, methods });
    }
}
