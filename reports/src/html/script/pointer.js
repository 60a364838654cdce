// Mouse, pen and fingers: wheel and pinch zoom about the cursor, a drag moves, a drag with Shift
// selects a stretch, a click pins what is below it.
(() => {
  const { operationAt } = lockstorm;
  // A hand that moves less than this has clicked.
  const CLICK = 4;
  const WHEEL_ZOOM = 0.0018;
  // A wheel that counts lines moves about so many pixels with each.
  const LINE_PIXELS = 16;

  const pointOf = (canvas, event) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  class Pointer {
    constructor(timeline, canvas) {
      this.timeline = timeline;
      this.canvas = canvas;
      this.down = new Map();
      this.drag = null;
      const on = (name, act, options) => canvas.addEventListener(name, (event) => act(event), options);
      on('wheel', (event) => this.wheel(event), { passive: false });
      on('pointerdown', (event) => this.press(event));
      on('pointermove', (event) => this.move(event));
      on('pointerup', (event) => this.release(event, true));
      on('pointercancel', (event) => this.release(event, false));
      on('pointerleave', () => timeline.hideTip());
    }

    wheel(event) {
      event.preventDefault();
      const { view } = this.timeline;
      const unit = event.deltaMode === 0 ? 1 : LINE_PIXELS;
      const isSideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
      if (isSideways) view.panBy((event.deltaX * unit * view.span) / view.width);
      else if (event.shiftKey) this.timeline.scrollBy(event.deltaY * unit);
      else view.zoom(Math.exp(-event.deltaY * unit * WHEEL_ZOOM), view.at(pointOf(this.canvas, event).x));
      this.timeline.changed();
    }

    press(event) {
      if (event.button !== 0) return;
      const point = pointOf(this.canvas, event);
      this.canvas.setPointerCapture(event.pointerId);
      this.down.set(event.pointerId, point);
      this.drag = { ...point, moved: 0, isSelecting: event.shiftKey, start: point.x };
      this.timeline.hideTip();
    }

    move(event) {
      const point = pointOf(this.canvas, event);
      const before = this.down.get(event.pointerId);
      if (before === undefined) {
        this.timeline.hover(point.x, point.y);
        return;
      }
      if (this.down.size === 2) this.pinch(event.pointerId, point);
      else if (this.drag.isSelecting) this.timeline.selectStretch(this.drag.start, point.x);
      else this.pull(before, point);
      this.down.set(event.pointerId, point);
    }

    pull(before, point) {
      const { view } = this.timeline;
      const [right, below] = [point.x - before.x, point.y - before.y];
      this.drag.moved += Math.abs(right) + Math.abs(below);
      if (this.drag.moved < CLICK) return;
      view.panBy((-right * view.span) / view.width);
      this.timeline.scrollBy(-below);
      this.timeline.changed();
    }

    pinch(id, point) {
      const [other] = [...this.down].filter(([key]) => key !== id).map(([, place]) => place);
      const before = this.down.get(id);
      const { view } = this.timeline;
      const apart = Math.max(Math.abs(before.x - other.x), 1);
      view.zoom(Math.max(Math.abs(point.x - other.x), 1) / apart, view.at((point.x + other.x) / 2));
      this.drag.moved = CLICK;
      this.timeline.changed();
    }

    release(event, isDone) {
      if (!this.down.delete(event.pointerId) || this.drag === null) return;
      const { x, y } = pointOf(this.canvas, event);
      const { drag, timeline } = this;
      if (this.down.size > 0) return;
      this.drag = null;
      if (drag.isSelecting) timeline.zoomToStretch(isDone ? [drag.start, x] : null);
      else if (isDone && drag.moved < CLICK) timeline.select(operationAt(timeline, x, y));
    }
  }

  // The strip above follows the pointer.
  const followMinimap = (timeline, canvas) => {
    const follow = (event) => {
      const { view } = timeline;
      const share = (pointOf(canvas, event).x - view.left) / view.width;
      const middle = share * view.axis.length;
      view.set(middle - view.span / 2, middle + view.span / 2);
      timeline.changed();
    };
    canvas.addEventListener('pointerdown', (event) => {
      canvas.setPointerCapture(event.pointerId);
      follow(event);
    });
    canvas.addEventListener('pointermove', (event) => {
      if (canvas.hasPointerCapture(event.pointerId)) follow(event);
    });
  };

  Object.assign(lockstorm, { Pointer, followMinimap });
})();
