// The two axes: true time, in nanoseconds, and the order of events, in which each takes the same
// room. Everything that is drawn has its place on both.
(() => {
  // How many of the sorted `values` are below `value`.
  const countBelow = (values, value) => {
    let [low, high] = [0, values.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (values[middle] < value) low = middle + 1;
      else high = middle;
    }
    return low;
  };

  // The `values` at `places`. Arrays can do it themselves, several times as slowly.
  const gather = (values, places) => {
    const all = new Float64Array(places.length);
    for (let at = 0; at < places.length; at += 1) all[at] = values[places[at]];
    return all;
  };

  // The latest time up to each event: sorted, also where a history is not in order of time.
  const latestTimes = (times) => {
    const latest = times.slice();
    for (let at = 1; at < latest.length; at += 1) {
      if (latest[at] < latest[at - 1]) latest[at] = latest[at - 1];
    }
    return latest;
  };

  class TimeAxis {
    constructor(history) {
      const { scene, operations, holds } = history;
      this.name = 'time';
      this.length = Math.max(scene.end, 1);
      this.shortest = 100;
      this.sent = operations.sent;
      this.done = operations.done;
      this.asked = gather(operations.sent, holds.acquire);
      for (const part of ['start', 'end', 'hullEnd', 'floor', 'ceiling']) this[part] = holds[part];
    }

    ofTime(time) { return time; }

    toTime(place) { return place; }
  }

  // Places are numbers of embedded events. What is no event lies between two of them.
  class OrderAxis {
    constructor(history) {
      const { events, operations, holds } = history;
      this.name = 'order';
      this.events = events;
      this.length = Math.max(events.time.length, 1);
      this.shortest = 4;
      this.times = latestTimes(events.time);
      this.sent = Float64Array.from(operations.sentEvent);
      this.done = Float64Array.from(operations.doneEvent, (event) => (event < 0 ? Infinity : event));
      this.asked = gather(this.sent, holds.acquire);
      this.start = this.eventOr(holds.start, holds.acquire, operations.done, this.done);
      this.end = this.eventOr(holds.end, holds.release, operations.sent, this.sent);
      this.hullEnd = this.eventOr(holds.hullEnd, holds.release, operations.done, this.done);
      this.floor = holds.floor.map((time) => this.ofTime(time));
      this.ceiling = holds.ceiling.map((time) => this.ofTime(time));
    }

    // The event that made each time what it is; other times lie between events.
    eventOr(times, by, ofOperation, places) {
      return times.map((time, hold) => {
        const operation = by[hold];
        const isIts = operation >= 0 && ofOperation[operation] === time;
        return isIts ? places[operation] : this.ofTime(time);
      });
    }

    ofTime(time) {
      if (time === Infinity) return Infinity;
      const before = countBelow(this.times, time);
      return this.times[before] === time ? before : before - 0.5;
    }

    toTime(place) {
      if (this.times.length === 0) return 0;
      const last = this.times.length - 1;
      const at = Math.min(Math.max(place, 0), last);
      const low = Math.floor(at);
      const high = Math.min(low + 1, last);
      return this.times[low] + (this.times[high] - this.times[low]) * (at - low);
    }
  }

  Object.assign(lockstorm, { TimeAxis, OrderAxis, countBelow, gather });
})();
