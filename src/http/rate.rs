//! How often: a bucket a key that fills with time.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Keys that are remembered; beyond it, full buckets are forgotten first, then the one that was used longest ago.
const MAX_KEYS: usize = 10_000;

/// So many at once, and one more each interval.
#[derive(Debug)]
pub(super) struct Rate<K> {
    burst: u32,
    interval: Duration,
    buckets: Mutex<BTreeMap<K, Bucket>>,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    left: f64,
    at: Instant,
}

impl<K: Ord + Clone> Rate<K> {
    pub(super) fn new(burst: u32, interval: Duration) -> Self {
        Self { burst, interval, buckets: Mutex::default() }
    }

    /// Takes one; when there is none, how long until there is.
    pub(super) fn take(&self, key: &K, now: Instant) -> Result<(), Duration> {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if !buckets.contains_key(key) && buckets.len() >= MAX_KEYS {
            self.forget(&mut buckets, now);
        }
        let full = Bucket { left: f64::from(self.burst), at: now };
        let bucket = buckets.entry(key.clone()).or_insert(full);
        *bucket = self.filled(*bucket, now);
        if bucket.left >= 1.0 {
            bucket.left -= 1.0;
            return Ok(());
        }
        Err(self.interval.mul_f64(1.0 - bucket.left))
    }

    /// How long until there is one, without taking it.
    pub(super) fn wait(&self, key: &K, now: Instant) -> Option<Duration> {
        let buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let left = self.filled(*buckets.get(key)?, now).left;
        (left < 1.0).then(|| self.interval.mul_f64(1.0 - left))
    }

    fn filled(&self, bucket: Bucket, now: Instant) -> Bucket {
        let since = now.saturating_duration_since(bucket.at).as_secs_f64();
        let left = bucket.left + since / self.interval.as_secs_f64();
        Bucket { left: left.min(f64::from(self.burst)), at: now }
    }

    fn forget(&self, buckets: &mut BTreeMap<K, Bucket>, now: Instant) {
        buckets.retain(|_, bucket| self.filled(*bucket, now).left < f64::from(self.burst));
        if buckets.len() >= MAX_KEYS
            && let Some(oldest) = buckets.iter().min_by_key(|(_, bucket)| bucket.at)
        {
            let oldest = oldest.0.clone();
            buckets.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_empties_and_fills() {
        let (rate, start) = (Rate::new(2, Duration::from_secs(10)), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(rate.take(&"a", at(0)), Ok(()));
        assert_eq!(rate.take(&"a", at(0)), Ok(()));
        assert_eq!(rate.take(&"a", at(4)), Err(Duration::from_secs(6)));
        assert_eq!(rate.wait(&"a", at(4)), Some(Duration::from_secs(6)));
        assert_eq!(rate.take(&"b", at(4)), Ok(()));
        assert_eq!(rate.take(&"a", at(10)), Ok(()));
        assert_eq!(rate.wait(&"a", at(100)), None);
    }

    #[test]
    fn memory_is_bounded() {
        let (rate, now) = (Rate::new(1, Duration::from_secs(10)), Instant::now());
        for key in 0..MAX_KEYS * 2 {
            let _ = rate.take(&key, now);
        }
        assert!(rate.buckets.lock().expect("whole").len() <= MAX_KEYS);
    }
}
