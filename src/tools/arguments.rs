//! Checks a call's arguments against the tool's input schema before the tool runs.
