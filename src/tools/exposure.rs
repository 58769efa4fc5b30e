//! Which tools a server offers at all: `[mcp] include` and `exclude`, and names that nobody may offer.

use super::Tool;
use crate::suggest;

/// Operations that no server of ours offers, whatever settings or other servers say: they run what a caller sends.
pub const DENIED: [&str; 4] =
    ["core.run_terminal", "core.run_code", "core.http_request", "core.agent_run"];

/// Capabilities whose operations come from elsewhere and are not known before they are there.
const OPEN_CAPABILITY: &str = "mcp";

/// What of the tools is offered. Names are capabilities (`docs`) or operations (`flow.run`).
#[derive(Clone, Debug, Default)]
pub struct Exposure {
    include: Vec<String>,
    exclude: Vec<String>,
}

/// A name that is no capability and no operation, or one that can never be offered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExposureError {
    /// There is no such thing.
    #[error("unknown capability or operation `{}`", name.escape_debug())]
    Unknown {
        /// The name.
        name: String,
        /// The nearest name that exists.
        near: Option<String>,
    },
    /// It is on the list of [`DENIED`].
    #[error("`{name}` can never be offered")]
    Denied {
        /// The name.
        name: String,
    },
}

impl Exposure {
    /// Checks the names. Without `include` everything is offered; `exclude` wins.
    ///
    /// # Errors
    /// A name that is not known would silently do nothing, so it is refused, as are denied names under `include`.
    pub fn new(include: &[String], exclude: &[String]) -> Result<Self, ExposureError> {
        if let Some(name) = include.iter().find(|name| DENIED.contains(&name.as_str())) {
            return Err(ExposureError::Denied { name: name.clone() });
        }
        for name in include.iter().chain(exclude) {
            check(name)?;
        }
        Ok(Self { include: include.to_vec(), exclude: exclude.to_vec() })
    }

    /// Whether a tool is offered.
    pub fn allows(&self, tool: &Tool) -> bool {
        let operation = tool.operation();
        let names = |list: &[String]| {
            list.iter().any(|name| *name == operation || name == tool.capability())
        };
        !DENIED.contains(&operation.as_str())
            && (self.include.is_empty() || names(&self.include))
            && !names(&self.exclude)
    }
}

fn check(name: &str) -> Result<(), ExposureError> {
    let mut known: Vec<String> = DENIED.iter().map(|name| (*name).to_owned()).collect();
    for tool in super::all() {
        known.push(tool.capability().to_owned());
        known.push(tool.operation());
    }
    let is_open = name.split('.').next() == Some(OPEN_CAPABILITY);
    if is_open || known.iter().any(|known| known == name) {
        return Ok(());
    }
    let near = suggest::nearest(name, known.iter().map(String::as_str)).map(str::to_owned);
    Err(ExposureError::Unknown { name: name.to_owned(), near })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{DENIED, Exposure, ExposureError};
    use crate::scope::Scope;
    use crate::tools::{Tool, all};

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn tools_are_chosen_by_capability_or_operation() {
        let check = |include: &[&str], exclude: &[&str], expected: &[&str]| {
            let exposure = Exposure::new(&names(include), &names(exclude)).expect("known names");
            let offered: Vec<&str> =
                all().filter(|tool| exposure.allows(tool)).map(|tool| tool.name).collect();
            assert_eq!(offered, expected, "{include:?} {exclude:?}");
        };
        check(&["docs"], &[], &["docs_search", "docs_page", "docs_outline"]);
        check(&["docs"], &["docs.page"], &["docs_search", "docs_outline"]);
        check(&["flow.get_run", "docs.page"], &["docs"], &["flow_get_run"]);
        check(&["flow.run"], &["flow"], &[]);
        let everything: Vec<&str> = all().map(|tool| tool.name).collect();
        check(&[], &[], &everything);
    }

    #[test]
    fn names_that_do_not_exist_are_refused() {
        let check = |name: &str, near: Option<&str>| {
            let error = Exposure::new(&[], &names(&[name])).expect_err("no such name");
            let near = near.map(str::to_owned);
            assert_eq!(error, ExposureError::Unknown { name: name.to_owned(), near });
        };
        check("doc", Some("docs"));
        check("docs_page", Some("docs.page"));
        check("weather", None);
        Exposure::new(&[], &names(&["mcp.github", "core.run_code"])).expect("known names");
    }

    #[test]
    fn denied_names_are_never_offered() {
        for name in DENIED {
            let denied = Exposure::new(&names(&[name]), &[]).expect_err("denied");
            assert_eq!(denied, ExposureError::Denied { name: name.to_owned() });
            let tool = Tool {
                name: name.replacen('.', "_", 1).leak(),
                title: "",
                description: "",
                input_schema: "{}",
                output_schema: "{}",
                scope: Scope::Admin,
                is_read_only: true,
                run: |_, _| Ok(json!({}).into()),
            };
            assert!(!Exposure::default().allows(&tool), "{name}");
        }
    }
}
