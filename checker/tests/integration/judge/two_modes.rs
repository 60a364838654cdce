//! Owners that write and read at once.

use lockstorm_checker::{Options, Property, check};

use crate::support::{exact, history};

/// How often each property is violated, by those that are.
fn accused(text: &str) -> Vec<(Property, u64)> {
    let options = Options {
        only: Some(Property::ALL.into()),
        ..exact()
    };
    let judgements = check(&history(text), &options).properties.into_iter();
    let counts = judgements.map(|(property, judgement)| (property, judgement.count));
    counts.filter(|&(_, count)| count > 0).collect()
}

fn held_twice(count: u64) -> Vec<(Property, u64)> {
    vec![(Property::MutualExclusion, count)]
}

/// A writer that reads too; what follows.
fn reading_writer(then: &str) -> String {
    format!(
        "a acquire 0..10 ok lease 1000
         a acquire 20..30 ok lease 1000 mode read
         {then}"
    )
}

#[test]
fn a_writer_that_stops_reading_still_writes() {
    let taken = reading_writer(
        "a release 40..50 ok mode read
         b acquire 60..70 ok",
    );
    assert_eq!(accused(&taken), held_twice(1));
    let read = taken.replace("60..70 ok", "60..70 ok mode read");
    assert_eq!(accused(&read), held_twice(1));
    let left = taken.replace("b acquire", "a release 52..58 ok\n b acquire");
    assert_eq!(accused(&left), vec![]);
}

#[test]
fn a_writer_that_stops_reading_must_not_lose_what_it_writes() {
    let lost = reading_writer(
        "a release 40..50 ok mode read
         a renew 60..70 not-owner lease 1000 mode write",
    );
    assert_eq!(accused(&lost), vec![(Property::LostLock, 1)]);
    let late = lost.replace("60..70", "1060..1070");
    assert_eq!(accused(&late), vec![]);
    let of_readers = lost.replace("mode write", "mode read");
    assert_eq!(accused(&of_readers), vec![]);
}

#[test]
fn a_writer_that_goes_on_to_read_shares_the_lock_with_readers_only() {
    let reader = reading_writer(
        "a release 40..50 ok mode write
         b acquire 60..70 ok mode read
         a renew 80..90 ok lease 1000 mode read
         a release 100..110 ok mode read",
    );
    assert_eq!(accused(&reader), vec![]);
    let writer = reader.replace("60..70 ok mode read", "60..70 ok");
    assert_eq!(accused(&writer), held_twice(1));
    let early = reader.replace("60..70", "32..38");
    assert_eq!(accused(&early), held_twice(1));
}

#[test]
fn renewals_extend_the_hold_of_their_mode() {
    let text = reading_writer(
        "a renew 40..50 ok lease 5000 mode write
         a release 60..70 ok mode write
         b acquire 2000..2010 ok
         b release 2100..2110 ok mode write
         a release 3000..3010 ok mode read",
    );
    // The lease of the reader was over.
    assert_eq!(accused(&text), vec![(Property::LeaseOverrun, 1)]);
    let kept = text.replace("60..70 ok mode write", "60..70 ok mode read");
    assert_eq!(accused(&kept), held_twice(1));
}

#[test]
fn who_asks_to_write_while_it_reads_may_turn_the_one_into_the_other() {
    let text = |release: &str| {
        format!(
            "a acquire 0..10 ok mode read
             a acquire 20..30 ok
             a release 40..50 ok mode {release}
             b acquire 60..70 ok"
        )
    };
    assert_eq!(accused(&text("write")), vec![]);
    assert_eq!(accused(&text("read")), vec![]);
    let unknown = text("write").replace("20..30 ok", "20..30 info");
    assert_eq!(accused(&unknown), vec![]);
    let early = text("write").replace("60..70", "32..38");
    assert_eq!(accused(&early), held_twice(1));
}

#[test]
fn reading_that_may_never_have_begun_changes_nothing() {
    let text = |release: &str| {
        format!(
            "a acquire 0..10 ok
             a acquire 20..30 info mode read
             a release 40..50 {release} mode read
             b acquire 60..70 refused
             a release 80..90 ok mode write
             b acquire 100..110 ok"
        )
    };
    for release in ["ok", "not-owner", "info"] {
        assert_eq!(accused(&text(release)), vec![]);
        let taken = text(release).replace("60..70 refused", "60..70 ok");
        assert_eq!(accused(&taken)[0], held_twice(1)[0], "{release}");
    }
}

