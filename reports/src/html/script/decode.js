// From bytes to the history that is drawn: events, operations and holds as arrays of numbers, times
// in nanoseconds, Infinity for what never comes. The layout is told in reports/src/embed/mod.rs.
(() => {
  const { Column, unzigzag } = lockstorm;
  const VERSION = 1;
  const ACTIONS = ['acquire', 'renew', 'release', 'read', 'write', 'cas', 'append', 'other'];
  const OUTCOMES = ['ok', 'refused', 'not owner', 'failed', 'unknown'];
  const ACQUIRE = 0;
  const RELEASE = 2;
  const UNKNOWN = 4;
  const isResource = (action) => action >= 3 && action <= 6;

  const operationsOf = (scene, input) => {
    const n = scene.operations;
    const [gaps, times, processes, kinds, lanes, waits, tokens] =
      Array.from({ length: 7 }, () => new Column(input.block()));
    const events = { time: new Float64Array(scene.events), index: new Float64Array(scene.events) };
    const all = {
      count: n,
      kind: kinds.bytes.slice(0, n),
      lane: new Uint32Array(n),
      sent: new Float64Array(n),
      done: new Float64Array(n).fill(Infinity),
      sentEvent: new Int32Array(n),
      doneEvent: new Int32Array(n).fill(-1),
      wait: new Float64Array(n),
      // One more than the token, for zero is a token.
      token: new Float64Array(n),
    };
    // By process; they are numbered as they come.
    const [waiting, lastLane] = [[], []];
    let [index, time, next] = [-1, 0, 0];
    for (let event = 0; event < scene.events; event += 1) {
      const gap = gaps.number();
      const isAnew = gap % 2;
      index += (gap - isAnew) / 2 + 1;
      time += times.signed() * scene.unit;
      const process = processes.number();
      if (process === waiting.length) {
        waiting.push(-1);
        lastLane.push(0);
      }
      events.time[event] = time;
      events.index[event] = index;
      const answered = waiting[process];
      if (answered >= 0 && !isAnew) {
        all.done[answered] = time;
        all.doneEvent[answered] = event;
        waiting[process] = -1;
        continue;
      }
      const lane = lanes.number();
      if (lane > 0) lastLane[process] = lane - 1;
      all.lane[next] = lastLane[process];
      all.sent[next] = time;
      all.sentEvent[next] = event;
      const action = all.kind[next] & 7;
      if (action === ACQUIRE) all.wait[next] = waits.number() * scene.unit;
      else if (isResource(action)) all.token[next] = tokens.number();
      waiting[process] = next;
      next += 1;
    }
    return { events, operations: all };
  };

  // For each operation the next release after it in its lane, or -1.
  const nextReleases = (operations, lanes) => {
    const next = new Int32Array(operations.count);
    const inLane = new Int32Array(lanes).fill(-1);
    for (let at = operations.count - 1; at >= 0; at -= 1) {
      const lane = operations.lane[at];
      next[at] = inLane[lane];
      if ((operations.kind[at] & 7) === RELEASE) inLane[lane] = at;
    }
    return next;
  };

  // The end of an interval, from its code.
  const endOf = (code, expected, start, unit) => {
    if (code === 0) return expected;
    return code === 1 ? Infinity : start + (code - 2) * unit;
  };

  // The end of a lease, from its code.
  const leaseEnd = (code, from, unit) => (code === 0 ? Infinity : from + unzigzag(code - 1) * unit);

  const holdsOf = (scene, operations, input) => {
    const n = scene.holds;
    const { unit } = scene;
    const [acquires, starts, releases, ends, hullEnds, floors, ceilings, tokens] =
      Array.from({ length: 8 }, () => new Column(input.block()));
    const numbers = () => new Float64Array(n);
    const all = {
      count: n,
      acquire: new Int32Array(n),
      release: new Int32Array(n).fill(-1),
      start: numbers(),
      end: numbers(),
      hullEnd: numbers(),
      floor: numbers(),
      ceiling: numbers(),
      token: numbers().fill(NaN),
      largeTokens: new Map(scene.large_tokens),
    };
    const next = nextReleases(operations, scene.lanes.length);
    const lockOf = Uint32Array.from(scene.lanes, ([lock]) => lock);
    const lastToken = new Float64Array(scene.keys.length);
    let [acquire, floor, ceiling] = [-1, 0, 0];
    for (let hold = 0; hold < n; hold += 1) {
      acquire += acquires.number() + 1;
      const code = releases.number();
      const release = code < 2 ? (code === 0 ? -1 : next[acquire]) : acquire + code - 2;
      const answered = operations.done[acquire];
      const base = answered === Infinity ? operations.sent[acquire] : answered;
      const start = base + starts.signed() * unit;
      const sent = release < 0 ? Infinity : operations.sent[release];
      const isTold = release >= 0 && ((operations.kind[release] >> 3) & 7) !== UNKNOWN;
      const told = isTold ? operations.done[release] : Infinity;
      floor += floors.signed();
      ceiling += ceilings.signed();
      all.acquire[hold] = acquire;
      all.release[hold] = release;
      all.start[hold] = start;
      all.end[hold] = endOf(ends.number(), sent, start, unit);
      all.hullEnd[hold] = endOf(hullEnds.number(), told, start, unit);
      all.floor[hold] = leaseEnd(floor, operations.sent[acquire] + operations.wait[acquire], unit);
      all.ceiling[hold] = leaseEnd(ceiling, start, unit);
      const token = tokens.number();
      if (token > 0) {
        const lock = lockOf[operations.lane[acquire]];
        lastToken[lock] += unzigzag(token - 1) + 1;
        all.token[hold] = lastToken[lock];
      }
    }
    return all;
  };

  // The hold that each operation is a part of, or -1.
  const holdOfEach = (operations, holds) => {
    const holdOf = new Int32Array(operations.count).fill(-1);
    for (let hold = 0; hold < holds.count; hold += 1) {
      holdOf[holds.acquire[hold]] = hold;
      if (holds.release[hold] >= 0) holdOf[holds.release[hold]] = hold;
    }
    return holdOf;
  };

  lockstorm.decode = (bytes) => {
    const input = new Column(bytes);
    const scene = JSON.parse(new TextDecoder().decode(input.block()));
    if (scene.version !== VERSION) throw new Error(`it has version ${scene.version}`);
    const { events, operations } = operationsOf(scene, input);
    const holds = holdsOf(scene, operations, input);
    const bins = { ofLane: scene.bins, shares: input.block() };
    return { scene, events, operations, holds, holdOf: holdOfEach(operations, holds), bins };
  };
  Object.assign(lockstorm, { ACTIONS, OUTCOMES });
})();
