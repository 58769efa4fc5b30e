//! Figures of a running server. No label is ever a query, a path or a token.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use crate::mcp::envelope::Reply;

/// Upper bounds of the buckets of latencies, in seconds: from a warm search to a large analysis.
const BUCKETS: [f64; 10] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.0];

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct CallLabels {
    tool: &'static str,
    outcome: &'static str,
}

/// Counters of one server.
pub(super) struct Metrics {
    registry: Registry,
    calls: Family<CallLabels, Counter>,
    seconds: Histogram,
    running: Gauge,
    generation: Gauge,
    age: Gauge,
    seen: Mutex<(u64, Instant)>,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("botmesh_docs");
        let metrics = Self {
            calls: Family::default(),
            seconds: Histogram::new(BUCKETS),
            running: Gauge::default(),
            generation: Gauge::default(),
            age: Gauge::default(),
            seen: Mutex::new((0, Instant::now())),
            registry: Registry::default(),
        };
        let Self { calls, seconds, running, generation, age, .. } = &metrics;
        registry.register("calls", "Tool calls by tool and outcome", calls.clone());
        registry.register("call_seconds", "How long tool calls took", seconds.clone());
        registry.register("calls_in_flight", "Tool calls that run", running.clone());
        registry.register("index_generation", "States of the docs seen so far", generation.clone());
        registry.register("index_age_seconds", "Time since the docs last changed", age.clone());
        Self { registry, ..metrics }
    }
}

/// A call that runs.
pub(super) struct Running(Gauge);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Metrics {
    /// Counts a call for as long as what is returned lives.
    pub(super) fn running(&self) -> Running {
        self.running.inc();
        Running(self.running.clone())
    }

    /// Counts a call that was answered.
    pub(super) fn called(&self, tool: &'static str, reply: &Reply, took: Duration) {
        let outcome = match &reply.outcome {
            Ok(result) if result["isError"] == true => "error",
            Ok(_) => "ok",
            Err(_) => "fault",
        };
        self.calls.get_or_create(&CallLabels { tool, outcome }).inc();
        self.seconds.observe(took.as_secs_f64());
    }

    /// All figures; `generation` is that of the docs as they are now.
    pub(super) fn text(&self, generation: Option<u64>) -> String {
        let generation = generation.unwrap_or(0);
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.0 != generation {
            *seen = (generation, Instant::now());
        }
        self.generation.set(i64::try_from(generation).unwrap_or(i64::MAX));
        self.age.set(i64::try_from(seen.1.elapsed().as_secs()).unwrap_or(i64::MAX));
        let mut text = String::new();
        // Writing into a `String` cannot fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}
