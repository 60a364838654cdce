//! The history is linearizable for the model that was chosen.

use lockstorm_checker::verdict::Judgement;
use lockstorm_checker::{Analysis, ModelName, Options, Property, Verdict, check};

use crate::support::{exact, history};

fn analysed(model: &str, text: &str) -> Analysis {
    let model: ModelName = model.parse().expect("a model");
    let options = Options {
        only: Some([Property::Model].into()),
        model: Some(model),
        ..exact()
    };
    check(&history(text), &options)
}

fn judged(model: &str, text: &str) -> Verdict {
    analysed(model, text).verdict
}

fn claim(model: &str, text: &str) -> String {
    let analysis = analysed(model, text);
    let judgement = &analysis.properties[&Property::Model];
    assert_eq!(
        judgement.verdict,
        Verdict::Violated,
        "{:?}",
        judgement.reason
    );
    judgement.witnesses[0].claim.clone()
}

fn reason(model: &str, text: &str) -> String {
    let analysis = analysed(model, text);
    let judgement = &analysis.properties[&Property::Model];
    assert_eq!(judgement.verdict, Verdict::Unknown);
    judgement.reason.clone().expect("unknown has a reason")
}

/// Models that allow a history, models that do not, and the history.
const ROWS: &[(&str, &str, &str)] = &[
    (
        "mutex owner-aware reentrant fenced reentrant-fenced semaphore:1 read-write",
        "",
        "a acquire 0..10 ok\n a release 20..30 ok\n b acquire 40..50 ok",
    ),
    (
        "mutex",
        "owner-aware reentrant fenced reentrant-fenced semaphore:2 read-write",
        "a acquire 0..10 ok\n b release 20..30 ok\n b acquire 40..50 ok",
    ),
    (
        "reentrant reentrant:2 reentrant-fenced semaphore:2",
        "mutex owner-aware reentrant:1 fenced read-write semaphore:1",
        "a acquire 0..10 ok\n a acquire 20..30 ok",
    ),
    (
        "reentrant reentrant:3",
        "reentrant:2",
        "a acquire 0..1 ok\n a acquire 2..3 ok\n a acquire 4..5 ok",
    ),
    (
        "reentrant:2",
        "reentrant reentrant:3 semaphore:3",
        "a acquire 0..1 ok\n a acquire 2..3 ok\n a acquire 4..5 refused",
    ),
    (
        "",
        "mutex owner-aware reentrant fenced reentrant-fenced semaphore:1 read-write",
        "a acquire 0..10 ok\n b acquire 20..30 ok",
    ),
    (
        "owner-aware reentrant",
        "fenced reentrant-fenced",
        "a acquire 0..1 ok token 5\n a release 2..3 ok\n b acquire 4..5 ok token 5",
    ),
    (
        "fenced reentrant-fenced",
        "",
        "a acquire 0..1 ok token 5\n a release 2..3 ok\n b acquire 4..5 ok\n
             b release 6..7 ok\n a acquire 8..9 ok token 6",
    ),
    (
        "reentrant-fenced",
        "fenced",
        "a acquire 0..1 ok token 5\n a acquire 2..3 ok token 5",
    ),
    (
        "reentrant",
        "reentrant-fenced",
        "a acquire 0..1 ok token 5\n a acquire 2..3 ok token 6",
    ),
    (
        "reentrant-fenced",
        "",
        "a acquire 0..1 ok\n a acquire 2..3 ok token 6\n a acquire 4..5 ok token 6",
    ),
    (
        "semaphore:3",
        "semaphore:2",
        "a acquire 0..1 ok permits 2\n b acquire 2..3 ok\n b release 4..5 ok",
    ),
    (
        "semaphore:2",
        "semaphore:3",
        "a acquire 0..1 ok permits 2\n b acquire 2..3 refused",
    ),
    (
        "",
        "semaphore:3",
        "a acquire 0..1 ok permits 2\n a release 2..3 ok permits 3",
    ),
    (
        "read-write",
        "",
        "a acquire 0..1 ok mode read\n b acquire 2..3 ok mode read\n
             c acquire 4..5 refused\n a release 6..7 ok mode read\n b release 6..7 ok mode read\n
             c acquire 8..9 ok\n c acquire 10..11 ok mode read\n
             a acquire 12..13 refused mode read",
    ),
    (
        "",
        "read-write",
        "a acquire 0..1 ok mode read\n a acquire 2..3 ok",
    ),
    (
        "",
        "read-write",
        "a acquire 0..1 ok\n b acquire 2..3 ok mode read",
    ),
    (
        "read-write",
        "",
        "a acquire 0..1 ok\n a release 2..3 not-owner mode read\n a release 4..5 ok",
    ),
    (
        "read-write",
        "",
        "a acquire 0..1 ok lease 900\n a release 2..3 not-owner mode read\n b acquire 4..5 refused",
    ),
    (
        "",
        "read-write",
        "a acquire 0..1 ok mode read\n a release 2..3 not-owner mode read",
    ),
    (
        "",
        "read-write",
        "a acquire 0..1 ok mode read\n b acquire 2..3 refused mode read",
    ),
    (
        "mutex",
        "owner-aware reentrant fenced reentrant-fenced semaphore:1 read-write",
        "a acquire 0..10 ok\n b renew 20..30 ok",
    ),
    (
        "owner-aware reentrant fenced reentrant-fenced semaphore:1 read-write",
        "mutex",
        "a acquire 0..10 ok\n b release 20..30 not-owner\n b renew 20..30 not-owner",
    ),
    (
        "",
        "mutex owner-aware reentrant fenced reentrant-fenced semaphore:1 read-write",
        "a acquire 0..10 ok\n a release 20..30 not-owner",
    ),
];

