//! The decision on a redirect.

use super::{
    authorize::authorize_egress,
    connection::authorize_location,
    permit::{EgressPermit, PermitSource},
    refusal::{Refusal, RefusalCode},
};

impl EgressPermit {
    /// Decides on a redirect of this request. It must stay in the same origin, and where the code may set the same headers,
    /// and is checked like a new request.
    ///
    /// # Errors
    /// [`RefusalCode::RedirectDenied`] when it does not stay there; otherwise as [`authorize_egress`].
    pub fn follow_redirect(&self, location: &str) -> Result<Self, Refusal> {
        let denied = |what: &str| Refusal::new(RefusalCode::RedirectDenied, format!("the redirect {what}"));
        let next = self.url().join(location).map_err(|_| denied("is no URL"))?;
        if next.origin() != self.url().origin() {
            return Err(denied("leads to another host"));
        }
        let mut next = next;
        next.set_fragment(None);
        match self.source() {
            PermitSource::App { policy, .. } => {
                let permit = authorize_egress(next.as_str(), self.method().as_str(), policy)?;
                let known = permit.credential_headers();
                if self.credential_headers().iter().any(|header| !known.contains(header)) {
                    return Err(denied("leads to a path where the code may not set the same headers"));
                }
                Ok(permit)
            }
            PermitSource::Connection(policy) => authorize_location(&next, self.method(), policy),
            PermitSource::TokenEndpoint(_) => Err(denied("is of a token endpoint")),
        }
    }
}
