// Draws one frame of the timeline, layer by layer.
(() => {
  const {
    drawAxis, drawNames, drawFaults, drawServers, drawDensity, drawHold, drawLoose, drawSelected,
    drawGrounds, drawBoxes, fill, outline,
  } = lockstorm;
  // More operations than this on the screen are drawn from afar.
  const BARS_MAX = 4000;
  // Room for the words of violations above the lanes.
  const WORDS = 22;

  const isCrowded = ({ spans, view }) => (
    spans.holds.isMore(view.from, view.to, BARS_MAX) || spans.loose.isMore(view.from, view.to, BARS_MAX));

  const rowOf = (plot, operation) => {
    const { layout, mask, history: { operations } } = plot;
    if (mask !== null && mask[operation] === 0) return undefined;
    const row = layout.rows[layout.rowOf[operations.lane[operation]]];
    return row !== undefined && plot.isSeen(plot.top(row), row.height) ? row : undefined;
  };

  const drawBars = (plot) => {
    const { view, spans, history: { holds } } = plot;
    spans.loose.each(view.from, view.to, (at) => {
      const operation = plot.loose[at];
      const row = rowOf(plot, operation);
      if (row !== undefined) drawLoose(plot, operation, spans.loose.to[at], plot.top(row), row.height);
    });
    spans.holds.each(view.from, view.to, (hold) => {
      const row = rowOf(plot, holds.acquire[hold]);
      if (row !== undefined) drawHold(plot, hold, plot.top(row), row.height);
    });
  };

  // Runs `draw` with nothing drawn outside of a box.
  const within = (context, x, y, width, height, draw) => {
    context.save();
    context.beginPath();
    context.rect(x, y, width, height);
    context.clip();
    draw();
    context.restore();
  };

  const drawScenery = (plot) => {
    const { context, view, ink, scale } = plot;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.textBaseline = 'middle';
    fill(context, ink.paper, 1, 0, 0, plot.width, plot.height);
    const room = plot.lanesBottom - plot.lanesTop;
    within(context, view.left, 0, view.width, plot.height, () => drawFaults(plot));
    within(context, view.left - 40, plot.lanesTop, view.width + 80, plot.height, () => drawAxis(plot));
    within(context, 0, plot.lanesTop, plot.width, room, () => drawNames(plot));
    plot.isFar = isCrowded(plot);
    within(context, view.left, plot.lanesTop, view.width, room, () => {
      drawGrounds(plot);
      if (plot.isFar) drawDensity(plot, 'all');
      else {
        if (plot.history.bins.ofLane > 0) drawDensity(plot, 'bins');
        drawBars(plot);
      }
      drawServers(plot);
      if (plot.selected >= 0) drawSelected(plot, plot.selected, ...plot.extentOf(plot.selected));
    });
    within(context, view.left, plot.lanesTop - WORDS, view.width, room + WORDS, () => drawBoxes(plot));
    if (plot.stretch !== null) {
      const [from, to] = plot.stretch;
      fill(context, ink.text, 0.12, from, 0, to - from, plot.lanesBottom);
      outline(context, ink.text, [3, 3], from, 0, to - from, plot.lanesBottom);
    }
  };

  Object.assign(lockstorm, { drawScenery, WORDS });
})();
