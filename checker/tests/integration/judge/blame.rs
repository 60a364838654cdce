//! Which faults a violation is blamed on.

use lockstorm_checker::{Property, check};

use crate::support::{exact, history, judge};

/// The faults that the first violation of a property is blamed on.
fn blamed(property: Property, text: &str) -> Vec<String> {
    judge(text).properties[&property].witnesses[0]
        .blamed
        .clone()
}

/// a holds; b is granted the lock inside the lease of a.
fn twice(faults: &str) -> String {
    format!(
        "a acquire 100..110 ok lease 1000
         b acquire 400..410 ok lease 1000
         {faults}"
    )
}

fn fault(id: &str, what: &str, from: u64, until: u64) -> String {
    format!(
        "fault {id} {what} injected {from}
         fault {id} {what} observed {from}
         fault {id} {what} healed {until}"
    )
}

#[test]
fn only_what_was_active_between_the_two_grants_is_blamed() {
    let faults = [
        fault("F1", "kill n1", 10, 50),
        fault("F2", "kill n1", 200, 300),
        fault("F3", "kill n1", 450, 500),
    ];
    let text = twice(&faults.join("\n"));
    assert_eq!(blamed(Property::MutualExclusion, &text), ["F2"]);
    let counts = judge(&text)
        .faults
        .iter()
        .map(|fault| fault.violations)
        .collect::<Vec<_>>();
    assert_eq!(counts, [0, 1, 0], "the table counts the same");
}

#[test]
fn a_renewal_shows_that_the_service_still_knew() {
    let faults = [
        fault("F1", "kill n1", 150, 180),
        fault("F2", "kill n1", 300, 350),
    ];
    let text = format!(
        "{}\na renew 200..210 ok lease 1000",
        twice(&faults.join("\n"))
    );
    assert_eq!(blamed(Property::MutualExclusion, &text), ["F2"]);
    let unanswered = text.replace("200..210 ok", "200..210 info");
    assert_eq!(blamed(Property::MutualExclusion, &unanswered), ["F1", "F2"]);
}

#[test]
fn a_refusal_of_another_shows_that_the_service_still_knew() {
    let faults = [
        fault("F1", "kill n1", 150, 180),
        fault("F2", "kill n1", 300, 350),
    ];
    let with = |line: &str| format!("{}\n{line}", twice(&faults.join("\n")));
    let refused = with("c acquire 200..210 refused");
    assert_eq!(blamed(Property::MutualExclusion, &refused), ["F2"]);
    let near_misses = [
        ("the owner's own", "a acquire 200..210 refused"),
        ("without an answer", "c acquire 200..210 info"),
        ("before the first fault ended", "c acquire 160..210 refused"),
        (
            "another may have had it",
            "d acquire 190..195 info lease 50\n c acquire 200..210 refused",
        ),
        (
            "others were before it in a queue",
            "c acquire 200..210 refused\n c queued 205 by 1",
        ),
    ];
    for (why, line) in near_misses {
        let both = blamed(Property::MutualExclusion, &with(line));
        assert_eq!(both, ["F1", "F2"], "{why}");
    }
}

#[test]
fn a_client_makes_no_server_forget_unless_there_is_nothing_else() {
    let pause = fault("F1", "pause-client a", 150, 390);
    let both = twice(&format!("{pause}\n{}", fault("F2", "kill n1", 200, 300)));
    assert_eq!(blamed(Property::MutualExclusion, &both), ["F2"]);
    assert_eq!(blamed(Property::MutualExclusion, &twice(&pause)), ["F1"]);
    let of_other = twice(&pause.replace("pause-client a", "pause-client c"));
    assert!(
        blamed(Property::MutualExclusion, &of_other).is_empty(),
        "c has no part in it"
    );
}

#[test]
fn a_crash_is_blamed_on_nothing_that_only_another_client_felt() {
    let under = |fault: &str| {
        let text = format!(
            "b acquire 0..10 ok lease 20
             fault F1 {fault} injected 100
             fault F1 {fault} observed 110
             fault F1 {fault} healed 700
             a acquire 150..600 info lease 300
             a crash 510 acquire"
        );
        let mut history = history(&text);
        history.header.notes_failures = Some(true);
        let crashes = &check(&history, &exact()).properties[&Property::Progress];
        crashes.witnesses[0].blamed.clone()
    };
    for of_other in ["pause-client b", "cut b→n1", "cut n1→b"] {
        assert_eq!(under(of_other), Vec::<String>::new(), "{of_other}");
    }
    for its_own in ["pause-client a", "cut a→n1", "cut n1→n2", "kill n1"] {
        assert_eq!(under(its_own), ["F1"], "{its_own}");
    }
}

#[test]
fn who_acts_after_its_lease_was_held_up_itself() {
    let text = format!(
        "a acquire 100..110 ok lease 200
         b acquire 500..510 ok lease 1000
         a alive 700
         b release 900..910 ok
         {}
         {}
         {}",
        fault("F1", "pause-client a", 150, 690),
        fault("F2", "pause-client b", 150, 690),
        fault("F3", "pause n1", 150, 690)
    );
    assert_eq!(blamed(Property::LeaseOverrun, &text), ["F1"]);
}

/// The leader of a queue of members may do late what it took for due before it stood still.
#[test]
fn a_stall_that_is_over_is_blamed_if_the_server_ended_leases_after_it() {
    let with = |counted: &str| {
        format!(
            "a acquire 0..10 ok lease 3000\n\
             fault F1 pause n1 injected 100\n\
             fault F1 pause n1 healed 4600\n\
             a renew 1000..1010 ok lease 3000\n\
             a renew 3000..3010 ok lease 3000\n\
             a renew 5000..5010 ok lease 3000\n\
             {counted}\n\
             b acquire 5900..6000 ok lease 3000\n\
             a release 7000..7010 not-owner\n"
        )
    };
    let of = |counted: &str| blamed(Property::MutualExclusion, &with(counted));
    assert_eq!(of("expired 5800..6010 n1 2"), ["F1"]);
    let nobody = Vec::<String>::new();
    assert_eq!(of(""), nobody);
    assert_eq!(of("expired 5800..6010 n2 2"), nobody, "another server");
    assert_eq!(
        of("expired 4600..4800 n1 2"),
        nobody,
        "a renewal came after"
    );
}
