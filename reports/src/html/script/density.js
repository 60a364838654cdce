// The lanes from afar, where there is more than can be told apart: the busier a client was in the
// time of a pixel, the stronger the colour. Violations are no part of it: they are drawn above.
(() => {
  // Least strength of what is there at all: a single hold in an hour is still seen.
  const FAINT = 0.22;

  // Adds a span to the cells of its row, each by the share of it that is covered.
  const cover = (cells, base, width, from, to) => {
    const left = Math.max(from, 0);
    const right = Math.min(to, width);
    if (right < left) return;
    const first = Math.floor(left);
    const last = Math.min(Math.floor(right), width - 1);
    if (first >= last) {
      cells[base + Math.min(first, width - 1)] += Math.max(right - left, 0.02);
      return;
    }
    cells[base + first] += first + 1 - left;
    for (let at = first + 1; at < last; at += 1) cells[base + at] += 1;
    cells[base + last] += right - last;
  };

  // The rows of clients that are in sight, and the way from a lane to its line among them, or to -1.
  // With a thousand lanes most are not in sight, and cost nothing.
  const inSight = (plot) => {
    const { layout } = plot;
    const rows = layout.rows.filter((row) => row.lane !== undefined && plot.isSeen(plot.top(row), row.height));
    const lineOf = new Int32Array(layout.rowOf.length).fill(-1);
    rows.forEach((row, line) => { lineOf[row.lane] = line; });
    return { rows, lineOf };
  };

  // Holds and tries of every row in sight, cell by cell.
  const measure = (plot, width, { rows, lineOf }) => {
    const { history, view, spans, mask } = plot;
    const { operations, holds } = history;
    const { axis, from, to } = view;
    const scale = width / view.span;
    const size = rows.length * width;
    const [held, tried] = [new Float32Array(size), new Float32Array(size)];
    const put = (cells, operation, start, end) => {
      const line = lineOf[operations.lane[operation]];
      if (line < 0 || (mask !== null && mask[operation] === 0)) return;
      cover(cells, line * width, width, (start - from) * scale, (end - from) * scale);
    };
    spans.holds.each(from, to, (hold) => {
      put(held, holds.acquire[hold], axis.start[hold], axis.end[hold]);
    });
    spans.loose.each(from, to, (at) => {
      const operation = plot.loose[at];
      put(tried, operation, axis.sent[operation], spans.loose.to[at]);
    });
    return { held, tried };
  };

  // Where the history is not whole, the bins say how busy each lane was.
  const addBins = (plot, width, rows, held) => {
    const { history: { scene, bins }, view } = plot;
    if (bins.ofLane === 0 || view.axis.name !== 'time') return;
    const perBin = scene.end / bins.ofLane;
    for (let x = 0; x < width; x += 1) {
      const place = view.from + ((x + 0.5) / width) * view.span;
      if (scene.windows.some(([from, to]) => from <= place && place <= to)) continue;
      const bin = Math.min(Math.floor(place / perBin), bins.ofLane - 1);
      rows.forEach((row, line) => {
        held[line * width + x] = bins.shares[row.lane * bins.ofLane + bin] / 255;
      });
    }
  };

  const strength = (share) => Math.round(255 * (FAINT + (1 - FAINT) * Math.min(share, 1)));

  // One line of pixels for each row.
  const paint = (cells, width, rows, ink) => {
    const image = new ImageData(width, rows);
    const { data } = image;
    const [hold, wait] = [ink.holdBytes, ink.waitBytes];
    for (let at = 0; at < width * rows; at += 1) {
      const held = cells.held[at];
      const tried = cells.tried[at];
      if (held === 0 && tried === 0) continue;
      const color = held > 0 ? hold : wait;
      data[at * 4] = color[0];
      data[at * 4 + 1] = color[1];
      data[at * 4 + 2] = color[2];
      data[at * 4 + 3] = held > 0 ? strength(held) : strength(tried) * 0.6;
    }
    return image;
  };

  const sheet = document.createElement('canvas');

  // `part` is 'all', or 'bins' for only what is not embedded whole.
  const drawDensity = (plot, part) => {
    const { context, view, ink } = plot;
    const width = Math.max(1, Math.round(view.width * plot.scale));
    const seen = inSight(plot);
    const { rows } = seen;
    if (rows.length === 0) return;
    const nothing = () => new Float32Array(rows.length * width);
    const cells = part === 'all' ? measure(plot, width, seen) : { held: nothing(), tried: nothing() };
    addBins(plot, width, rows, cells.held);
    sheet.width = width;
    sheet.height = rows.length;
    sheet.getContext('2d').putImageData(paint(cells, width, rows.length, ink), 0, 0);
    context.imageSmoothingEnabled = false;
    rows.forEach((row, line) => {
      const top = plot.top(row);
      const inset = row.height > 12 ? row.height * 0.16 : row.height > 5 ? 1 : 0.5;
      context.drawImage(sheet, 0, line, width, 1,
        view.left, top + inset, view.width, row.height - 2 * inset);
    });
  };

  lockstorm.drawDensity = drawDensity;
})();
