//! The integration tests: one binary, one module a face.

mod flow;
