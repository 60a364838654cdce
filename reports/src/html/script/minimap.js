// The whole run in a strip: how busy it was, its faults, a tick for each violation, and a frame around
// what is on the screen. A click or a drag moves the frame.
(() => {
  const { spanOf, fill, outline } = lockstorm;
  const TICK = 6;

  // The share of clients that held a lock in the time of each column, and the most there was.
  const busyOf = ({ history, axis, spans, mask }, width) => {
    const busy = new Float32Array(width);
    const scale = width / axis.length;
    const { holds } = history;
    for (let hold = 0; hold < holds.count; hold += 1) {
      if (mask !== null && mask[holds.acquire[hold]] === 0) continue;
      const from = Math.max(axis.start[hold] * scale, 0);
      const to = Math.min(axis.end[hold] * scale, width);
      const last = Math.min(Math.floor(to), width - 1);
      for (let at = Math.floor(from); at <= last; at += 1) {
        busy[at] += Math.min(to, at + 1) - Math.max(from, at);
      }
    }
    // A try that was refused is something that happened, too.
    for (let at = 0; at < spans.loose.count; at += 1) {
      const column = Math.floor(spans.loose.from[at] * scale);
      if (column < width) busy[column] += 0.02;
    }
    return busy;
  };

  // Bins where the history is not whole.
  const addBins = ({ history: { scene, bins }, axis }, busy) => {
    if (bins.ofLane === 0 || axis.name !== 'time') return;
    for (let x = 0; x < busy.length; x += 1) {
      const bin = Math.min(Math.floor((x / busy.length) * bins.ofLane), bins.ofLane - 1);
      let sum = 0;
      for (let at = bin; at < bins.shares.length; at += bins.ofLane) sum += bins.shares[at];
      busy[x] = Math.max(busy[x], sum / 255);
    }
    return scene;
  };

  class Minimap {
    constructor(canvas) {
      this.canvas = canvas;
      this.sheet = document.createElement('canvas');
      this.isStale = true;
    }

    resize(width, height, scale) {
      if (this.width === width && this.height === height && this.scale === scale) return;
      this.width = width;
      this.height = height;
      this.scale = scale;
      for (const canvas of [this.canvas, this.sheet]) {
        canvas.width = Math.round(width * scale);
        canvas.height = Math.round(height * scale);
      }
      this.isStale = true;
    }

    // What does not change with the view.
    paint(plot) {
      const context = this.sheet.getContext('2d');
      context.setTransform(this.scale, 0, 0, this.scale, 0, 0);
      const { ink, history: { scene } } = plot;
      const axis = plot.view.axis;
      const { left, width } = plot.view;
      const place = (at) => left + (Math.min(at, axis.length) / axis.length) * width;
      fill(context, ink.paper, 1, 0, 0, this.width, this.height);
      const busy = busyOf({ ...plot.parts(), axis }, Math.max(1, Math.floor(width)));
      addBins({ history: plot.history, axis }, busy);
      const most = busy.reduce((one, other) => Math.max(one, other), 0) || 1;
      const floor = this.height - 3;
      busy.forEach((share, x) => {
        const height = share === 0 ? 0 : 2 + (share / most) * (floor - TICK - 6);
        fill(context, ink.hold, 0.55, left + x, floor - height, 1, height);
      });
      for (const fault of scene.faults) {
        const [from, to] = spanOf(axis, fault.from, fault.to);
        fill(context, ink[fault.ink], 0.22, place(from), 0, Math.max(place(to) - place(from), 1), this.height);
      }
      for (const violation of scene.violations) {
        const x = place(axis.ofTime(violation.from));
        fill(context, ink.violation, 1, x - 1, 0, 2, this.height);
        fill(context, ink.violation, 1, x - 3, 0, 6, TICK);
      }
      this.isStale = false;
    }

    draw(plot) {
      if (this.isStale) this.paint(plot);
      const context = this.canvas.getContext('2d');
      context.setTransform(1, 0, 0, 1, 0, 0);
      context.drawImage(this.sheet, 0, 0);
      context.setTransform(this.scale, 0, 0, this.scale, 0, 0);
      const { view, ink } = plot;
      const place = (at) => view.left + (at / view.axis.length) * view.width;
      const [from, to] = [place(view.from), place(view.to)];
      fill(context, ink.paper, 0.6, view.left, 0, from - view.left, this.height);
      fill(context, ink.paper, 0.6, to, 0, view.left + view.width - to, this.height);
      outline(context, ink.text, [], from - 1, 0, Math.max(to - from, 3) + 2, this.height, 1.5);
    }
  }

  lockstorm.Minimap = Minimap;
})();
