//! The end of the server, as seen by a tool that waits for something.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Whether the server is closing: shared by the transport, which says so, and by whatever waits inside a tool.
///
/// A waiter calls [`Closing::wait_for`]; whoever makes its condition true calls [`Closing::wake`] afterwards. Clones
/// are the same flag.
#[derive(Clone, Debug, Default)]
pub struct Closing {
    shared: Arc<(Mutex<bool>, Condvar)>,
}

impl Closing {
    /// Says that the server is closing: every wait ends, now and from now on.
    pub fn close(&self) {
        let (closed, changed) = &*self.shared;
        *closed.lock().unwrap_or_else(PoisonError::into_inner) = true;
        changed.notify_all();
    }

    /// Whether [`Closing::close`] was called.
    pub fn is_closed(&self) -> bool {
        *self.shared.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets every waiter look again.
    pub fn wake(&self) {
        let (closed, changed) = &*self.shared;
        // Holding the lock keeps this call from falling between a waiter's look and its sleep.
        drop(closed.lock().unwrap_or_else(PoisonError::into_inner));
        changed.notify_all();
    }

    /// Waits until `look` finds something, or gives `None` when the server closes first.
    ///
    /// `look` runs at once and after every [`Closing::wake`], under a lock: it must be quick and must not call back
    /// into this flag.
    pub fn wait_for<T>(&self, mut look: impl FnMut() -> Option<T>) -> Option<T> {
        let (closed, changed) = &*self.shared;
        let mut is_closed = closed.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let found = look();
            if found.is_some() || *is_closed {
                return found;
            }
            is_closed = changed.wait(is_closed).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;
    use std::thread;

    use super::Closing;

    #[test]
    fn a_wait_ends_when_the_value_is_there() {
        let (closing, value) = (Closing::default(), OnceLock::new());
        thread::scope(|scope| {
            let waiter = scope.spawn(|| closing.wait_for(|| value.get().copied()));
            value.set(7).expect("set once");
            closing.wake();
            assert_eq!(waiter.join().expect("no panic"), Some(7));
        });
    }

    #[test]
    fn a_wait_ends_when_the_server_closes() {
        let closing = Closing::default();
        thread::scope(|scope| {
            let waiter = scope.spawn(|| closing.wait_for(|| None::<()>));
            closing.clone().close();
            assert_eq!(waiter.join().expect("no panic"), None);
        });
        assert!(closing.is_closed());
        assert_eq!(closing.wait_for(|| Some(1)), Some(1), "what is there is given even then");
    }
}