#[test]
fn a_release_without_a_mode_may_be_of_either_hold() {
    let text = |next: &str| {
        reading_writer(&format!(
            "a release 40..50 ok
             {next}"
        ))
    };
    for next in [
        "b acquire 60..70 ok",
        "b acquire 60..70 ok mode read",
        "a renew 60..70 not-owner",
        "a release 60..70 not-owner",
        "a release 60..70 ok\n b acquire 80..90 ok",
        "a renew 60..70 ok lease 1000\n b acquire 1065..1068 refused",
        "b acquire 60..70 refused\n c acquire 60..70 refused mode read",
        "b acquire 960..970 ok\n a release 980..990 ok",
    ] {
        assert_eq!(accused(&text(next)), vec![], "{next}");
    }
}

#[test]
fn a_renewal_without_a_mode_may_be_of_either_hold() {
    let text = reading_writer(
        "a renew 500..510 ok lease 1000
         a release 520..530 ok
         b acquire 1100..1110 ok
         a release 1120..1130 ok",
    );
    assert_eq!(accused(&text), vec![]);
    let denied = reading_writer("a renew 500..510 not-owner");
    assert_eq!(accused(&denied), vec![]);
}

#[test]
fn who_names_the_mode_of_readers_only_means_a_writer_otherwise() {
    let text = "c acquire 0..1 ok mode read
                c release 2..3 ok mode read
                a acquire 4..10 ok lease 1000
                a acquire 20..30 ok lease 1000 mode read
                a release 40..50 ok
                b acquire 60..70 ok";
    assert_eq!(accused(text), held_twice(1));
    let reader = text.replace("60..70 ok", "60..70 ok mode read");
    assert_eq!(accused(&reader), vec![]);
}

#[test]
fn what_names_no_mode_is_of_a_reader_where_its_owner_only_reads() {
    let text = "a acquire 0..10 ok lease 1000 mode read
                a renew 20..30 ok lease 2000
                b acquire 1010..1020 refused
                a release 1030..1040 ok
                b acquire 1050..1060 ok";
    assert_eq!(accused(text), vec![]);
    let taken = text.replace("1010..1020 refused", "1010..1020 ok");
    assert_eq!(accused(&taken)[0], held_twice(1)[0]);
    let lost = text.replace("20..30 ok", "20..30 not-owner");
    assert_eq!(accused(&lost)[0], (Property::LostLock, 1));
}

#[test]
fn one_session_after_the_other_is_known_without_modes() {
    let text = "a acquire 0..10 ok lease 1000
                a release 20..30 ok
                a acquire 40..50 ok lease 1000 mode read
                b acquire 60..70 refused
                a renew 80..90 ok lease 1000
                a release 100..110 ok
                b acquire 120..130 ok";
    assert_eq!(accused(text), vec![]);
    let taken = text.replace("60..70 refused", "60..70 ok");
    assert_eq!(accused(&taken)[0], held_twice(1)[0]);
    let free = text.replace("120..130 ok", "120..130 refused");
    assert_eq!(accused(&free), vec![(Property::SpuriousRefusal, 1)]);
}

#[test]
fn grants_of_two_modes_are_counted_apart_or_not_at_all() {
    let text = "a acquire 0..10 ok count 1
                a acquire 20..30 ok count 2
                a acquire 40..50 ok count 1 mode read
                a release 60..70 ok count 0 mode read
                a release 80..90 ok count 1 mode write
                a release 100..110 ok count 0 mode write";
    assert_eq!(accused(text), vec![]);
    let in_doubt = "a acquire 0..10 ok count 1
                    a acquire 20..30 ok count 2
                    a release 40..50 ok count 1 mode write
                    a acquire 60..70 info mode read
                    a release 80..90 not-owner mode read
                    a release 100..110 ok count 0 mode write";
    assert_eq!(accused(in_doubt), vec![]);
}

#[test]
fn of_two_indeterminate_acquires_a_token_proves_neither() {
    let text = "a acquire 0..10 info
                a acquire 20..30 info mode read
                a write 40..50 ok token 7
                b acquire 60..70 ok";
    assert_eq!(accused(text), vec![]);
    let one = text.replace("a acquire 20..30 info mode read", "");
    assert_eq!(accused(&one), held_twice(1));
}
