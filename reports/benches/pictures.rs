//! Cost of the pictures of a run: `cargo bench --bench pictures`.
//!
//! Method: the simulated storm of the checker's benchmark, with five violations in it, is judged
//! and stored as a run, once with as many operations as a storm of half a minute has and once with
//! a million. Its history is read, and its pictures are written with all that is read for them,
//! five times each. Printed are medians; what the pictures alone take is the difference.

#[path = "report/stored.rs"]
mod stored;
#[path = "../../checker/benches/sweep/storm.rs"]
mod storm;

use std::hint::black_box;
use std::time::Instant;

use lockstorm_checker::{Drift, holds};
use lockstorm_reports::{Extent, Format, Formats, render_run};

use crate::storm::Storm;

/// An odd number, so that one of them is the median.
const ROUNDS: usize = 5;
/// A storm of half a minute, and the largest that is looked at.
const OPERATIONS: [u64; 2] = [30_000, 1_000_000];

fn main() {
    println!("operations  pictures  read s  PNG s  SVG s");
    for operations in OPERATIONS {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let storm = Storm {
            operations,
            clients: 50,
            keys: 100,
        };
        stored::store(folder.path(), storm);
        let read = median(|| {
            let digest = stored::read_history(folder.path());
            black_box(holds(&digest, Drift::of_header(&digest.header)));
        });
        let mut pictures = 0;
        let mut written = |format| {
            let formats = Formats::from([format]);
            median(|| {
                let rendered = render_run(folder.path(), &formats, &Extent::default());
                pictures = rendered.expect("they can be written").paths.len();
            }) - read
        };
        let (png, svg) = (written(Format::Png), written(Format::Svg));
        println!("{operations:>10}  {pictures:>8}  {read:>6.2}  {png:>5.2}  {svg:>5.2}");
    }
}

/// The median of how many seconds it takes to do something.
fn median(mut work: impl FnMut()) -> f64 {
    let mut seconds: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64()
        })
        .collect();
    seconds.sort_by(f64::total_cmp);
    seconds[ROUNDS / 2]
}
