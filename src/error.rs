//! Errors as users meet them: a code that never changes, one sentence, and what to do next.

use std::time::Duration;

use serde::Serialize;

/// What kind of failure it is. The names are part of the contract and never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorCode {
    /// An argument is missing, unknown, of the wrong type or out of range.
    InvalidArgument,
    /// The page, section or flow that was named does not exist.
    NotFound,
    /// The caller may not do this.
    PermissionDenied,
    /// The caller did not say who it is.
    Unauthenticated,
    /// Too many calls; the same call may work later.
    RateLimited,
    /// The argument or the result is over a limit.
    PayloadTooLarge,
    /// The server cannot answer yet; the same call may work later.
    Unavailable,
    /// The work took too long and was stopped.
    Timeout,
    /// A fault of the server.
    Internal,
}

impl ErrorCode {
    /// Whether the same call may succeed when it is sent again.
    pub fn is_retryable(self) -> bool {
        matches!(self, Self::RateLimited | Self::Unavailable | Self::Timeout)
    }
}

/// Why a tool call failed. `message` is one lower-case sentence without a full stop and never holds an absolute path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    /// The kind of failure.
    pub code: ErrorCode,
    /// What failed, where and why.
    pub message: String,
    /// What to do next, when there is something to do.
    pub hint: Option<String>,
    /// How long the caller should wait before the same call.
    pub retry_after: Option<Duration>,
}

impl ToolError {
    /// An error without a hint.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None, retry_after: None }
    }

    /// The same error with what to do next.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same error with how long to wait.
    #[must_use]
    pub fn with_retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// The error as a value: `{ code, message, retryable, hint?, retry_after_ms? }`.
    pub fn to_value(&self) -> serde_json::Value {
        let mut value = serde_json::json!({
            "code": self.code,
            "message": self.message,
            "retryable": self.code.is_retryable(),
        });
        if let Some(hint) = &self.hint {
            value["hint"] = hint.as_str().into();
        }
        if let Some(wait) = self.retry_after {
            value["retry_after_ms"] = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX).into();
        }
        value
    }
}
