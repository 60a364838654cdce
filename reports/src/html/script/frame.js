// What is around the operations: names of lanes, the axis, faults and servers.
(() => {
  const { fill, pixels, outline, instant, digitsFor } = lockstorm;
  const BAND = 0.12;
  const FAULT_ROW = 17;
  const FAULT_ROWS_MAX = 6;

  // The next of 1, 2, 5, 10, ... that is not below `step`.
  const roundStep = (step) => {
    const power = 10 ** Math.floor(Math.log10(step));
    return [1, 2, 5, 10].map((factor) => factor * power).find((round) => round >= step * 0.999);
  };

  const tickName = (axis, place, step) => {
    if (axis.name === 'time') return instant(place, Math.max(0, -Math.floor(Math.log10(step / 1e9))));
    const index = axis.events.index[Math.round(place)];
    return index === undefined ? '' : `event ${index}`;
  };

  const drawAxis = (plot) => {
    const { context, view, ink } = plot;
    const ticks = Math.max(2, Math.floor(view.width / 110));
    const least = view.axis.name === 'order' ? 1 : 1e-3;
    const step = Math.max(roundStep(view.span / ticks), least);
    context.font = plot.smallFont;
    context.textAlign = 'center';
    for (let n = Math.ceil(view.from / step); n * step <= view.to; n += 1) {
      const x = view.x(n * step);
      fill(context, ink.grid, 1, x, plot.lanesTop, 1, plot.lanesBottom - plot.lanesTop);
      context.fillStyle = ink.muted;
      context.fillText(tickName(view.axis, n * step, step), x, plot.lanesBottom + 13);
    }
    context.textAlign = 'left';
    fill(context, ink.muted, 1, view.left, plot.lanesBottom, view.width, 1);
  };

  // The longest beginning of `text` that fits.
  const fitted = (context, text, width) => {
    if (context.measureText(text).width <= width) return text;
    const letters = [...text];
    let [low, high] = [0, letters.length];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      const isFit = context.measureText(`${letters.slice(0, middle).join('')}…`).width <= width;
      if (isFit) low = middle;
      else high = middle - 1;
    }
    return low === 0 ? '' : `${letters.slice(0, low).join('')}…`;
  };

  const drawNames = (plot) => {
    const { context, view, ink, layout } = plot;
    let free = -Infinity;
    for (const row of layout.rows) {
      const top = plot.top(row);
      if (!plot.isSeen(top, row.height)) continue;
      const isHeading = row.kind === 'lock';
      if (isHeading || row.height >= 14) {
        fill(context, ink.grid, 1, isHeading ? 0 : view.left, top + row.height - 1, plot.width, 1);
      }
      const middle = top + row.height / 2;
      // Where lanes are lower than letters, every few lanes have their name.
      if (middle < free) continue;
      context.font = isHeading || row.height >= 18 ? plot.boldFont : plot.smallFont;
      context.fillStyle = row.kind === 'client' ? ink.text : ink.muted;
      context.textAlign = isHeading ? 'left' : 'right';
      const room = isHeading ? plot.width - 20 : view.left - 18;
      const text = fitted(context, isHeading ? `lock ${row.name}` : row.name, room);
      context.fillText(text, isHeading ? 8 : view.left - 10, middle);
      free = middle + 13;
    }
    context.textAlign = 'left';
  };

  const spanOf = (axis, from, to) => [axis.ofTime(from), to === null ? Infinity : axis.ofTime(to)];

  const shows = (view, [from, to]) => from <= view.to && to >= view.from;

  // Faint bands through all lanes, so that nothing is read without its faults; above them their
  // names, each fault in a row of its own as far as there are rows.
  const drawFaults = (plot) => {
    const { context, view, ink, history: { scene } } = plot;
    scene.faults.forEach((fault, number) => {
      const span = spanOf(view.axis, fault.from, fault.to);
      if (!shows(view, span)) return;
      const [x, width] = pixels(view, ...span);
      const row = number % FAULT_ROWS_MAX;
      const y = 4 + row * FAULT_ROW;
      fill(context, ink[fault.ink], BAND, x, y + FAULT_ROW - 2, width, plot.lanesBottom - y - FAULT_ROW + 2);
      fill(context, ink[fault.ink], 0.38, x, y, width, FAULT_ROW - 2);
      fill(context, ink[fault.ink], 1, x, y, 2, FAULT_ROW - 2);
      context.font = plot.smallFont;
      context.fillStyle = ink.text;
      const left = Math.max(x, view.left) + 6;
      const room = Math.max(x + width, left + 60) - left;
      const name = `${fault.id} ${fault.kind} ${fault.target}`;
      const text = fitted(context, name, scene.faults.length <= FAULT_ROWS_MAX ? 400 : room);
      context.fillText(text, left, y + FAULT_ROW / 2 - 1);
    });
  };

  const faultsHeight = (scene) => 4 + Math.min(scene.faults.length, FAULT_ROWS_MAX) * FAULT_ROW;

  // The role of a server as a band of its own height, and a hatch while it was not there.
  const drawServer = (plot, row) => {
    const { context, view, ink } = plot;
    const { server } = row;
    const top = plot.top(row) + 6;
    const height = row.height - 12;
    server.roles.forEach(([from, role], at) => {
      const next = server.roles[at + 1];
      const span = spanOf(view.axis, from, next === undefined ? null : next[0]);
      if (!shows(view, span)) return;
      const [x, width] = pixels(view, ...span);
      const isLeading = role === 'primary' || role === 'master';
      fill(context, ink.valid, isLeading ? 0.55 : 0.16, x, top, width - 1, height);
      outline(context, ink.valid, isLeading ? [] : [2, 3], x, top, width - 1, height);
      context.font = plot.smallFont;
      context.fillStyle = ink.text;
      const left = Math.max(x, view.left) + 6;
      context.fillText(fitted(context, role, x + width - left - 4), left, top + height / 2);
    });
    for (const [from, to, why] of server.absences) {
      const span = spanOf(view.axis, from, to);
      if (!shows(view, span)) continue;
      const [x, width] = pixels(view, ...span);
      fill(context, ink.paper, 0.85, x, top, width, height);
      fill(context, ink.hatch.muted, 1, x, top, width, height);
      outline(context, ink.muted, [], x, top, width, height);
      context.font = plot.boldFont;
      const left = Math.max(x, view.left) + 6;
      const text = fitted(context, why, x + width - left - 8);
      if (text === '') continue;
      const wide = context.measureText(text).width;
      fill(context, ink.paper, 1, left - 2, top + 2, wide + 4, height - 4);
      context.fillStyle = ink.text;
      context.fillText(text, left, top + height / 2);
    }
  };

  const drawServers = (plot) => {
    for (const row of plot.layout.rows) {
      if (row.kind === 'server' && plot.isSeen(plot.top(row), row.height)) drawServer(plot, row);
    }
  };

  Object.assign(lockstorm, {
    drawAxis, drawNames, drawFaults, drawServers, faultsHeight, fitted, spanOf, shows, digitsFor,
  });
})();
