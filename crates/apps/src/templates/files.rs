//! The embedded files of the templates.

/// The files of a template's folder.
pub(super) struct TemplateFiles {
    pub(super) id: &'static str,
    pub(super) template: &'static str,
    pub(super) main: &'static str,
}

macro_rules! folders {
    ($($id:literal)*) => {
        &[$(TemplateFiles {
            id: $id,
            template: include_str!(concat!("../../templates/", $id, "/template.toml")),
            main: include_str!(concat!("../../templates/", $id, "/main.js")),
        }),*]
    };
}

/// Every folder of `templates/`, but `shared`.
pub(super) const FILES: &[TemplateFiles] = folders! {
    "approval-flow"
    "booking-page"
    "csv-cleaner"
    "daily-report"
    "form-to-table"
    "github-issues-to-chat"
    "invoice-reminder"
    "payments-to-table"
    "rss-to-chat"
    "short-links"
    "status-board"
    "support-mail"
    "uptime-check"
};

/// Name and source of each file of `templates/shared/`.
pub(super) const SHARED: &[(&str, &str)] = &[
    ("chat", include_str!("../../templates/shared/chat.js")),
    ("mail", include_str!("../../templates/shared/mail.js")),
    ("page", include_str!("../../templates/shared/page.js")),
];
