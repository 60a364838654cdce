//! Fuzzed readers end in events or in an error whatever bytes they get, and what they read can be
//! judged.

use lockstorm_checker::history::{
    EdnStyle, EdnWriter, Format, History, ReadOptions, TimeUnit, read, read_strictly,
};
use lockstorm_checker::{Digest, Options, check_digest};

/// Most events of a history that is also judged: the readers are what is searched, and a judgement
/// takes longer than they do.
const JUDGED_MAX: usize = 64;

/// Reads `bytes` as `format`, or as what they are taken for.
pub fn survive(bytes: &[u8], format: Option<Format>) {
    let mut history = History::default();
    let Ok(reading) = read(bytes, "input", format, &mut history) else {
        return;
    };
    assert_eq!(reading.events as usize, history.events.len(), "all are handed on");
    if history.events.len() <= JUDGED_MAX {
        let _ = check_digest(&Digest::of(&history), &Options::default());
    }
    let mut text = Vec::new();
    let mut writer = EdnWriter::new(EdnStyle::default());
    for event in &history.events {
        writer.write(&mut text, event);
    }
    let mut again = History::default();
    let read = read(text.as_slice(), "written", Some(Format::Edn), &mut again);
    let reading = read.expect("what was written in EDN can be read");
    assert_eq!(reading.torn, None, "nothing of it is cut short");
    assert_eq!(again.events.len(), history.events.len(), "nor is anything left out");
}

/// Reads `bytes` as the history of others, whatever its times count: what is not refused is read in
/// the same number of events without the guard.
pub fn survive_strictly(bytes: &[u8]) {
    for time_unit in TimeUnit::ALL.map(Some).into_iter().chain([None]) {
        let options = ReadOptions { format: None, time_unit };
        let mut history = History::default();
        let Ok(reading) = read_strictly(bytes, "input", &options, &mut history) else {
            continue;
        };
        assert_eq!(reading.events as usize, history.events.len(), "all are handed on");
        let mut plain = History::default();
        let read = read(bytes, "input", reading.format, &mut plain);
        read.expect("what passes the guard can be read without it");
        assert_eq!(plain.events.len(), history.events.len(), "the guard leaves nothing out");
        if history.events.len() <= JUDGED_MAX {
            let _ = check_digest(&Digest::of(&history), &Options::default());
        }
    }
}
