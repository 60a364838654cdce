//! Histories that others recorded, with the verdicts that three other checkers agree on.
//!
//! Method: each file is read as a user would have it read, judged by the model that it is about,
//! and the verdict compared; each witness is then read again, alone. Without the folder of
//! histories nothing can be compared, and the test says so.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::time::Instant;

use lockstorm_checker::history::{Header, read};
use lockstorm_checker::{
    Analysis, Digest, DigestBuilder, ModelName, Options, Property, Verdict, check_digest,
};

const FOLDER: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../shared/histories/porcupine"
);

fn folder() -> Option<PathBuf> {
    let folder = PathBuf::from(FOLDER);
    if !folder.exists() {
        println!("SKIPPED: there is no folder {FOLDER}");
        return None;
    }
    Some(folder)
}

fn digest(path: &Path) -> Digest {
    let file = File::open(path).expect("the file is there");
    let mut builder = DigestBuilder::new(Header::new());
    let name = path.display().to_string();
    read(BufReader::new(file), &name, None, &mut builder).expect("the history can be read");
    builder.finish()
}

fn judge(digest: &Digest, model: &str) -> Analysis {
    let options = Options {
        only: Some([Property::Model].into()),
        model: Some(model.parse::<ModelName>().expect("a model")),
        ..Options::default()
    };
    check_digest(digest, &options)
}

fn verdict(legal: bool) -> Verdict {
    if legal {
        Verdict::Valid
    } else {
        Verdict::Violated
    }
}

#[test]
fn the_fifty_etcd_logs_are_judged_as_by_others() {
    let Some(folder) = folder() else {
        return;
    };
    let table = std::fs::read_to_string(folder.join("verdicts.csv")).expect("the table is there");
    let mut count = 0;
    let mut time = std::time::Duration::ZERO;
    for (file, legal) in table
        .lines()
        .skip(1)
        .filter_map(|line| line.split_once(','))
    {
        let digest = digest(&folder.join(file));
        let start = Instant::now();
        let analysis = judge(&digest, "cas-register");
        time += start.elapsed();
        assert_eq!(analysis.verdict, verdict(legal == "true"), "{file}");
        for witness in &analysis.properties[&Property::Model].witnesses {
            assert!(
                witness.claim.contains("does not allow"),
                "{}",
                witness.claim
            );
            assert!(witness.story.len() < 40, "{file}: {}", witness.story.len());
        }
        count += 1;
    }
    assert_eq!(count, 50);
    println!("50 etcd logs judged in {time:?}");
}

#[test]
fn the_key_value_histories_are_judged_as_their_names_say() {
    let Some(folder) = folder() else {
        return;
    };
    for (file, legal) in [
        ("c01-ok.txt", true),
        ("c10-ok.txt", true),
        ("c10-bad.txt", false),
    ] {
        let analysis = judge(&digest(&folder.join(file)), "append");
        assert_eq!(analysis.verdict, verdict(legal), "{file}");
        for witness in &analysis.properties[&Property::Model].witnesses {
            println!("{file}: {} ({} steps)", witness.claim, witness.story.len());
        }
    }
}
