// From the text in the page to bytes: base64, then gzip.
(() => {
  const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

  // For browsers whose own decoder is yet to come. A table is several times as fast as `atob`, whose
  // result has to be taken apart letter by letter.
  const slowBase64 = (text) => {
    const values = new Uint8Array(128);
    for (let at = 0; at < LETTERS.length; at += 1) values[LETTERS.charCodeAt(at)] = at;
    const padding = text.endsWith('==') ? 2 : Number(text.endsWith('='));
    const bytes = new Uint8Array((text.length / 4) * 3 - padding);
    let next = 0;
    for (let at = 0; at < text.length; at += 4) {
      const group = (values[text.charCodeAt(at)] << 18) | (values[text.charCodeAt(at + 1)] << 12) |
        (values[text.charCodeAt(at + 2)] << 6) | values[text.charCodeAt(at + 3)];
      // What would be written past the end is padding, and goes nowhere.
      bytes[next] = group >> 16;
      bytes[next + 1] = group >> 8;
      bytes[next + 2] = group;
      next += 3;
    }
    return bytes;
  };

  const base64 = (text) => (Uint8Array.fromBase64 ? Uint8Array.fromBase64(text) : slowBase64(text));

  // The size of what was packed is in the last four bytes: up to four gigabytes, which no page embeds.
  const sizeOf = (packed) => new DataView(packed.buffer).getUint32(packed.length - 4, true);

  // Written and read by hand: a blob is asked for piece by piece, from another process.
  const gunzip = async (packed) => {
    const bytes = new Uint8Array(sizeOf(packed));
    const { readable, writable } = new DecompressionStream('gzip');
    const writer = writable.getWriter();
    // What fails here fails for the reader as well, and is told of there.
    writer.write(packed).catch(() => {});
    writer.close().catch(() => {});
    const reader = readable.getReader();
    let at = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return bytes.subarray(0, at);
      bytes.set(value, at);
      at += value.length;
    }
  };

  const unpack = (text) => gunzip(base64(text.trim()));

  Object.assign(lockstorm, { unpack, slowBase64 });
})();
