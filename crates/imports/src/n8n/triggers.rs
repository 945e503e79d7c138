//! Nodes that start a workflow.

use serde_json::Value;

use super::node::{Node, Nodes};
use crate::{
    Sentence, cron,
    workflow::{Start, Translation},
};

/// Services that can call a webhook with what the node gives.
const CALLERS: &[&str] = &[
    "telegramTrigger",
    "githubTrigger",
    "gitlabTrigger",
    "stripeTrigger",
    "typeformTrigger",
    "jotFormTrigger",
    "calendlyTrigger",
    "shopifyTrigger",
    "wooCommerceTrigger",
    "slackTrigger",
    "whatsAppTrigger",
    "hubspotTrigger",
    "calTrigger",
    "trelloTrigger",
    "jiraTrigger",
    "linearTrigger",
    "figmaTrigger",
    "facebookTrigger",
    "pipedriveTrigger",
    "asanaTrigger",
    "twilioTrigger",
    "webflowTrigger",
    "mailchimpTrigger",
    "boxTrigger",
    "paypalTrigger",
    "zendeskTrigger",
    "microsoftTeamsTrigger",
    "wiseTrigger",
];

/// Triggers that ask a service again and again.
const POLLERS: &[&str] = &[
    "gmailTrigger",
    "googleSheetsTrigger",
    "googleDriveTrigger",
    "googleCalendarTrigger",
    "rssFeedReadTrigger",
    "airtableTrigger",
    "notionTrigger",
    "microsoftOutlookTrigger",
    "emailReadImap",
    "supabaseTrigger",
    "outlookTrigger",
    "clockifyTrigger",
];

pub(super) fn translate(node: &Node<'_>, nodes: &Nodes<'_>) -> Option<Translation> {
    let given = "return [[{ json: objectOf(flow.event.data) }]];";
    Some(match node.kind {
        "manualTrigger" | "start" => Translation::start(Start::Manual, ["return [[{ json: {} }]];"]),
        "scheduleTrigger" | "cron" | "interval" => schedule(node),
        "webhook" => {
            let body = "return [[{ json: { headers: {}, params: {}, query: {}, body: flow.event.data ?? {}, executionMode: 'production' } }]];";
            let translation = Translation::start(Start::Webhook, [body]);
            if nodes.mention(&[
                ".headers",
                ".query",
                ".params",
                "\"headers\"",
                "\"query\"",
                "['headers']",
                "['query']",
            ]) {
                translation.partial(Sentence::BodyOnly)
            } else if node.text("responseMode") == Some("lastNode") {
                translation.partial(Sentence::NoResponse)
            } else {
                translation
            }
        }
        "formTrigger" => {
            let body = "return [[{ json: { ...objectOf(flow.event.data), submittedAt: flow.dates.now().toISO(), formMode: 'production' } }]];";
            Translation::start(Start::Form, [body])
        }
        "executeWorkflowTrigger" => {
            Translation::start(Start::Manual, [given]).partial(Sentence::OtherWorkflow)
        }
        "manualChatTrigger" | "chatTrigger" | "errorTrigger" | "workflowTrigger" | "n8nTrigger"
        | "localFileTrigger" | "evaluationTrigger" | "sseTrigger" | "mqttTrigger" | "amqpTrigger"
        | "kafkaTrigger" | "rabbitmqTrigger" | "redisTrigger" | "postgresTrigger" | "mcpTrigger" => {
            Translation::lost_start(Sentence::Trigger)
        }
        kind if CALLERS.contains(&kind) => {
            Translation::start(Start::Webhook, [given]).partial(Sentence::ServiceTrigger)
        }
        kind if POLLERS.contains(&kind) => Translation::lost_start(Sentence::PollingTrigger),
        kind if kind.ends_with("Trigger") => Translation::lost_start(Sentence::Trigger),
        _ => return None,
    })
}

fn schedule(node: &Node<'_>) -> Translation {
    let rules = match node.kind {
        "scheduleTrigger" => node.list("rule.interval"),
        "cron" => node.list("triggerTimes.item"),
        _ => std::slice::from_ref(node.value),
    };
    let [rule, rest @ ..] = rules else {
        // Without a rule, n8n runs once a day at midnight.
        return start(Some("0 0 * * *".to_owned()), false);
    };
    let (cron, differs) = match node.kind {
        "scheduleTrigger" => modern(rule),
        "cron" => classic(rule),
        _ => interval(node),
    };
    start(cron, differs || !rest.is_empty())
}

