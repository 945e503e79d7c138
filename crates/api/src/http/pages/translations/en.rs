//! English.

use kernel::authority::Role;

use super::{ErrorText, Translations};

pub(super) const TRANSLATIONS: Translations = Translations {
    roles,
    errors: refusals,
    name: "English",
    did_not_work: "That did not work",
    does_not_work: "This does not work",
    proceed: "Continue",
    to_sign_in: "Back to sign-in",
    other_account: "Use another account",
    console: "Console",
    console_needs_javascript: "The console needs JavaScript. Turn it on, or use the API and the pages without script.",
    console_missing_title: "The console is not in this build",
    console_missing: "This server was built without the web console. Everything else works.",
    console_missing_next: "To get the console, install Node.js 20 or newer and npm, then build the server again with “cargo build --release”.",
    sign_in: "Sign in",
    sign_in_question: "Sign in?",
    email: "E-mail address",
    send_code: "Send me a code",
    sign_in_with: "Sign in with {0}",
    dev_note: "This server is for development: any address may sign in, without a code.",
    dev_button: "Sign in without a code",
    code_sent: "We have sent a code to {0}. It is valid for 10 minutes.",
    code: "Code",
    resend: "Send a new code",
    other_address: "Use another e-mail address",
    signed_in: "Signed in",
    signed_in_as: "You are signed in as {0}.",
    workspaces: "Your workspaces",
    no_workspaces: "You do not have a workspace yet.",
    reference: "API reference",
    sign_out: "Sign out",
    device: "Connect a command line",
    device_code: "Enter the code that your command line shows.",
    device_question: "Connect {0}?",
    device_intro: "A command line requests permission to act for you. Continue only if you started it yourself a moment ago, and it shows this code:",
    program: "Program",
    machine: "Machine",
    not_said: "not given",
    asked_from: "Requested from",
    unknown: "unknown",
    asked: "Requested",
    just_now: "less than a minute ago",
    minutes_ago: "{0} min ago",
    may: "It may",
    read_and_change: "read and change",
    read: "read",
    token: "Its token",
    for_days: "{0}, for {1} days",
    nowhere: "You do not have a workspace yet, so there is nothing to give access to.",
    workspace: "Workspace",
    access: "Access",
    access_asked: "Read and change, as requested",
    access_read: "Read only",
    allow: "Allow",
    refuse: "Refuse",
    done: "Done",
    let_in: "{0} is connected. You can close this page.",
    was_refused: "The request was refused. You can close this page.",
    consent_question: "Allow {0} to act for you?",
    consent_asks: "{0} requests permission to act for you in Qala.",
    who: "Who",
    owner_proved: "{0}, verified by {1}",
    proved: "Verified by {0}",
    not_proved: "Not verified: the program chose its own name",
    says_it_is_of: "Claims to be from",
    answered_at: "Response goes to",
    you: "You",
    local_warning: "The response goes to a program on this device. Continue only if you have just started that program yourself.",
    name_warning: "Anybody can give a program any name. Check where the response goes.",
    what_it_may: "What it may do",
    look: "Read what you can see",
    look_and_change: "Read, and change what you can change",
    revoke_any_time: "You can revoke access at any time.",
    over: "This request has ended",
    over_why: "There is nothing to decide here: the request is already decided, or it has expired.",
    over_next: "Start again in the program that sent you here.",
    nothing_allowed: "Nothing was allowed. You can close this page.",
    too_long: "The address is too long.",
    unknown_client: "This server does not know the program that sent you here, or no longer does. In that program, remove the saved connection to this server, then connect again.",
    unreadable_client: "The description of the program that sent you here cannot be read now. Try again in a minute. If it stays so, tell the maker of the program.",
    foreign_redirect: "The program that sent you here requests the response at an address that is not its own.",
    join: "Join {0}",
    invites_you: "{0} invites you to the workspace {1}. Your role: {2}.",
    you_are_invited: "You are invited to the workspace {1}. Your role: {2}.",
    access_ends: "Your access would end on {0}.",
    accept: "Accept the invite",
    with_that_address: "Use the e-mail address that the invite was sent to.",
    you_are_in: "You have joined",
    accepted: "You have accepted this invite.",
    is_open: "The workspace {0} is open in this browser.",
    invite_gone: "This invite does not exist",
    invite_gone_why: "The invite was revoked, replaced by a newer one, or the link is incomplete.",
    invite_gone_next: "Ask whoever invited you to send it again.",
    invite_refused: "The invite cannot be accepted",
    form_received: "Thank you",
    form_received_text: "What you sent has arrived. You can close this page.",
};

