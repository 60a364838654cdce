// The operations one by one. A solid bar is a certain hold, its lighter ends are requests in flight;
// a hatch is what nobody answered; the line below is the lease, with a tick where it may first end.
(() => {
  const { ACTIONS, OUTCOMES, length } = lockstorm;
  const PALE = 0.35;
  // Below this height a lane has room for the bar alone.
  const ROOMY = 24;

  const shape = (height) => (height < ROOMY
    ? { bar: Math.min(1, height * 0.12), height: height * 0.76 }
    : { bar: height * 0.12, height: height * 0.44, lease: height * 0.72 });

  // A stretch of an axis in pixels, no farther out than the eye needs.
  const pixels = (view, from, to) => {
    const edge = view.left + view.width + 8;
    const left = Math.max(view.x(from), view.left - 8);
    const right = Math.min(to === Infinity ? edge : view.x(to), edge);
    return [left, Math.max(right - left, 1)];
  };

  const fill = (context, style, alpha, x, y, width, height) => {
    context.globalAlpha = alpha;
    context.fillStyle = style;
    context.fillRect(x, y, width, height);
    context.globalAlpha = 1;
  };

  const outline = (context, color, dashes, x, y, width, height, weight = 1) => {
    context.setLineDash(dashes);
    context.strokeStyle = color;
    context.lineWidth = weight;
    context.strokeRect(x + 0.5, y + 0.5, Math.max(width - 1, 0), Math.max(height - 1, 0));
    context.setLineDash([]);
  };

  const line = (context, color, dashes, x0, x1, y, weight = 2) => {
    if (x1 <= x0) return;
    context.setLineDash(dashes);
    context.strokeStyle = color;
    context.lineWidth = weight;
    context.beginPath();
    context.moveTo(x0, y);
    context.lineTo(x1, y);
    context.stroke();
    context.setLineDash([]);
  };

  const isAnswered = ({ operations }, release) => (
    release >= 0 && OUTCOMES[(operations.kind[release] >> 3) & 7] !== 'unknown'
    && operations.done[release] < Infinity);

  // Solid to the floor, dashed to the ceiling. A release that was answered ends it, unless the hold
  // is part of a violation: then the lease that was promised is the point.
  const drawLease = (plot, hold, y) => {
    const { context, view, ink, history } = plot;
    const { axis } = view;
    const floor = axis.floor[hold];
    if (floor === Infinity) return;
    const isOver = isAnswered(history, history.holds.release[hold]) && axis.hullEnd[hold] <= floor;
    const start = axis.start[hold];
    if (isOver && !plot.accused.has(hold)) {
      const [x, width] = pixels(view, start, axis.hullEnd[hold]);
      line(context, ink.lease, [], x, x + width, y);
      return;
    }
    const [x, width] = pixels(view, start, Math.max(floor, start));
    line(context, ink.lease, [], x, x + width, y);
    const [doubt, doubtWidth] = pixels(view, floor, axis.ceiling[hold]);
    if (axis.ceiling[hold] > floor) line(context, ink.lease, [4, 3], doubt, doubt + doubtWidth, y);
    fill(context, ink.lease, 1, view.x(floor) - 1, y - 5, 2, 10);
  };

  // What fits into the bar.
  const drawWords = (plot, hold, x, y, width, height) => {
    const { context, ink, history: { holds } } = plot;
    const words = [];
    const token = holds.largeTokens.get(hold) ?? holds.token[hold];
    if (!Number.isNaN(token)) words.push(`token ${token}`);
    const held = holds.end[hold] - holds.start[hold];
    words.push(held === Infinity ? 'never released' : `held ${length(held)}`);
    context.font = plot.smallFont;
    context.fillStyle = ink['on-hold'];
    for (const text of [words.join(' · '), words[0]]) {
      if (context.measureText(text).width + 12 > width) continue;
      context.fillText(text, x + 6, y + height / 2);
      return;
    }
  };

  const drawHold = (plot, hold, top, height) => {
    const { context, view, ink, history } = plot;
    const { axis } = view;
    const parts = shape(height);
    const y = top + parts.bar;
    const release = history.holds.release[hold];
    const [asked, askedWidth] = pixels(view, axis.asked[hold], axis.start[hold]);
    fill(context, ink.hold, PALE, asked, y, askedWidth, parts.height);
    const end = axis.end[hold];
    // Who was told that the lock is lost may release it later all the same.
    const sent = release >= 0 ? Math.max(axis.sent[release], end) : end;
    if (release >= 0 && isAnswered(history, release)) {
      const [x, width] = pixels(view, sent, Math.max(axis.hullEnd[hold], sent));
      fill(context, ink.hold, PALE, x, y, width, parts.height);
    } else if (release >= 0) {
      const [x, width] = pixels(view, sent, Math.max(axis.ceiling[hold], sent));
      fill(context, ink.hatch.muted, 1, x, y, width, parts.height);
      outline(context, ink.muted, [4, 3], x, y, width, parts.height);
    }
    const [x, width] = pixels(view, axis.start[hold], end);
    fill(context, ink.hold, 1, x, y, width, parts.height);
    const floor = axis.floor[hold];
    if (floor < end) {
      // The part of the hold that its lease no longer covers.
      const [over, overWidth] = pixels(view, Math.max(floor, axis.start[hold]), end);
      fill(context, ink.hatch.overrun, 0.8, over, y, overWidth, parts.height);
    }
    if (parts.lease === undefined) return;
    drawWords(plot, hold, x, y, width, parts.height);
    drawLease(plot, hold, top + parts.lease);
  };

  const mark = (context, color, x, y, size, points) => {
    context.fillStyle = color;
    context.beginPath();
    points.forEach(([right, down], at) => {
      const place = [x + right * size, y + down * size];
      if (at === 0) context.moveTo(...place);
      else context.lineTo(...place);
    });
    context.closePath();
    context.fill();
  };
  const TRIANGLE = [[-1, 1], [1, 1], [0, -1]];
  const DIAMOND = [[-1, 0], [0, -1], [1, 0], [0, 1]];

  const cross = (context, color, x, y, size) => {
    context.strokeStyle = color;
    context.lineWidth = 2;
    context.beginPath();
    context.moveTo(x - size, y - size);
    context.lineTo(x + size, y + size);
    context.moveTo(x + size, y - size);
    context.lineTo(x - size, y + size);
    context.stroke();
  };

  const drawLoose = (plot, operation, until, top, height) => {
    const { context, view, ink, history: { operations } } = plot;
    const kind = operations.kind[operation];
    const [action, outcome] = [ACTIONS[kind & 7], OUTCOMES[(kind >> 3) & 7]];
    const parts = shape(height);
    const [x, width] = pixels(view, view.axis.sent[operation], until);
    const middle = top + parts.bar + parts.height / 2;
    const size = Math.min(4.5, height / 5);
    if (outcome === 'unknown') {
      fill(context, ink.unknown, 0.2, x, top + parts.bar, width, parts.height);
      fill(context, ink.hatch.unknown, 1, x, top + parts.bar, width, parts.height);
      outline(context, ink.unknown, [4, 3], x, top + parts.bar, width, parts.height);
    } else if (action === 'acquire') {
      fill(context, ink.wait, PALE, x, top + parts.bar, width, parts.height);
      if (outcome === 'failed') cross(context, ink.wait, x + width, middle, size);
      else mark(context, ink.wait, x + width, middle, size, TRIANGLE);
    } else {
      // Renewals sit on the lease, all else on the upper edge of the bar.
      const isOfLease = action === 'renew' || action === 'release';
      const y = isOfLease && parts.lease !== undefined ? top + parts.lease : top + parts.bar;
      const end = x + width;
      if (outcome === 'ok') mark(context, ink.lease, end, y, size, DIAMOND);
      else cross(context, ink.lease, end, y, size);
    }
  };

  // Around what is selected.
  const drawSelected = (plot, operation, from, to) => {
    const { context, view, ink, layout, history: { operations } } = plot;
    const row = layout.rows[layout.rowOf[operations.lane[operation]]];
    if (row === undefined) return;
    const parts = shape(row.height);
    const [x, width] = pixels(view, from, to);
    outline(context, ink.text, [], x - 2, plot.top(row) + parts.bar - 2, width + 4,
      parts.height + 4, 2);
  };

  Object.assign(lockstorm, { drawHold, drawLoose, drawSelected, pixels, fill, outline, cross });
})();
