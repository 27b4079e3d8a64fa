//! Who advances the regions: one thread, or many.

use rayon::iter::{IndexedParallelIterator, IntoParallelRefMutIterator, ParallelIterator};

/// Runs one step for each of a number of independent parts.
///
/// An executor decides which thread does what and when, never what comes out.
pub trait Executor: Send {
    /// Calls `step` once for each element of `parts`, in any order, and returns when all calls have.
    fn for_each<T: Send>(&self, parts: &mut [T], step: impl Fn(&mut T) + Sync + Send);

    /// How many threads it uses.
    fn threads(&self) -> usize;

    /// Calls `ask` on each thread that makes steps, and gives what each has said: for whoever looks after threads.
    fn ask_each_thread<T: Send>(&self, ask: impl Fn() -> T + Sync + Send) -> Vec<T>;
}

/// One after the other on the calling thread: the oracle that all other executors are held against.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sequential;

impl Executor for Sequential {
    fn for_each<T: Send>(&self, parts: &mut [T], step: impl Fn(&mut T) + Sync + Send) {
        parts.iter_mut().for_each(step);
    }

    fn threads(&self) -> usize {
        1
    }

    fn ask_each_thread<T: Send>(&self, ask: impl Fn() -> T + Sync + Send) -> Vec<T> {
        vec![ask()]
    }
}

/// On a pool of threads that steal work from each other.
#[derive(Debug)]
pub struct Rayon(rayon::ThreadPool);

impl Rayon {
    /// A pool of `threads` threads.
    ///
    /// # Errors
    /// When the system refuses to start them.
    pub fn new(threads: usize) -> Result<Self, rayon::ThreadPoolBuildError> {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().map(Self)
    }
}

impl Executor for Rayon {
    fn for_each<T: Send>(&self, parts: &mut [T], step: impl Fn(&mut T) + Sync + Send) {
        self.0.install(|| parts.par_iter_mut().with_max_len(1).for_each(step));
    }

    fn threads(&self) -> usize {
        self.0.current_num_threads()
    }

    fn ask_each_thread<T: Send>(&self, ask: impl Fn() -> T + Sync + Send) -> Vec<T> {
        self.0.broadcast(|_| ask())
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