#[test]
fn each_model_allows_what_it_should_and_nothing_else() {
    for &(legal, illegal, text) in ROWS {
        for model in legal.split_whitespace() {
            assert_eq!(judged(model, text), Verdict::Valid, "{model}:\n{text}");
        }
        for model in illegal.split_whitespace() {
            assert_eq!(judged(model, text), Verdict::Violated, "{model}:\n{text}");
        }
    }
}

#[test]
fn a_witness_is_minimal_and_says_why_in_words() {
    let text = "a acquire 0..10 ok
                a release 20..30 ok
                b acquire 40..50 ok
                c acquire 55..60 refused
                d acquire 70..80 ok
                d release 90..95 ok";
    let analysis = analysed("owner-aware", text);
    let witness = &analysis.properties[&Property::Model].witnesses[0];
    assert_eq!(
        witness.claim,
        "d was granted \"lock\", which the model owner-aware does not allow in any order of these \
         2 operations: it is already held by b"
    );
    let told: Vec<&str> = witness.story.iter().map(|step| &*step.text).collect();
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(
        told[0].starts_with("b asked") && told[1].starts_with("d asked"),
        "{told:?}"
    );
    assert_eq!(analysis.properties[&Property::Model].engine, "core-sweep");
}

#[test]
fn the_sweep_shows_the_operations_that_bound_what_is_impossible_and_no_others() {
    let many: Vec<String> = (0..200)
        .map(|n| 10 * n)
        .map(|at| (at, at + 2, at + 4))
        .map(|(at, sent, end)| format!("a acquire {at}..{at} ok\n a release {sent}..{end} ok\n"))
        .collect();
    let many = many.concat();
    let shown = |model: &str, end: &str| {
        let analysis = analysed(model, &format!("{many}{end}"));
        let judgement = &analysis.properties[&Property::Model];
        assert_eq!((judgement.count, &*judgement.engine), (1, "core-sweep"));
        judgement.witnesses[0].claim.clone()
    };
    let after_a = shown("owner-aware", "b acquire 1996..1997 refused");
    assert!(
        after_a.contains("b was refused") && after_a.contains("these 3 operations"),
        "the last hold of a, and the try: {after_a}"
    );
    let renewed = "b acquire 2000..2001 ok lease 10\n b renew 2009..2010 ok lease 10\n \
                   c acquire 2012..2013 ok";
    let too_soon = shown("owner-aware", renewed);
    assert!(
        too_soon.contains("c was granted") && too_soon.contains("these 3 operations"),
        "the grant, its renewal, and the other grant: {too_soon}"
    );
    let full = "b acquire 2000..2001 ok\n c acquire 2002..2003 ok\n d acquire 2004..2005 ok";
    let too_many = shown("semaphore:2", full);
    assert!(
        too_many.contains("d was granted") && too_many.contains("these 3 operations"),
        "{too_many}"
    );
}

