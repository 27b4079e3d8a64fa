//! Who advances the regions: one thread, or many.

use crate::crew::{Crew, Hall};

/// Lends threads to a run.
///
/// An executor decides which thread does what and when, never what comes out.
pub trait Executor: Send {
    /// Calls `lead` once, on a thread that makes steps, with all threads at its disposal until it returns.
    fn enter<T: Send>(&self, lead: impl FnOnce(&mut Crew<'_>) -> T + Send) -> T;

    /// How many threads it uses.
    fn threads(&self) -> usize;

    /// Calls `ask` on each thread that makes steps, and gives what each has said: for whoever looks after threads.
    fn ask_each_thread<T: Send>(&self, ask: impl Fn() -> T + Sync + Send) -> Vec<T>;
}

/// One region after the other on the calling thread: the oracle that all other executors are held against.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sequential;

impl Executor for Sequential {
    fn enter<T: Send>(&self, lead: impl FnOnce(&mut Crew<'_>) -> T + Send) -> T {
        lead(&mut Crew::alone())
    }

    fn threads(&self) -> usize {
        1
    }

    fn ask_each_thread<T: Send>(&self, ask: impl Fn() -> T + Sync + Send) -> Vec<T> {
        vec![ask()]
    }
}

/// On a pool of threads, which a run enters once.
#[derive(Debug)]
pub struct Rayon {
    pool: rayon::ThreadPool,
    eager: bool,
}

impl Rayon {
    /// A pool of `threads` threads. Windows in which little happens are left to one of them.
    ///
    /// # Errors
    /// When the system refuses to start them.
    pub fn new(threads: usize) -> Result<Self, rayon::ThreadPoolBuildError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        Ok(Self { pool, eager: false })
    }

    /// The same pool that shares all windows between its threads, however little happens in them: for tests, whose
    /// simulations are small.
    #[must_use]
    pub fn eager(self) -> Self {
        Self { eager: true, ..self }
    }
}

impl Executor for Rayon {
    fn enter<T: Send>(&self, lead: impl FnOnce(&mut Crew<'_>) -> T + Send) -> T {
        let hall = Hall::new(self.threads(), self.eager);
        let hall = &hall;
        self.pool.install(|| {
            let leader = rayon::current_thread_index();
            rayon::scope(|scope| {
                scope.spawn_broadcast(move |_, context| {
                    if Some(context.index()) != leader {
                        hall.serve();
                    }
                });
                let _end = hall.end();
                lead(&mut Crew::leading(hall))
            })
        })
    }

    fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    fn ask_each_thread<T: Send>(&self, ask: impl Fn() -> T + Sync + Send) -> Vec<T> {
        self.pool.broadcast(|_| ask())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::thread::{self, ThreadId};

    use super::*;

    #[test]
    fn each_thread_is_asked_once() {
        let distinct = |said: &[ThreadId]| said.iter().map(|id| format!("{id:?}")).collect::<BTreeSet<_>>().len();
        let own = || thread::current().id();
        assert_eq!(Sequential.ask_each_thread(own), [own()]);
        let pool = Rayon::new(3).expect("threads can be started");
        let said = pool.ask_each_thread(own);
        assert_eq!((said.len(), distinct(&said)), (3, 3));
        assert!(!said.contains(&own()), "the pool makes all steps");
    }
}
