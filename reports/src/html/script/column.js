// Reads numbers off a column, as reports/src/embed/column.rs writes them.
(() => {
  class Column {
    constructor(bytes) {
      this.bytes = bytes;
      this.at = 0;
    }

    number() {
      const byte = this.bytes[this.at];
      this.at += 1;
      return byte < 128 ? byte : this.long(byte - 128);
    }

    // The rest of a number of more than one byte.
    long(begun) {
      const { bytes } = this;
      // No shifts: they would cut off what is longer than 32 bits.
      let [value, scale, byte] = [begun, 128, 0];
      do {
        byte = bytes[this.at];
        this.at += 1;
        value += (byte & 127) * scale;
        scale *= 128;
      } while (byte > 127);
      return value;
    }

    signed() {
      return lockstorm.unzigzag(this.number());
    }

    // The next part, with its length in front.
    block() {
      const size = this.number();
      const from = this.at;
      this.at += size;
      if (this.at > this.bytes.length) throw new Error('the embedded history is cut short');
      return this.bytes.subarray(from, this.at);
    }
  }

  // Almost all fit into 31 bits, where the last one is had at once; the remainder of a longer number
  // is a division.
  lockstorm.unzigzag = (code) => {
    if (code < 0x7fffffff) return (code >> 1) ^ -(code & 1);
    return code % 2 === 0 ? code / 2 : -(code + 1) / 2;
  };
  lockstorm.Column = Column;
})();
