//! The Model Context Protocol: frames, envelopes, revisions, sessions.