#[test]
fn reasons_name_what_a_reader_needs() {
    let fenced = "a acquire 0..1 ok token 7\n a release 2..3 ok\n b acquire 4..5 ok token 6";
    assert!(claim("fenced", fenced).contains("its token 6 does not exceed the earlier token 7"));
    let full = "a acquire 0..1 ok permits 2\n b acquire 2..3 ok";
    assert!(claim("semaphore:2", full).ends_with("2 permits of 2 are out, too many for 1 more"));
    let free = "a acquire 0..1 ok\n a release 2..3 ok\n b acquire 4..5 refused";
    assert!(claim("owner-aware", free).contains("b was refused \"lock\""));
}

#[test]
fn an_indeterminate_operation_explains_and_never_accuses() {
    for text in [
        "a acquire 0..1 info\n b acquire 2..3 refused",
        "a acquire 0..1 info\n a release 2..3 ok",
        "a acquire 0..1 ok\n a release 2..3 info\n b acquire 4..5 ok",
        "a acquire 0..1 ok\n a release 2..3 info\n b acquire 40..50 refused\n b acquire 60..61 ok",
        "a acquire 0..1 info\n b acquire 2..3 ok\n b release 4..5 ok\n c acquire 6..7 refused",
        "a acquire 0..1 ok\n a release 2..3 failed\n b acquire 4..5 refused",
    ] {
        assert_eq!(judged("owner-aware", text), Verdict::Valid, "{text}");
    }
    let twice = "a acquire 0..1 info\n b acquire 2..3 refused\n c acquire 4..5 ok";
    assert_eq!(
        judged("owner-aware", twice),
        Verdict::Violated,
        "near miss: a never released"
    );
}

#[test]
fn a_lease_ends_between_its_floor_and_its_ceiling() {
    let grant = |floor: &str, b: &str| format!("a acquire 0..10 ok lease 100{floor}\n b {b}");
    for (b, verdict) in [
        ("acquire 50..99 ok", Verdict::Violated),
        ("acquire 50..100 ok", Verdict::Valid),
        ("acquire 50..105 refused", Verdict::Valid),
        ("acquire 110..115 refused", Verdict::Valid),
        ("acquire 111..115 refused", Verdict::Violated),
    ] {
        assert_eq!(judged("owner-aware", &grant("", b)), verdict, "{b}");
        assert_eq!(judged("mutex", &grant("", b)), verdict, "{b}");
        assert_eq!(judged("semaphore:1", &grant("", b)), verdict, "{b}");
        assert_eq!(judged("read-write", &grant("", b)), verdict, "{b}");
    }
    let renewed = |b: &str| grant("\n a renew 50..60 ok", b);
    assert_eq!(
        judged("owner-aware", &renewed("acquire 110..149 ok")),
        Verdict::Violated
    );
    assert_eq!(
        judged("owner-aware", &renewed("acquire 110..150 ok")),
        Verdict::Valid
    );
    let maybe = |b: &str| grant("\n a renew 50..60 info", b);
    assert_eq!(
        judged("owner-aware", &maybe("acquire 110..120 ok")),
        Verdict::Valid
    );
    assert_eq!(
        judged("owner-aware", &maybe("acquire 900..950 refused")),
        Verdict::Valid
    );
}

#[test]
fn an_expiry_ends_the_whole_hold_and_no_other() {
    let twice = "a acquire 0..10 ok lease 100\n a acquire 20..30 ok lease 100\n
                 b acquire 140..150 ok\n a release 160..170 not-owner";
    assert_eq!(judged("reentrant", twice), Verdict::Valid);
    let anew = "a acquire 0..10 ok lease 100\n a release 20..30 ok\n
                a acquire 40..50 ok lease 1000\n b acquire 120..130 ok";
    assert_eq!(judged("owner-aware", anew), Verdict::Violated);
    // A lease of unknown length: it may run out at once, or never.
    let unsaid = "a acquire 0..10 ok lease 0\n b acquire 20..30 ok\n a release 40..50 not-owner";
    assert_eq!(judged("owner-aware", unsaid), Verdict::Valid);
    let proved = "a acquire 0..10 ok lease 0\n b acquire 20..30 ok\n a renew 40..50 ok";
    assert_eq!(judged("owner-aware", proved), Verdict::Violated);
    let phantom = "z acquire 0..10 info lease 100\n b acquire 90..99 refused\n
                   c acquire 150..160 ok";
    assert_eq!(judged("owner-aware", phantom), Verdict::Valid);
    let early = "z acquire 0..1 info lease 100\n b acquire 10..20 refused\n c acquire 30..99 ok";
    assert_eq!(judged("owner-aware", early), Verdict::Violated);
}