fn roles(role: Role) -> &'static str {
    match role {
        Role::Owner => "owner",
        Role::Admin => "admin",
        Role::Builder => "builder",
        Role::Member => "member",
        Role::Viewer => "viewer",
    }
}

fn refusals(code: &str) -> Option<ErrorText> {
    Some(match code {
        "invalid_code" => (
            "The code or link is wrong or no longer valid.",
            "Check the code and try again, or ask for a new one. After five wrong codes you need a new one.",
        ),
        "invalid_email" => ("This is not a valid e-mail address.", "Check the address and try again."),
        "rate_limited" => ("Too many attempts.", "Wait a minute, then try again."),
        "device_login_not_found" => {
            ("There is no such code.", "Check the code, or start again on the command line.")
        }
        "device_login_over" => {
            ("This login is already decided, or has expired.", "Start again on the command line.")
        }
        "wrong_address" => (
            "This invite is for another e-mail address.",
            "Sign in with the address that the invite was sent to.",
        ),
        "invite_expired" => ("The invite has expired.", "Ask whoever invited you to send it again."),
        "invite_accepted" => ("The invite is already accepted.", ""),
        "invite_withdrawn" => (
            "The invite is no longer valid: whoever sent it can no longer invite people.",
            "Ask an admin of the workspace for a new invite.",
        ),
        "email_not_verified" => (
            "The sign-in service does not vouch for your e-mail address.",
            "Sign in with a code by e-mail instead.",
        ),
        "sign_in_over" => ("This sign-in has ended, or was started in another browser.", "Start again."),
        "provider_refused" => ("The response of the sign-in service was refused.", "Start again."),
        "provider_cancelled" => (
            "You cancelled the sign-in at the sign-in service.",
            "Start again. If you did not cancel it, the sign-in service does not let you in: ask its administrator.",
        ),
        "provider_denied" => (
            "The sign-in service refused the sign-in: {0}.",
            "Start again in a moment. If it happens again, show this message to the administrator of this server.",
        ),
        "provider_error" => (
            "The sign-in service refused the sign-in.",
            "Start again in a moment. If it happens again, show this message to the administrator of this server.",
        ),
        "provider_unavailable" => (
            "The sign-in service does not respond.",
            "Try again in a moment, or sign in with a code by e-mail.",
        ),
        "provider_misconfigured" => (
            "The sign-in service cannot be used: {0}.",
            "Try again later. If the message stays the same, show it to the administrator of this server. You can also sign in with a code by e-mail.",
        ),
        "workspace_not_found" => ("There is no such workspace, or you may not see it.", ""),
        "too_many_tokens" => {
            ("You have 100 active tokens in this workspace.", "Revoke tokens that you no longer use.")
        }
        "insufficient_scope" => ("The request asks for more than you may allow.", ""),
        "forbidden" => ("This page is not allowed to do that.", "Load the page again and try once more."),
        "authorization_not_found" => {
            ("There is nothing to decide here.", "Start again in the program that sent you here.")
        }
        "authorization_decided" => {
            ("This request is already decided.", "Start again in the program that sent you here.")
        }
        "unavailable" => ("Qala is not available right now.", "Try again in a moment."),
        "internal" => ("Something went wrong on our side.", "Try again in a moment."),
        _ => return None,
    })
}
