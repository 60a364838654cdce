// The stretch of an axis that is on the screen, and the ways to change it.
(() => {
  const ZOOM_STEP = 1.5;
  const PAN_STEP = 0.2;
  // Room left and right of what is shown on demand, as a share of it.
  const MARGIN = 0.15;

  class View {
    constructor(axis) {
      this.axis = axis;
      this.left = 0;
      this.width = 1;
      this.fit();
    }

    get span() { return this.to - this.from; }

    x(place) { return this.left + ((place - this.from) / this.span) * this.width; }

    at(x) { return this.from + ((x - this.left) / this.width) * this.span; }

    // Keeps the view inside the run, and no closer than the axis can tell places apart.
    set(from, to) {
      const { length, shortest } = this.axis;
      const span = Math.min(Math.max(to - from, shortest), length);
      const middle = (from + to) / 2;
      this.from = Math.min(Math.max(middle - span / 2, 0), length - span);
      this.to = this.from + span;
    }

    fit() { this.set(0, this.axis.length); }

    show(from, to) {
      const end = Math.min(to, this.axis.length);
      const room = Math.max((end - from) * MARGIN, this.axis.shortest / 2);
      this.set(from - room, end + room);
    }

    zoom(factor, place = (this.from + this.to) / 2) {
      const { length, shortest } = this.axis;
      const span = Math.min(Math.max(this.span / factor, shortest), length);
      const share = (place - this.from) / this.span;
      this.set(place - share * span, place + (1 - share) * span);
    }

    zoomIn() { this.zoom(ZOOM_STEP); }

    zoomOut() { this.zoom(1 / ZOOM_STEP); }

    pan(share) { this.panBy(share * this.span); }

    panLeft() { this.pan(-PAN_STEP); }

    panRight() { this.pan(PAN_STEP); }

    panBy(distance) {
      const { length } = this.axis;
      const from = Math.min(Math.max(this.from + distance, 0), length - this.span);
      this.to = from + this.span;
      this.from = from;
    }

    // The same stretch on the other axis.
    turn(axis) {
      const [from, to] = [this.from, this.to].map((place) => axis.ofTime(this.axis.toTime(place)));
      this.axis = axis;
      this.set(from, to);
    }
  }

  lockstorm.View = View;
})();
