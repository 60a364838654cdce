// Violations: a box over the lanes that have a part in each, hatched where it is certain, with its
// words above; from afar a mark that is never lost among a million operations.
(() => {
  const { fill, outline, pixels, spanOf, shows, length } = lockstorm;

  // Top and bottom of the lanes of a violation; all lanes where it has none of its own.
  const reach = (plot, violation) => {
    const { layout } = plot;
    const numbers = violation.lanes.map((lane) => layout.rowOf[lane]).filter((row) => row >= 0);
    if (numbers.length === 0) return violation.lanes.length > 0 ? null : [plot.lanesTop, plot.lanesBottom];
    const rows = numbers.map((number) => layout.rows[number]);
    const top = Math.min(...rows.map((row) => plot.top(row)));
    const bottom = Math.max(...rows.map((row) => plot.top(row) + row.height));
    return [top, bottom];
  };

  const placeOf = (plot, violation) => {
    const span = spanOf(plot.view.axis, violation.from, violation.to);
    const ends = reach(plot, violation);
    if (ends === null || !shows(plot.view, span)) return null;
    const [x, width] = pixels(plot.view, ...span);
    return { x, width: Math.max(width, 2), top: ends[0] + 1, height: Math.max(ends[1] - ends[0] - 2, 2) };
  };

  const wordsOf = (violation) => {
    const end = violation.to ?? Infinity;
    return `${violation.brief} · ${length(end - violation.from)}`;
  };

  // The ground of a box, below the operations.
  const drawGrounds = (plot) => {
    for (const violation of plot.history.scene.violations) {
      const box = placeOf(plot, violation);
      if (box !== null) {
        fill(plot.context, plot.ink.violation, 0.13, box.x, box.top, box.width, box.height);
      }
    }
  };

  // A hatch below the bar of every lane that has a part in it.
  const drawHatches = (plot, violation, box) => {
    for (const lane of violation.lanes) {
      const row = plot.layout.rows[plot.layout.rowOf[lane]];
      if (row === undefined) continue;
      const isRoomy = row.height >= 24;
      const y = plot.top(row) + (isRoomy ? row.height * 0.56 : 0);
      const height = isRoomy ? 6 : row.height;
      fill(plot.context, plot.ink.hatch.violation, 1, box.x, y, box.width, height);
    }
  };

  const drawBox = (plot, violation, isCurrent, words) => {
    const { context, ink, view } = plot;
    const box = placeOf(plot, violation);
    if (box === null) return;
    if (violation.certain) drawHatches(plot, violation, box);
    const dashes = violation.certain ? [] : [6, 4];
    outline(context, ink.violation, dashes, box.x - 1, box.top, box.width + 2, box.height,
      isCurrent ? 3.5 : 2);
    const middle = middleOf(view, box);
    context.font = plot.boldFont;
    const text = wordsOf(violation);
    const width = context.measureText(text).width;
    // Past the mark or, where the picture ends, before it.
    const fits = middle + 9 + width <= view.left + view.width;
    const left = fits ? middle + 9 : middle - 9 - width;
    if (!isCurrent && left < words.end) return;
    fill(context, ink.paper, 0.8, left - 3, plot.lanesTop - 19, width + 6, 16);
    context.fillStyle = ink.violation;
    context.fillText(text, left, plot.lanesTop - 10);
    words.end = Math.max(words.end, left + width + 24);
  };

  const middleOf = (view, box) => Math.min(Math.max(box.x + 1, view.left), view.left + view.width);

  // The mark at the edge of the lanes, which is as wide from afar as from near.
  const drawMark = (plot, violation) => {
    const { context, ink, view } = plot;
    const box = placeOf(plot, violation);
    if (box === null) return;
    const middle = middleOf(view, box);
    context.fillStyle = ink.violation;
    context.beginPath();
    context.moveTo(middle - 5, plot.lanesTop - 7);
    context.lineTo(middle + 5, plot.lanesTop - 7);
    context.lineTo(middle, plot.lanesTop);
    context.fill();
  };

  // The one that is looked at comes last and lies above the others.
  const drawBoxes = (plot) => {
    const { violations } = plot.history.scene;
    const words = { end: -Infinity };
    violations.forEach((violation) => drawMark(plot, violation));
    violations.forEach((violation, number) => {
      if (number !== plot.current) drawBox(plot, violation, false, words);
    });
    const current = violations[plot.current];
    if (current !== undefined) drawBox(plot, current, true, words);
  };

  Object.assign(lockstorm, { drawGrounds, drawBoxes, wordsOf });
})();
