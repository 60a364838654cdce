// Reads numbers off a column, as reports/src/embed/column.rs writes them.
(() => {
  class Column {
    constructor(bytes) {
      this.bytes = bytes;
      this.at = 0;
    }

    number() {
      const { bytes } = this;
      let byte = bytes[this.at];
      this.at += 1;
      if (byte < 128) return byte;
      // No shifts: they would cut off what is longer than 32 bits.
      let value = byte - 128;
      let scale = 128;
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

  lockstorm.unzigzag = (code) => (code % 2 === 0 ? code / 2 : -(code + 1) / 2);
  lockstorm.Column = Column;
})();
