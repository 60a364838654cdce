//! The script of every page: parts of one scope each, of which the later ones use the earlier.
//!
//! For: comforts, the canvas of the timeline and what follows its view. Not for: anything that a
//! reader without JavaScript would miss. The parts share the name `lockstorm`, and no other.

/// The parts, in the order in which they run.
pub(super) const SCRIPTS: [&str; 28] = [
    include_str!("script/lockstorm.js"),
    include_str!("script/page.js"),
    include_str!("script/words.js"),
    include_str!("script/unpack.js"),
    include_str!("script/column.js"),
    include_str!("script/decode.js"),
    include_str!("script/axis.js"),
    include_str!("script/spans.js"),
    include_str!("script/view.js"),
    include_str!("script/filter.js"),
    include_str!("script/lanes.js"),
    include_str!("script/ink.js"),
    include_str!("script/bars.js"),
    include_str!("script/frame.js"),
    include_str!("script/boxes.js"),
    include_str!("script/density.js"),
    include_str!("script/scenery.js"),
    include_str!("script/minimap.js"),
    include_str!("script/hit.js"),
    include_str!("script/describe.js"),
    include_str!("script/panel.js"),
    include_str!("script/hash.js"),
    include_str!("script/pointer.js"),
    include_str!("script/keys.js"),
    include_str!("script/timeline.js"),
    include_str!("script/topology.js"),
    include_str!("script/plots.js"),
    include_str!("script/start.js"),
];
