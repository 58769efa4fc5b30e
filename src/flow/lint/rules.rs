//! The table of rules: codes never change, severities rarely, sentences may improve.

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The flow will misbehave.
    Error,
    /// The flow will annoy or surprise somebody.
    Warning,
    /// Worth a look.
    Info,
}

impl Severity {
    /// `error`, `warning` or `info`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

/// One rule.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Its code.
    pub code: &'static str,
    /// How bad its findings are.
    pub severity: Severity,
    /// What it looks for, in a few words.
    pub about: &'static str,
}

const fn error(code: &'static str, about: &'static str) -> Rule {
    Rule { code, severity: Severity::Error, about }
}

const fn warning(code: &'static str, about: &'static str) -> Rule {
    Rule { code, severity: Severity::Warning, about }
}

const fn info(code: &'static str, about: &'static str) -> Rule {
    Rule { code, severity: Severity::Info, about }
}

/// Every rule, in the order of the manual.
pub const RULES: &[Rule] = &[
    error("undefined-variable", "a variable that nothing declares or writes is read"),
    warning("maybe-unset-variable", "a variable is read that some path leaves unset"),
    info("undeclared-variable", "a written variable is missing from `variables`"),
    info("unused-variable", "a declared variable is never read"),
    warning("type-mismatch", "a constant or an answer does not fit a declared type"),
    error("malformed-placeholder", "`{{` starts no placeholder"),
    warning("placeholder-mismatch", "a translation uses other variables"),
    warning("missing-translation", "a text lacks a declared locale"),
    info("untranslated-text", "a plain text in a document of several locales"),
    warning("unreachable-step", "nothing leads to a step"),
    error("infinite-loop", "a loop without input and without a way out"),
    warning("loop-without-input", "a loop that waits for nobody"),
    info("never-ends", "no path reaches the end"),
    warning("dead-end", "an answer is followed by nothing"),
    warning("goto-into-block", "a jump into a block from outside"),
    info("redundant-goto", "a jump to where the flow goes anyway"),
    info("empty-branch", "an exit that does nothing"),
    warning("constant-condition", "a condition that can only go one way"),
    warning("shadowed-case", "a case that is never taken"),
    warning("missing-fallback", "no `onInvalid` where an answer may be invalid"),
    info("missing-timeout", "a question that waits for ever"),
    info("single-option", "a menu of one option"),
    warning("duplicate-option-label", "two options with one label"),
    warning("shadowed-option", "a label that chooses another option"),
    warning("option-is-keyword", "a label that starts a flow"),
    warning("too-many-options", "more options than the channel shows"),
    warning("label-too-long", "a label that the channel cuts"),
    warning("description-too-long", "a description that the channel cuts"),
    warning("text-too-long", "a text that the channel refuses"),
    warning("option-id-too-long", "an option id that the channel refuses"),
    warning("wait-beyond-window", "a wait longer than the channel's window"),
    info("message-burst", "many messages in a row"),
    warning("insecure-url", "a file over plain http"),
    warning("unsupported-caption", "a caption where the channel shows none"),
    info("action-without-error-path", "a handler may fail and nothing handles it"),
    error("await-own-conversation", "a handler would await a conversation it starts"),
    warning("save-without-await", "a result is saved that nobody waits for"),
    error("missing-subflow", "a flow that was not given"),
    error("subflow-cycle", "flows that call each other for ever"),
    warning("subflow-input-missing", "a subflow's input is not given"),
    warning("subflow-input-unknown", "a value that the subflow does not take"),
    warning("subflow-output-unknown", "an output that the subflow does not give"),
    info("unused-subflow", "a flow was given and is never used"),
    warning("duplicate-keyword", "a keyword that starts two flows"),
    info("nesting-too-deep", "blocks six levels deep"),
    info("graph-too-large", "a drawing that viewers refuse"),
    info("unknown-lint-code", "`metadata.lintIgnore` names no rule"),
];

/// The severity of a code.
pub(super) fn severity(code: &str) -> Severity {
    RULES
        .iter()
        .find(|rule| rule.code == code)
        .map(|rule| rule.severity)
        .expect("rules report only codes of the table")
}
