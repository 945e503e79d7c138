//! What a person may start from when they publish an automation.

use kernel::slug::slugify;

use super::{InputSchema, MAX_TITLE_CHARS, ToolName};
use crate::Automation;

/// Fields of a tool that nobody has published yet.
#[derive(Debug, Clone, PartialEq)]
pub struct SuggestedTool {
    /// Name, made of the automation's.
    pub name: ToolName,
    /// Title: the automation's name.
    pub title: String,
    /// Description: the app's, or the automation's name if that is empty; 1 to 400 characters.
    pub description: String,
    /// Schema that allows every argument.
    pub input_schema: InputSchema,
}

/// Returns the fields of a tool to start from.
#[must_use]
pub fn suggest_tool(automation: &Automation, app_description: &str) -> SuggestedTool {
    let slug = slugify(&automation.name, 48).replace('-', "_");
    // A name of other letters, or one that begins with a digit, says something only after a word of ours.
    let name = ToolName::parse(&slug)
        .or_else(|_| {
            ToolName::parse(slugify(&format!("tool {}", automation.name), 48).replace('-', "_").as_str())
        })
        .unwrap_or_else(|_| ToolName("tool".to_owned()));
    let description =
        Some(app_description.trim()).filter(|text| !text.is_empty()).unwrap_or(&automation.name);
    SuggestedTool {
        name,
        title: automation.name.chars().take(MAX_TITLE_CHARS).collect(),
        description: description.chars().take(400).collect(),
        input_schema: InputSchema::any(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Trigger, testing::automation};

    #[test]
    fn a_name_is_made_of_the_automations() {
        for (name, expected) in [
            ("New orders", "new_orders"),
            ("3 reports", "tool_3_reports"),
            ("Отчёт", "tool"),
            ("x", "tool_x"),
            (&"long ".repeat(12), "long_long_long_long_long_long_long_long_long_lon"),
        ] {
            let automation = Automation { name: name.to_owned(), ..automation(10, Trigger::Manual) };
            let suggested = suggest_tool(&automation, " ");
            assert_eq!(suggested.name.as_str(), expected);
            assert_eq!((&suggested.title, &suggested.description), (&name.to_owned(), &name.to_owned()));
            assert_eq!(suggest_tool(&automation, "Sorts mail.").description, "Sorts mail.");
        }
    }
}
