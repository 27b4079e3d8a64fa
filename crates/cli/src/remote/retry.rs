//! What is done when the connection to a server is lost: it is said once, and the call is made again after longer and
//! longer pauses, until the server answers or the time for it is over.
//!
//! **The invariant it keeps:** what a server refuses is asked once. What is repeated does nothing twice: it only reads,
//! cancels, deletes, or is the same submission by its request id.

use std::hash::{BuildHasher as _, RandomState};
use std::io::ErrorKind;
use std::time::{Duration, Instant};

use tonic::{Code, Status};
use tonic_types::StatusExt as _;

use crate::output::tell_line;
use crate::progress::duration;

const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// A server that is back is found within this time.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Who has never answered, and has broken off so many connections in a row, is no server that comes back: whatever listens
/// there speaks another protocol, and does so again in five minutes.
const BROKEN_OFF_MAX: u32 = 4;
/// How connections end that somebody has accepted.
const BREAKS: [ErrorKind; 4] =
    [ErrorKind::BrokenPipe, ErrorKind::ConnectionReset, ErrorKind::ConnectionAborted, ErrorKind::UnexpectedEof];

/// How calls are repeated.
#[derive(Debug)]
pub struct Retry {
    server: String,
    /// How long a server may be away.
    time_max: Duration,
    /// Whether it is said that a connection is lost.
    tells: bool,
    /// Whether the server has ever answered.
    is_known: bool,
    lost: Option<Lost>,
}

/// A server that does not answer.
#[derive(Clone, Copy, Debug)]
struct Lost {
    since: Instant,
    attempts: u32,
    /// How many attempts in a row somebody was reached who broke the connection off.
    broken_off: u32,
    is_told: bool,
}

impl Retry {
    pub fn new(server: &str, time_max: Duration) -> Self {
        Self { server: server.to_owned(), time_max, tells: true, is_known: false, lost: None }
    }

    /// From now on nothing is said.
    pub fn quieten(&mut self) {
        self.tells = false;
    }

    /// Makes a call until the server answers it.
    pub async fn call<T>(&mut self, mut make: impl AsyncFnMut() -> Result<T, Status>) -> Result<T, Status> {
        loop {
            match make().await {
                Ok(answer) => {
                    self.answered();
                    return Ok(answer);
                }
                Err(status) => self.pause_after(status).await?,
            }
        }
    }

    /// The server is there: what is lost from now on is lost anew.
    pub fn answered(&mut self) {
        self.is_known = true;
        self.lost = None;
    }

    /// Pauses before a call is made again; gives its failure back if it is not to be.
    pub async fn pause_after(&mut self, status: Status) -> Result<(), Status> {
        if !is_passing(&status) {
            return Err(status);
        }
        let nothing_yet = Lost { since: Instant::now(), attempts: 0, broken_off: 0, is_told: false };
        let lost = self.lost.get_or_insert(nothing_yet);
        self.is_known |= std::error::Error::source(&status).is_none();
        lost.broken_off = if is_broken_off(&status) { lost.broken_off + 1 } else { 0 };
        if !self.is_known && lost.broken_off >= BROKEN_OFF_MAX {
            let (server, cause) = (&self.server, cause(&status));
            let message =
                format!("{server} does not answer as a tailback server: is it the port of `--listen`? ({cause})");
            return Err(Status::new(status.code(), message));
        }
        let random = RandomState::new().hash_one(0);
        let Some(pause) = pause(lost.attempts, lost.since.elapsed(), self.time_max, random) else {
            let (server, time) = (&self.server, duration(self.time_max.as_secs_f64()));
            let tried = if lost.attempts == 0 { String::new() } else { format!(", and was not back within {time}") };
            return Err(Status::new(status.code(), format!("{server} is lost{tried}: {}", cause(&status))));
        };
        lost.attempts += 1;
        if self.tells && !lost.is_told && !is_routine(&status) {
            lost.is_told = true;
            let (server, time) = (&self.server, duration(self.time_max.as_secs_f64()));
            tell_line!("the connection to {server} is lost ({}); trying again for up to {time}", cause(&status));
        }
        tokio::time::sleep(pause).await;
        Ok(())
    }
}

/// How long to wait before trying again; none if the time for that is over. Pauses double up to the longest one. They are
/// scattered over half of it, or all clients of a server would come back at the same moments.
fn pause(attempts: u32, lost_for: Duration, time_max: Duration, random: u64) -> Option<Duration> {
    let left = time_max.checked_sub(lost_for).filter(|left| !left.is_zero())?;
    let full = FIRST_PAUSE.saturating_mul(1 << attempts.min(16)).min(LONGEST_PAUSE);
    let scattered = full.mul_f64(0.5 + 0.5 * (random as f64 / u64::MAX as f64));
    // The last attempt is made when the time is over, not before.
    Some(scattered.min(left))
}

/// Whether the same call may go well a little later: the server says so, or nobody has answered at all, which is what a
/// status with a source tells, whatever its code.
pub fn is_passing(status: &Status) -> bool {
    let is_unanswered = std::error::Error::source(status).is_some();
    is_unanswered || matches!(status.code(), Code::Unavailable | Code::Aborted)
}

