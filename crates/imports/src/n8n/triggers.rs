//! Nodes that start a workflow.

use serde_json::Value;

use super::node::{Node, Nodes};
use crate::{
    Sentence,
    cron::{self, Change, Plan},
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

/// Options of a webhook that are not kept.
const WEBHOOK_OPTIONS: &[(&str, &str)] = &[
    ("responseCode", "responseCode"),
    ("responseData", "responseData"),
    ("options.responseCode", "responseCode"),
    ("options.responseData", "responseData"),
    ("options.responseHeaders", "responseHeaders"),
    ("options.responseContentType", "responseContentType"),
    ("options.ipWhitelist", "ipWhitelist"),
    ("options.allowedOrigins", "allowedOrigins"),
    ("options.ignoreBots", "ignoreBots"),
    ("options.rawBody", "rawBody"),
    ("options.binaryData", "binaryData"),
    ("options.binaryPropertyName", "binaryPropertyName"),
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
            let mut translation = Translation::start(Start::Webhook, [body]);
            if nodes.mention(&[
                ".headers",
                ".query",
                ".params",
                "\"headers\"",
                "\"query\"",
                "['headers']",
                "['query']",
            ]) {
                translation.lower(Sentence::BodyOnly);
            }
            if node.text("responseMode").is_some_and(|mode| mode != "onReceived") {
                translation.lower(Sentence::NoResponse);
            }
            // Without a method, n8n takes GET.
            if node.text("httpMethod") != Some("POST") {
                translation.lower(Sentence::PostOnly);
            }
            if node.text("authentication").is_some_and(|kind| kind != "none") {
                translation.lower(Sentence::Option("authentication"));
            }
            for (path, name) in WEBHOOK_OPTIONS {
                if node.has_option(path) {
                    translation.lower(Sentence::Option(name));
                }
            }
            translation
        }
        "formTrigger" => {
            let body = "return [[{ json: { ...objectOf(flow.event.data), submittedAt: flow.dates.now().toISO(), formMode: 'production' } }]];";
            Translation::start(Start::Form, [body]).partial(Sentence::FormPage)
        }
        "executeWorkflowTrigger" => {
            Translation::start(Start::Manual, [given]).partial(Sentence::CalledByWorkflow)
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
        return start(Plan::exact(Some("0 0 * * *".to_owned())));
    };
    let translation = start(match node.kind {
        "scheduleTrigger" => modern(rule),
        "cron" => classic(rule),
        _ => interval(node),
    });
    if rest.is_empty() {
        return translation;
    }
    translation.partial(Sentence::Schedule(Change::Rules(rules.len())))
}

fn start(plan: Plan) -> Translation {
    let Some(cron) = plan.cron else { return Translation::lost_start(Sentence::Trigger) };
    let body = "return [[{ json: scheduleFields(flow) }]];";
    let translation = Translation::start(Start::Schedule(cron), [body]);
    match plan.change {
        Some(change) => translation.partial(Sentence::Schedule(change)),
        None => translation,
    }
}

fn number(rule: &Value, name: &str, default: u64) -> u64 {
    match rule.get(name) {
        Some(Value::Number(number)) => number.as_u64().unwrap_or(default),
        Some(Value::String(text)) => text.parse().unwrap_or(default),
        _ => default,
    }
}

/// Returns the schedule of an interval of n8n's newer trigger.
fn modern(rule: &Value) -> Plan {
    let (minute, hour) = (number(rule, "triggerAtMinute", 0), number(rule, "triggerAtHour", 0));
    match rule.get("field").and_then(Value::as_str).unwrap_or("days") {
        "seconds" => cron::every_seconds(number(rule, "secondsInterval", 30)),
        "minutes" => cron::every_minutes(number(rule, "minutesInterval", 5)),
        "hours" => cron::every_hours(number(rule, "hoursInterval", 1), minute),
        "days" => cron::every_days(number(rule, "daysInterval", 1), minute, hour),
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
            cron::every_weeks(number(rule, "weeksInterval", 1), minute, hour, &days)
        }
        "months" => {
            let day = number(rule, "triggerAtDayOfMonth", 1).clamp(1, 31);
            let months = number(rule, "monthsInterval", 1).clamp(1, 12);
            let month = if months == 1 { "*".to_owned() } else { format!("*/{months}") };
            let is_uneven = 12 % months != 0;
            let change = is_uneven.then(|| Change::Uneven(cron::Unit::Month.times(months)));
            Plan { cron: cron::at(minute, hour, &format!("{day} {month} *")), change }
        }
        "cronExpression" => cron::parse(rule.get("expression").and_then(Value::as_str).unwrap_or_default()),
        _ => Plan::exact(None),
    }
}

/// Returns the schedule of an entry of n8n's older trigger.
fn classic(rule: &Value) -> Plan {
    let (minute, hour) = (number(rule, "minute", 0), number(rule, "hour", 14));
    match rule.get("mode").and_then(Value::as_str).unwrap_or("everyDay") {
        "everyMinute" => Plan::exact(Some("* * * * *".to_owned())),
        "everyHour" => Plan::exact(cron::at_minute(minute)),
        "everyDay" => Plan::exact(cron::at(minute, hour, "* * *")),
        "everyWeek" => {
            Plan::exact(cron::at(minute, hour, &format!("* * {}", number(rule, "weekday", 1).min(6))))
        }
        "everyMonth" => {
            let day = number(rule, "dayOfMonth", 1).clamp(1, 31);
            Plan::exact(cron::at(minute, hour, &format!("{day} * *")))
        }
        "everyX" => {
            let value = number(rule, "value", 2);
            if rule.get("unit").and_then(Value::as_str) == Some("minutes") {
                cron::every_minutes(value)
            } else {
                cron::every_hours(value, 0)
            }
        }
        "custom" => cron::parse(rule.get("cronExpression").and_then(Value::as_str).unwrap_or_default()),
        _ => Plan::exact(None),
    }
}

fn interval(node: &Node<'_>) -> Plan {
    let value = node.get("interval").and_then(Value::as_u64).unwrap_or(1);
    match node.text("unit").unwrap_or("seconds") {
        "hours" => cron::every_hours(value, 0),
        "minutes" => cron::every_minutes(value),
        _ => cron::every_seconds(value),
    }
}
