//! What the files of the present version look like. They stay readable only as long as these tests pass unchanged: where
//! one fails, the tables need a new version.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::Duration;

use super::*;
use crate::domain::{
    AttemptFailed, ChildEnded, Execution, FailureReason, Occurrence, Progress, Run, RunFailure, Sample, State, Summary,
    SweepRequest,
};

const RUN: &str = concat!(
    r#"{"id":"curve.1","owner":"alice","labels":{"paper":"lhrp"},"#,
    r#""execution":{"threads":2,"wall_time_max":{"secs":3600,"nanos":500000000},"artifact_bytes_max":1000},"#,
    r#""sweep":{"over":["traffic.load=0.1,0.2"],"seeds":3,"run_saturated":true},"state":"failed","#,
    r#""progress":{"cycle":1,"cycles":2,"packet_hops":3,"children_ended":4,"children":5,"children_failed":6},"#,
    r#""failure":{"reason":"wall_time","message":"it took too long","details":["a line"]},"#,
    r#""summary":{"offered_load":0.3,"accepted_load":0.1,"latency_mean":12.5,"latency_p99":null,"hops_mean":3.0,"#,
    r#""saturated":true,"wall_s":0.7},"scenario_digest":"abc","result_digest":"def","created_ms":1,"started_ms":2,"#,
    r#""ended_ms":null,"parent_id":"curve","child_number":1,"restarts":7,"failed_attempts":2,"note":"a note","title":"A title"}"#,
);

fn progress() -> Progress {
    Progress { cycle: 1, cycles: 2, packet_hops: 3, children_ended: 4, children: 5, children_failed: 6 }
}

fn run() -> Run {
    let wall_time_max = Some(Duration::from_millis(3_600_500));
    let over = vec!["traffic.load=0.1,0.2".to_owned()];
    let (message, details) = ("it took too long".to_owned(), vec!["a line".to_owned()]);
    Run {
        id: "curve.1".to_owned(),
        owner: "alice".to_owned(),
        labels: Arc::new(BTreeMap::from([("paper".to_owned(), "lhrp".to_owned())])),
        execution: Execution { threads: Some(2), wall_time_max, artifact_bytes_max: 1000, priority: 0 },
        sweep: Some(SweepRequest { over, seeds: 3, run_saturated: true }),
        state: State::Failed,
        progress: progress(),
        failure: Some(RunFailure { reason: FailureReason::WallTime, message, details }),
        summary: Some(Summary {
            offered_load: 0.3,
            accepted_load: 0.1,
            latency_mean: Some(12.5),
            latency_p99: None,
            hops_mean: Some(3.0),
            saturated: true,
            wall_s: 0.7,
        }),
        scenario_digest: "abc".to_owned(),
        result_digest: "def".to_owned(),
        created_ms: Some(1),
        started_ms: Some(2),
        ended_ms: None,
        parent_id: "curve".to_owned(),
        child_number: 1,
        restarts: 7,
        failed_attempts: 2,
        note: "a note".to_owned(),
        title: "A title".to_owned(),
        reuse: false,
        beyond_end: false,
        private: false,
        project: String::new(),
        files: Arc::default(),
        traceparent: String::new(),
    }
}

fn is_kept_as<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T, text: &str) {
    assert_eq!(to_json(value), text);
    assert_eq!(&serde_json::from_str::<T>(text).expect("it can be read"), value);
}

#[test]
fn runs_are_kept_as_they_were() {
    is_kept_as(&run(), RUN);
    // Attempts were not counted once.
    let earlier = RUN.replace(r#""failed_attempts":2,"#, "");
    let read: Run = serde_json::from_str(&earlier).expect("it can be read");
    assert_eq!(read, Run { failed_attempts: 0, ..run() });
    // What came later is left out where it is as it was before.
    let later = Run { reuse: true, private: true, ..run() };
    is_kept_as(&later, &RUN.replace(r#""A title"}"#, r#""A title","reuse":true,"private":true}"#));
    let of_project = Run { project: "fabric".to_owned(), ..run() };
    is_kept_as(&of_project, &RUN.replace(r#""A title"}"#, r#""A title","project":"fabric"}"#));
    let traced = Run { traceparent: "00-a-b-01".to_owned(), ..run() };
    is_kept_as(&traced, &RUN.replace(r#""A title"}"#, r#""A title","traceparent":"00-a-b-01"}"#));
    let execution = Execution { priority: -3, ..run().execution };
    is_kept_as(&Run { execution, ..run() }, &RUN.replace(r#"_max":1000}"#, r#"_max":1000,"priority":-3}"#));
}

#[test]
fn events_are_kept_as_they_were() {
    let child = ChildEnded { run_id: "a.1".to_owned(), child_number: 1, state: State::Succeeded, progress: progress() };
    let sample = Sample {
        cycle: 20,
        cycles: 400,
        from_cycle: 10,
        accepted_load: Some(0.1),
        latency_mean: None,
        latency_p99: Some(99.5),
        packets_in_flight: u64::MAX,
        cycles_per_second: 1e6,
        packet_hops: 5,
    };
    let child_text = concat!(
        r#"{"run_id":"a.1","child_number":1,"state":"succeeded","progress":{"cycle":1,"cycles":2,"packet_hops":3,"#,
        r#""children_ended":4,"children":5,"children_failed":6}}"#,
    );
    let sample_text = concat!(
        r#"{"cycle":20,"cycles":400,"from_cycle":10,"accepted_load":0.1,"latency_mean":null,"latency_p99":99.5,"#,
        r#""packets_in_flight":18446744073709551615,"cycles_per_second":1000000.0,"packet_hops":5}"#,
    );
    let (reason, message) = (FailureReason::WorkerLost, "it is gone".to_owned());
    let failed = AttemptFailed { attempt: 2, failure: RunFailure { reason, message, details: Vec::new() } };
    let failed_text = r#"{"attempt":2,"failure":{"reason":"worker_lost","message":"it is gone","details":[]}}"#;
    is_kept_as(&child, child_text);
    is_kept_as(&sample, sample_text);
    for (what, kind, text) in [
        (Occurrence::StateChanged(Box::new(run())), "state_changed", RUN),
        (Occurrence::ChildEnded(child), "child_ended", child_text),
        (Occurrence::Sample(sample), "sample", sample_text),
        (Occurrence::Recovered(7), "recovered", "7"),
        (Occurrence::AttemptFailed(failed), "attempt_failed", failed_text),
    ] {
        assert_eq!(events::columns(&what), (kind, text.to_owned()));
    }
}

#[test]
fn states_and_reasons_have_the_words_that_they_had() {
    use FailureReason::*;
    use State::*;
    for state in [Pending, Running, Cancelling, Succeeded, Failed, Cancelled] {
        assert_eq!(to_json(&state), format!("\"{}\"", state.word()), "the column and the content agree");
    }
    is_kept_as(
        &vec![
            Deadlock,
            Inconsistent,
            Panicked,
            WallTime,
            ArtifactBytes,
            StorageFull,
            Storage,
            Scenario,
            Threads,
            Children,
            Memory,
            WorkerLost,
        ],
        concat!(
            r#"["deadlock","inconsistent","panicked","wall_time","artifact_bytes","storage_full","storage","scenario","#,
            r#""threads","children","memory","worker_lost"]"#,
        ),
    );
}