fn start(cron: Option<String>, differs: bool) -> Translation {
    let Some(cron) = cron else { return Translation::lost_start(Sentence::Trigger) };
    let body = "return [[{ json: scheduleFields(flow) }]];";
    let translation = Translation::start(Start::Schedule(cron), [body]);
    if differs { translation.partial(Sentence::Option("rule")) } else { translation }
}

fn number(rule: &Value, name: &str, default: u64) -> u64 {
    match rule.get(name) {
        Some(Value::Number(number)) => number.as_u64().unwrap_or(default),
        Some(Value::String(text)) => text.parse().unwrap_or(default),
        _ => default,
    }
}

/// Returns a cron expression for an interval of n8n's newer trigger, and whether it differs from the rule.
fn modern(rule: &Value) -> (Option<String>, bool) {
    let (minute, hour) = (number(rule, "triggerAtMinute", 0), number(rule, "triggerAtHour", 0));
    match rule.get("field").and_then(Value::as_str).unwrap_or("days") {
        // Qala's schedules have minutes.
        "seconds" => (Some("* * * * *".to_owned()), number(rule, "secondsInterval", 30) != 60),
        "minutes" => cron::every_minutes(number(rule, "minutesInterval", 5)),
        "hours" => cron::every_hours(number(rule, "hoursInterval", 1), minute),
        "days" => {
            let days = number(rule, "daysInterval", 1);
            if days <= 1 {
                (cron::at(minute, hour, "* * *"), false)
            } else {
                (cron::at(minute, hour, &format!("*/{} * *", days.min(31))), true)
            }
        }
        "weeks" => {
            let days: Vec<String> = rule
                .get("triggerAtDay")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(Value::as_u64)
                .filter(|day| *day < 7)
                .map(|day| day.to_string())
                .collect();
            let days = if days.is_empty() { "0".to_owned() } else { days.join(",") };
            (cron::at(minute, hour, &format!("* * {days}")), number(rule, "weeksInterval", 1) > 1)
        }
        "months" => {
            let day = number(rule, "triggerAtDayOfMonth", 1).clamp(1, 31);
            let months = number(rule, "monthsInterval", 1).clamp(1, 12);
            let month = if months == 1 { "*".to_owned() } else { format!("*/{months}") };
            (cron::at(minute, hour, &format!("{day} {month} *")), false)
        }
        "cronExpression" => {
            cron::five_fields(rule.get("expression").and_then(Value::as_str).unwrap_or_default())
        }
        _ => (None, false),
    }
}

/// Returns a cron expression for an entry of n8n's older trigger.
fn classic(rule: &Value) -> (Option<String>, bool) {
    let (minute, hour) = (number(rule, "minute", 0), number(rule, "hour", 14));
    match rule.get("mode").and_then(Value::as_str).unwrap_or("everyDay") {
        "everyMinute" => (Some("* * * * *".to_owned()), false),
        "everyHour" => (cron::at_minute(minute), false),
        "everyDay" => (cron::at(minute, hour, "* * *"), false),
        "everyWeek" => (cron::at(minute, hour, &format!("* * {}", number(rule, "weekday", 1).min(6))), false),
        "everyMonth" => {
            (cron::at(minute, hour, &format!("{} * *", number(rule, "dayOfMonth", 1).clamp(1, 31))), false)
        }
        "everyX" => {
            let value = number(rule, "value", 2);
            if rule.get("unit").and_then(Value::as_str) == Some("minutes") {
                cron::every_minutes(value)
            } else {
                cron::every_hours(value, 0)
            }
        }
        "custom" => cron::five_fields(rule.get("cronExpression").and_then(Value::as_str).unwrap_or_default()),
        _ => (None, false),
    }
}

fn interval(node: &Node<'_>) -> (Option<String>, bool) {
    let value = node.get("interval").and_then(Value::as_u64).unwrap_or(1);
    match node.text("unit").unwrap_or("seconds") {
        "hours" => cron::every_hours(value, 0),
        "minutes" => cron::every_minutes(value),
        _ => (Some("* * * * *".to_owned()), value != 60),
    }
}
