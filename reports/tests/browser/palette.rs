//! Makes a picture of the screen small: at most 256 colours, which is nearly all that a page has.

use std::collections::HashMap;

use png::{BitDepth, ColorType, Compression, Decoder, Encoder, FilterType};

/// Colours that a byte can tell apart.
const COLOURS_MAX: usize = 256;

/// Reduces a picture to its most frequent colours; each other one becomes the nearest of them.
pub fn reduced(picture: &[u8]) -> Vec<u8> {
    let mut reader = Decoder::new(std::io::Cursor::new(picture))
        .read_info()
        .expect("Chromium writes PNG files");
    let size = reader.output_buffer_size();
    let mut bytes = vec![0; size];
    let frame = reader.next_frame(&mut bytes).expect("it is whole");
    let step = frame.color_type.samples();
    let pixels = || {
        bytes[..frame.buffer_size()]
            .chunks_exact(step)
            .map(|pixel| [pixel[0], pixel[1], pixel[2]])
    };
    let mut counts: HashMap<[u8; 3], u64> = HashMap::new();
    for pixel in pixels() {
        *counts.entry(pixel).or_default() += 1;
    }
    let mut colours: Vec<[u8; 3]> = counts.keys().copied().collect();
    colours.sort_by_key(|colour| (std::cmp::Reverse(counts[colour]), *colour));
    colours.truncate(COLOURS_MAX);
    let places: HashMap<[u8; 3], u8> = counts
        .keys()
        .map(|colour| (*colour, nearest(&colours, *colour)))
        .collect();
    let indices: Vec<u8> = pixels().map(|pixel| places[&pixel]).collect();

    let mut out = Vec::new();
    let mut encoder = Encoder::new(&mut out, frame.width, frame.height);
    encoder.set_color(ColorType::Indexed);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_palette(colours.concat());
    encoder.set_compression(Compression::Best);
    encoder.set_filter(FilterType::NoFilter);
    let mut writer = encoder.write_header().expect("memory can be written");
    writer
        .write_image_data(&indices)
        .expect("memory can be written");
    writer.finish().expect("memory can be written");
    out
}

fn nearest(colours: &[[u8; 3]], wanted: [u8; 3]) -> u8 {
    let distance = |colour: &[u8; 3]| -> u32 {
        colour
            .iter()
            .zip(wanted)
            .map(|(one, other)| u32::from(one.abs_diff(other)).pow(2))
            .sum()
    };
    let places = 0..colours.len();
    let place = places.min_by_key(|place| distance(&colours[*place]));
    u8::try_from(place.expect("a picture has a colour")).expect("there are at most 256")
}
