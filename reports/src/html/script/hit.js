// What is below a point of the canvas: an operation, or nothing.
(() => {
  // As near as a hand comes, in pixels.
  const NEAR = 4;

  const rowAt = (plot, y) => plot.layout.rows.find((row) => {
    const top = plot.top(row);
    return top <= y && y < top + row.height;
  });

  // The operation of a lane that is nearest to a place: zero away from what lies over it. Of two
  // the shorter is meant, for the longer can be met elsewhere.
  const operationAt = (plot, x, y) => {
    const row = rowAt(plot, y);
    if (row === undefined || row.lane === undefined) return -1;
    const { history, view, spans, mask } = plot;
    const { operations, holds } = history;
    const [from, to] = [view.at(x - NEAR), view.at(x + NEAR)];
    const place = view.at(x);
    let best = { operation: -1, away: Infinity, size: Infinity };
    const weigh = (operation, start, end) => {
      if (operations.lane[operation] !== row.lane) return;
      if (mask !== null && mask[operation] === 0) return;
      const away = Math.max(start - place, place - end, 0);
      const size = end - start;
      if (away < best.away || (away === best.away && size < best.size)) {
        best = { operation, away, size };
      }
    };
    spans.holds.each(from, to, (hold) => {
      weigh(holds.acquire[hold], spans.holds.from[hold], spans.holds.to[hold]);
    });
    spans.loose.each(from, to, (at) => {
      weigh(plot.loose[at], spans.loose.from[at], spans.loose.to[at]);
    });
    return best.operation;
  };

  Object.assign(lockstorm, { operationAt, rowAt });
})();
