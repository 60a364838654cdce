// What lies in a stretch of an axis, without looking at all that there is: spans in blocks, each with
// its first and last place.
(() => {
  const { gather } = lockstorm;
  const BLOCK = 512;

  class Spans {
    // `from` and `to` give the ends of each of `count` spans.
    constructor(count, from, to) {
      this.count = count;
      this.from = from;
      this.to = to;
      const blocks = Math.ceil(count / BLOCK);
      this.first = new Float64Array(blocks).fill(Infinity);
      this.last = new Float64Array(blocks).fill(-Infinity);
      for (let at = 0; at < count; at += 1) {
        const block = Math.floor(at / BLOCK);
        this.first[block] = Math.min(this.first[block], from[at]);
        this.last[block] = Math.max(this.last[block], to[at]);
      }
    }

    // Calls `take` with the number of each span that meets [from, to], until it answers `false`.
    each(from, to, take) {
      for (let block = 0; block < this.first.length; block += 1) {
        if (this.first[block] > to || this.last[block] < from) continue;
        const end = Math.min(this.count, (block + 1) * BLOCK);
        for (let at = block * BLOCK; at < end; at += 1) {
          if (this.from[at] <= to && this.to[at] >= from && take(at) === false) return;
        }
      }
    }

    // Whether more than `most` spans meet [from, to].
    isMore(from, to, most) {
      let count = 0;
      this.each(from, to, () => {
        count += 1;
        return count <= most;
      });
      return count > most;
    }
  }

  // Up to where a hold is drawn: its release, or the end of its lease where nobody saw it end.
  const drawnTo = (axis, holds) => axis.end.map((end, hold) => {
    const hull = axis.hullEnd[hold];
    if (hull < Infinity) return Math.max(hull, end);
    const isLeft = holds.release[hold] >= 0;
    return isLeft ? Math.max(end, axis.ceiling[hold]) : Infinity;
  });

  // Operations that are drawn by themselves: all but the acquires and releases of holds.
  const looseOperations = ({ operations, holdOf }) => {
    const loose = new Int32Array(operations.count);
    let count = 0;
    for (let at = 0; at < operations.count; at += 1) {
      if (holdOf[at] < 0) {
        loose[count] = at;
        count += 1;
      }
    }
    return loose.slice(0, count);
  };

  // Both kinds of spans on an axis.
  const layOut = (history, axis, loose) => {
    const { holds } = history;
    const ends = gather(axis.done, loose);
    for (let at = 0; at < ends.length; at += 1) if (ends[at] === Infinity) ends[at] = axis.length;
    return {
      holds: new Spans(holds.count, axis.asked, drawnTo(axis, holds)),
      loose: new Spans(loose.length, gather(axis.sent, loose), ends),
    };
  };

  Object.assign(lockstorm, { layOut, looseOperations });
})();