#[test]
fn ties_are_concurrent_except_within_a_process() {
    let tie = "a acquire 0..10 ok\n a release 10..10 ok\n b acquire 10..20 ok";
    assert_eq!(judged("owner-aware", tie), Verdict::Valid);
    let late = "a acquire 0..10 ok\n a release 11..11 ok\n b acquire 5..10 ok";
    assert_eq!(judged("owner-aware", late), Verdict::Violated);
    assert_eq!(
        judged("owner-aware", &late.replace("11..11", "10..11")),
        Verdict::Valid
    );
}

#[test]
fn what_a_model_cannot_speak_of_is_unknown_and_says_so() {
    let permits = "a acquire 0..1 ok permits 2";
    assert!(reason("mutex", permits).contains("choose the model semaphore:PERMITS"));
    assert!(reason("semaphore", permits).contains("write semaphore:PERMITS"));
    assert!(reason("reentrant", "a acquire 0..1 ok mode read").contains("read-write"));
    let twice = "a acquire 0..1 ok lease 100\n a acquire 2..3 ok lease 100";
    assert!(reason("semaphore:2", twice).contains("a may hold leased permits"));
    assert!(reason("mutex", "a acquire 0..1 info").contains("was completed"));
    assert!(reason("register", "a acquire 0..1 ok").contains("was completed"));
    let options = Options {
        only: Some([Property::Model].into()),
        ..exact()
    };
    let analysis = check(&history("a acquire 0..1 ok"), &options);
    let reason = analysis.properties[&Property::Model].reason.clone();
    assert!(reason.is_some_and(|reason| reason.contains("--model")));
    let unasked = check(&history("a acquire 0..1 ok"), &exact());
    assert!(!unasked.properties.contains_key(&Property::Model));
}

fn without_a_budget(model: &str, text: &str) -> Judgement {
    let options = Options {
        only: Some([Property::Model].into()),
        model: model.parse().ok(),
        budget: 0,
        ..exact()
    };
    check(&history(text), &options).properties[&Property::Model].clone()
}

#[test]
fn what_the_sweep_decides_needs_no_search() {
    let text = "a acquire 0..10 ok\n a release 20..30 ok\n b acquire 25..50 ok";
    let valid = without_a_budget("owner-aware", text);
    assert_eq!(
        (valid.verdict, &*valid.engine),
        (Verdict::Valid, "core-sweep")
    );
    let both = text.replace("25..50", "11..15");
    let violated = without_a_budget("owner-aware", &both);
    assert_eq!(
        (violated.verdict, violated.count, &*violated.engine),
        (Verdict::Violated, 1, "core-sweep")
    );
    let free = "a acquire 0..10 ok\n a release 20..30 ok\n b acquire 31..40 refused";
    let refused = without_a_budget("owner-aware", free);
    assert_eq!((refused.verdict, refused.count), (Verdict::Violated, 1));
    let touching = free.replace("31..40", "30..40");
    assert_eq!(
        without_a_budget("owner-aware", &touching).verdict,
        Verdict::Valid
    );
}

#[test]
fn a_search_that_is_cut_short_is_unknown_with_its_progress() {
    let text = "a acquire 0..10 ok permits 2
                a release 20..30 ok permits 2
                b acquire 25..50 ok";
    let judgement = without_a_budget("semaphore:3", text);
    assert_eq!(judgement.verdict, Verdict::Unknown);
    let reason = judgement.reason.as_deref().unwrap_or_default();
    assert!(
        reason.contains("--budget") && reason.contains("were decided"),
        "{reason}"
    );
}

#[test]
fn a_write_of_the_value_that_is_there_may_take_effect_after_the_next_write() {
    let text = "a write 0..1 ok value 1
                b write 2..6 ok value 1
                c write 3..4 ok value 2
                a read 7..8 ok saw 1";
    assert_eq!(judged("register", text), Verdict::Valid);
    let answered = text.replace("2..6", "2..2");
    assert_eq!(judged("register", &answered), Verdict::Violated);
}