/// Whether a stream has ended as streams do, without anything being wrong with the server.
fn is_routine(status: &Status) -> bool {
    let details = status.get_error_details();
    let routine = ["STREAM_EXPIRED", "WATCH_TOO_SLOW", "READ_TOO_SLOW"];
    details.error_info().is_some_and(|about| routine.contains(&about.reason.as_str()))
}

/// Whether somebody was reached, and no answer came: not where nobody could be reached at all.
fn is_broken_off(status: &Status) -> bool {
    let mut cause = std::error::Error::source(status);
    let mut unreached = cause.is_none();
    while let Some(error) = cause {
        let kind = error.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
        unreached |= kind.is_some_and(|kind| !BREAKS.contains(&kind));
        cause = error.source();
    }
    !unreached
}

/// What is behind a failure: of a connection that broke, what the system says.
fn cause(status: &Status) -> String {
    let mut cause = std::error::Error::source(status);
    while let Some(deeper) = cause.and_then(std::error::Error::source) {
        cause = Some(deeper);
    }
    cause.map_or_else(|| status.message().to_owned(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIVE_MINUTES: Duration = Duration::from_secs(300);

    #[test]
    fn pauses_grow_up_to_a_bound_and_end_with_the_time() {
        for random in [0, 1, u64::MAX / 3, u64::MAX] {
            let mut lost_for = Duration::ZERO;
            let mut pauses = Vec::new();
            while let Some(next) = pause(pauses.len() as u32, lost_for, FIVE_MINUTES, random) {
                pauses.push(next);
                lost_for += next;
            }
            assert_eq!(lost_for, FIVE_MINUTES, "the last attempt is made at the end of the time");
            let (last, others) = pauses.split_last().expect("there is one");
            assert!(others.is_sorted() && *last <= LONGEST_PAUSE, "{pauses:?}");
            assert!(pauses[0] >= FIRST_PAUSE / 2 && others[others.len() - 1] >= LONGEST_PAUSE / 2, "{pauses:?}");
        }
        assert_eq!(pause(0, Duration::ZERO, Duration::ZERO, 0), None, "no time, no attempt");
        assert_eq!(pause(u32::MAX, Duration::ZERO, FIVE_MINUTES, u64::MAX), Some(LONGEST_PAUSE));
    }

    #[tokio::test]
    async fn what_is_refused_is_asked_once() {
        for code in [Code::NotFound, Code::Unauthenticated, Code::InvalidArgument, Code::Internal, Code::DataLoss] {
            let mut asked = 0;
            let mut retry = Retry::new("http://server", FIVE_MINUTES);
            let refused = retry.call(async || -> Result<(), Status> {
                asked += 1;
                Err(Status::new(code, "no"))
            });
            assert_eq!(refused.await.expect_err("it is refused").code(), code);
            assert_eq!(asked, 1);
        }
    }

    #[tokio::test]
    async fn without_time_a_lost_connection_is_the_end() {
        let mut asked = 0;
        let mut retry = Retry::new("http://server", Duration::ZERO);
        let lost = retry.call(async || -> Result<(), Status> {
            asked += 1;
            let broken = std::io::Error::from(ErrorKind::ConnectionReset);
            Err(Status::from_error(Box::new(broken)))
        });
        let lost = lost.await.expect_err("there is no time");
        assert_eq!((asked, lost.message()), (1, "http://server is lost: connection reset"));
    }

    #[tokio::test]
    async fn a_server_that_answers_again_is_asked_until_it_does() {
        let mut asked = 0;
        let mut retry = Retry::new("http://server", FIVE_MINUTES);
        retry.quieten();
        let answer = retry.call(async || {
            asked += 1;
            if asked == 3 { Ok(asked) } else { Err(Status::unavailable("not yet")) }
        });
        assert_eq!(answer.await.expect("it answers"), 3);
        assert!(retry.lost.is_none(), "what is lost next has all the time again");
    }

    /// How often a call is made whose connections fail in one way, of a server that has answered before or not.
    async fn attempts(kind: ErrorKind, has_answered: bool) -> (u32, String) {
        let mut retry = Retry::new("http://server", Duration::from_secs(2));
        retry.quieten();
        if has_answered {
            retry.answered();
        }
        let mut asked = 0;
        let lost = retry.call(async || -> Result<(), Status> {
            asked += 1;
            Err(Status::from_error(Box::new(std::io::Error::from(kind))))
        });
        let message = lost.await.expect_err("it never answers").message().to_owned();
        (asked, message)
    }

    #[tokio::test]
    async fn who_has_never_answered_and_breaks_off_is_no_server() {
        let (asked, message) = attempts(ErrorKind::BrokenPipe, false).await;
        assert_eq!(asked, BROKEN_OFF_MAX);
        assert_eq!(
            message,
            "http://server does not answer as a tailback server: is it the port of `--listen`? (broken pipe)"
        );
        for (kind, has_answered) in [(ErrorKind::BrokenPipe, true), (ErrorKind::ConnectionRefused, false)] {
            let (asked, message) = attempts(kind, has_answered).await;
            assert!(asked > BROKEN_OFF_MAX && message.contains("was not back within 2 s"), "{asked}: {message}");
        }
    }
}
