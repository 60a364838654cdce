//! Views of servers, their commands and the turns of clients: told in stories, and never judged.

use lockstorm_checker::verdict::{StepKind, Witness};
use lockstorm_checker::{Analysis, Property};

use crate::support::judge;

const BARE: &str = "a acquire 20..30 ok lease 2000
                    b acquire 100..110 ok lease 2000
                    a release 500..510 ok
                    b release 600..610 ok";

fn witness(analysis: &Analysis) -> &Witness {
    &analysis.properties[&Property::MutualExclusion].witnesses[0]
}

fn told(text: &str, kind: StepKind) -> Vec<String> {
    let analysis = judge(&format!("{BARE}\n{text}"));
    let steps = witness(&analysis).story.iter();
    let steps = steps.filter(|step| step.kind == kind);
    steps.map(|step| step.text.clone()).collect()
}

#[test]
fn a_story_says_what_each_server_knew_and_what_it_knew_before() {
    let told = told(
        "view 35 n1:primary:a:1995 n2:replica:-
         view 90 n1:!dead n2:primary:-
         view 115 n1:!dead n2:primary:b:1995",
        StepKind::Trace,
    );
    assert_eq!(
        told,
        [
            "the servers on \"lock\": n1 (primary): held by a, 1.995 s left; n2 (replica): no such \
             key",
            "the servers on \"lock\": n1: no answer, dead (before: primary, held by a); n2 \
             (primary): no such key (before: replica, no such key)",
            "the servers on \"lock\": n1: no answer, dead; n2 (primary): held by b, 1.995 s left \
             (before: no such key)",
        ]
    );
}

#[test]
fn time_that_goes_by_is_no_news_of_a_server() {
    let told = told(
        "view 35 n1:primary:a:1995
         view 45 n1:primary:a:1985
         view 115 n1:primary:?text",
        StepKind::Trace,
    );
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[1].contains("n1 (primary): text, without an end (before: held by a)"));
}

#[test]
fn a_story_quotes_what_servers_were_told_and_by_whom() {
    let told = told(
        "told 29 n1 a SET lock 4f2a NX PX 2000
         told 29 n1 script DEL lock
         told 700 n1 b DEL lock",
        StepKind::Trace,
    );
    assert_eq!(
        told,
        [
            "a sent n1: SET lock 4f2a NX PX 2000",
            "n1 did in a script: DEL lock"
        ],
        "what came after the contradiction explains nothing"
    );
}

#[test]
fn what_a_client_asks_again_and_again_is_quoted_the_first_and_the_last_time() {
    let told = told(
        "told 21 n1 b SET lock 77 NX PX 2000
         told 21 n1 a SET lock 4f2a NX PX 2000
         told 23 n1 b SET lock 77 NX PX 2000
         told 25 n1 b SET lock 77 NX PX 2000
         told 26 n1 a PEXPIRE lock 2000
         told 29 n1 b SET lock 77 NX PX 2000",
        StepKind::Trace,
    );
    assert_eq!(
        told,
        [
            "b sent n1: SET lock 77 NX PX 2000 (and 2 more until 0.025 s)",
            "a sent n1: SET lock 4f2a NX PX 2000",
            "a sent n1: PEXPIRE lock 2000",
            "b sent n1 again: SET lock 77 NX PX 2000",
        ]
    );
}

#[test]
fn what_is_sent_again_is_the_same_from_the_same_client_to_the_same_server() {
    let told = told(
        "told 21 n1 a SET lock 4f2a NX PX 2000
         told 23 n1 b SET lock 4f2a NX PX 2000
         told 25 n2 a SET lock 4f2a NX PX 2000
         told 27 n1 a SET lock 4f2a NX PX 2000",
        StepKind::Trace,
    );
    assert_eq!(
        told,
        [
            "a sent n1: SET lock 4f2a NX PX 2000",
            "b sent n1: SET lock 4f2a NX PX 2000",
            "a sent n2: SET lock 4f2a NX PX 2000",
            "a sent n1 again: SET lock 4f2a NX PX 2000",
        ]
    );
}

#[test]
fn a_try_with_a_value_of_its_own_is_like_the_one_before() {
    let told = told(
        "told 21 n1 b SET lock 0f8fad5b-d9cb-469f-a165-70867728950e NX PX 2000
         told 23 n1 b SET lock 7c9e6679-7425-40de-944b-e07fc1f90ae7 NX PX 2000
         told 25 n1 b SET lock 16fd2706-8baf-433b-82eb-8c7fada847da NX PX 2000
         told 26 n1 b SET lock 886313e1-3b8a-5372-9b90-0c9aee199e5d NX PX 9",
        StepKind::Trace,
    );
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(
        told[0].ends_with("(and 1 more like it, with other values, until 0.023 s)"),
        "{told:?}"
    );
}

#[test]
fn a_story_shows_where_its_clients_turned_and_leaves_out_their_first_connections() {
    let told = told(
        "a routed 21 n1
         b routed 101 n1 n2 promoted
         b routed 102 n2 n2 no reply within 5 ms
         c routed 103 n1 n2 promoted",
        StepKind::Route,
    );
    assert_eq!(
        told,
        [
            "b turned from n1 to n2: promoted",
            "b connected to n2 again: no reply within 5 ms"
        ],
        "and c has no part in it"
    );
}

#[test]
fn turns_are_counted_and_first_connections_are_not() {
    let text = format!(
        "{BARE}
         a routed 21 n1
         b routed 101 n1 n2 promoted
         b routed 102 n2 n2 closed
         c routed 103 n1 n2 promoted"
    );
    let coverage = judge(&text).coverage;
    assert_eq!((coverage.redirects, coverage.reconnects), (2, 1));
}

#[test]
fn no_verdict_and_no_proof_rests_on_what_servers_say() {
    let text = format!(
        "{BARE}
         view 35 n1:primary:c:1995
         told 40 n1 c DEL lock
         view 45 n1:primary:-
         b routed 101 n1 n2 promoted"
    );
    let (bare, traced) = (judge(BARE), judge(&text));
    let proof = |analysis: &Analysis| {
        let last = witness(analysis)
            .story
            .last()
            .cloned()
            .expect("a story ends");
        last.evidence.len()
    };
    assert_eq!(proof(&bare), proof(&traced));
    let verdicts = |analysis: &Analysis| {
        let each = analysis.properties.iter();
        // Two need no second client, and are judged by what servers tell.
        let by_trace = [Property::DeadOnArrival, Property::Leftover];
        let each = each.filter(|(property, _)| !by_trace.contains(property));
        let each = each.map(|(property, judged)| (*property, judged.verdict, judged.count));
        each.collect::<Vec<_>>()
    };
    assert_eq!(verdicts(&bare), verdicts(&traced));
    assert_eq!(bare.coverage.owners, traced.coverage.owners);
    assert_eq!(bare.coverage.keys, traced.coverage.keys);
}

#[test]
fn a_server_that_counts_the_leases_it_ended_is_told_of_as_far_as_the_story_goes() {
    let told = told(
        "expired 0..15 n4 2
         expired 35..55 n1 1
         expired 90..140 n3 20
         expired 590..610 n2 1",
        StepKind::Trace,
    );
    assert_eq!(
        told,
        [
            "n1 ended a lease for being over, by its own count, between 0.035 s and 0.055 s",
            "n3 ended 20 leases for being over, by its own count, between 0.090 s and 0.140 s",
        ]
    );
}
