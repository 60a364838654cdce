// The timeline: what is on the screen, what is chosen, and the ways to change both.
(() => {
  const {
    TimeAxis, OrderAxis, View, Minimap, layOut, looseOperations, maskOf, arrange, readInk,
    drawScenery, WORDS, faultsHeight, spanOf, operationAt, rowAt, showTip, showPanel,
    describeOperation, describeViolation, describeFault, instant, digitsFor, count,
  } = lockstorm;
  const LANES_MAX = 560;
  const AXIS = 24;
  const MINIMAP = 40;
  const RIGHT = 14;
  // An operation is shown with so many times its own length around it, unless it is on the screen.
  const AROUND = 3;
  const SAID_AFTER_MS = 120;
  const MEASURES_KEPT = 16;

  class Timeline {
    constructor(parts, history) {
      Object.assign(this, parts);
      this.history = history;
      this.context = this.canvas.getContext('2d', { alpha: false });
      this.axes = { time: new TimeAxis(history), order: null };
      this.loose = looseOperations(history);
      this.laidOut = { time: layOut(history, this.axes.time, this.loose), order: null };
      this.view = new View(this.axes.time);
      this.minimap = new Minimap(this.overview);
      this.ink = readInk(this.context, this.history.scene);
      this.mask = null;
      this.filterText = '';
      this.current = -1;
      this.fault = -1;
      this.selected = -1;
      this.isOnlyTall = false;
      this.stretch = null;
      this.scroll = 0;
      this.isAsked = false;
      this.accused = this.findAccused();
      this.arrange();
    }

    // Holds that are part of a violation.
    findAccused() {
      const { scene, holdOf } = this.history;
      const acquires = scene.violations.flatMap((violation) => violation.acquires);
      const found = acquires.map((index) => this.operationOf(index)).filter((at) => at >= 0);
      return new Set(found.map((operation) => holdOf[operation]).filter((hold) => hold >= 0));
    }

    // The operation that an event is an end of, or -1.
    operationOf(index) {
      const { events, operations } = this.history;
      if (this.ofEvent === undefined) {
        this.ofEvent = new Int32Array(events.index.length).fill(-1);
        for (let at = 0; at < operations.count; at += 1) {
          this.ofEvent[operations.sentEvent[at]] = at;
          if (operations.doneEvent[at] >= 0) this.ofEvent[operations.doneEvent[at]] = at;
        }
      }
      const event = lockstorm.countBelow(events.index, index);
      return events.index[event] === index ? this.ofEvent[event] : -1;
    }

    get spans() { return this.laidOut[this.view.axis.name]; }

    parts() {
      return { history: this.history, spans: this.spans, mask: this.mask };
    }

    // Lanes anew, for another filter or another violation.
    arrange() {
      const violation = this.history.scene.violations[this.current];
      const tall = new Set(violation === undefined ? [] : violation.lanes);
      if (this.selected >= 0) tall.add(this.history.operations.lane[this.selected]);
      this.layout = arrange(this.history, this.mask, tall, this.isOnlyTall);
      this.resize();
    }

    resize() {
      const { scene } = this.history;
      this.scale = window.devicePixelRatio || 1;
      this.width = this.frame.clientWidth;
      this.lanesTop = faultsHeight(scene) + WORDS;
      this.lanesBottom = this.lanesTop + Math.min(this.layout.height, LANES_MAX);
      this.height = this.lanesBottom + AXIS;
      this.canvas.style.height = `${this.height}px`;
      this.canvas.width = Math.round(this.width * this.scale);
      this.canvas.height = Math.round(this.height * this.scale);
      this.view.left = Math.min(150, Math.max(72, this.width * 0.11));
      this.view.width = Math.max(this.width - this.view.left - RIGHT, 50);
      this.minimap.resize(this.width, MINIMAP, this.scale);
      const family = getComputedStyle(this.frame).fontFamily;
      this.smallFont = `12px ${family}`;
      this.boldFont = `600 13px ${family}`;
      this.scrollBy(0);
      this.redraw();
    }

    top(row) { return this.lanesTop + row.top - this.scroll; }

    isSeen(top, height) { return top + height > this.lanesTop && top < this.lanesBottom; }

    scrollBy(distance) {
      const most = Math.max(0, this.layout.height - (this.lanesBottom - this.lanesTop));
      this.scroll = Math.min(Math.max(this.scroll + distance, 0), most);
    }

    // Something about the view has changed by the hand of the reader.
    changed() {
      this.redraw();
      this.onChange();
    }

    redraw() {
      if (this.isAsked) return;
      this.isAsked = true;
      requestAnimationFrame(() => {
        this.isAsked = false;
        this.drawNow();
      });
    }

    drawNow() {
      // Nothing to draw on while the page has no room for it, as on paper.
      if (this.width === 0) return;
      const start = performance.now();
      drawScenery(this);
      this.minimap.draw(this);
      performance.measure('timeline-redraw', { start, end: performance.now() });
      this.measured = (this.measured ?? 0) + 1;
      if (this.measured > MEASURES_KEPT) {
        performance.clearMeasures('timeline-redraw');
        this.measured = 0;
      }
      this.tellOthers();
      clearTimeout(this.saying);
      this.saying = setTimeout(() => this.say(), SAID_AFTER_MS);
    }

    // What else of the page follows the view, in seconds of true time.
    tellOthers() {
      const [from, to] = [this.view.from, this.view.to].map((at) => this.view.axis.toTime(at) / 1e9);
      if (this.told?.from === from && this.told.to === to) return;
      this.told = { from, to };
      document.dispatchEvent(new CustomEvent('timeline-view', { detail: this.told }));
    }

    repaint() {
      this.ink = readInk(this.context, this.history.scene);
      this.minimap.isStale = true;
      this.redraw();
    }

    // The view in words, for those who do not see it.
    say() {
      const { view, history: { scene, events } } = this;
      const digits = digitsFor(view.span);
      const event = (place) => events.index[Math.round(Math.min(place, events.index.length - 1))] ?? 0;
      const words = view.axis.name === 'time'
        ? [`${instant(view.from, digits)} to ${instant(view.to, digits)}`, 'true time']
        : [`event ${event(view.from)} to event ${event(view.to)}`, 'event order'];
      words.push(count(this.layout.lanes, 'lane'));
      if (this.current >= 0) words.push(`violation ${this.current + 1} of ${scene.violations.length}`);
      else if (scene.violations.length > 0) words.push(count(scene.violations.length, 'violation'));
      if (this.mask !== null) words.push(`filtered: ${count(this.wanted, 'operation')}`);
      if (this.said !== undefined) words.push(this.said);
      if (this.isFar) words.push('zoomed out');
      const text = words.join(', ');
      if (this.status.textContent !== text) this.status.textContent = text;
    }

    turnAxis(name = this.view.axis.name === 'time' ? 'order' : 'time') {
      if (this.axes.order === null) {
        this.axes.order = new OrderAxis(this.history);
        this.laidOut.order = layOut(this.history, this.axes.order, this.loose);
      }
      if (name === this.view.axis.name) return;
      this.view.turn(this.axes[name]);
      this.minimap.isStale = true;
      this.onTurn(name);
      this.redraw();
    }

    // Shows only the lanes of what is selected, or all again.
    turnLanes() {
      this.isOnlyTall = !this.isOnlyTall;
      this.scroll = 0;
      this.arrange();
      this.onTurnLanes(this.isOnlyTall);
    }

    filter(text) {
      this.filterText = text.trim();
      this.mask = maskOf(this.history, this.filterText);
      this.wanted = this.mask === null ? 0 : this.mask.reduce((sum, one) => sum + one, 0);
      this.scroll = 0;
      this.minimap.isStale = true;
      this.arrange();
    }

    show(from, to) {
      this.view.show(...spanOf(this.view.axis, from, to));
    }

    goToViolation(step) {
      const { violations } = this.history.scene;
      if (violations.length === 0) return;
      const start = this.current < 0 && step < 0 ? 0 : this.current;
      this.current = (start + step + violations.length) % violations.length;
      this.selected = -1;
      this.said = undefined;
      const violation = violations[this.current];
      const first = violation.acquires.map((index) => this.operationOf(index))
        .filter((at) => at >= 0).map((at) => this.history.operations.sent[at]);
      this.show(Math.min(violation.from, ...first), violation.to ?? Infinity);
      this.arrange();
      this.scrollTo(violation.lanes[0]);
      this.pin(describeViolation(violation, this.current, violations.length));
    }

    goToFault(step) {
      const { faults } = this.history.scene;
      if (faults.length === 0) return;
      this.fault = (this.fault + step + faults.length) % faults.length;
      const fault = faults[this.fault];
      this.said = `fault ${this.fault + 1} of ${faults.length}`;
      this.show(fault.from, fault.to);
      this.pin(describeFault(fault));
    }

    // Brings a lane into sight.
    scrollTo(lane) {
      const row = this.layout.rows[this.layout.rowOf[lane] ?? -1];
      if (row === undefined) return;
      const middle = row.top - (this.lanesBottom - this.lanesTop) / 3;
      if (!this.isSeen(this.top(row), row.height)) this.scrollBy(middle - this.scroll);
    }

    // From where to where an operation is drawn, on the axis.
    extentOf(operation) {
      const { axis } = this.view;
      const hold = this.history.holdOf[operation];
      if (hold >= 0) return [this.spans.holds.from[hold], this.spans.holds.to[hold]];
      const done = axis.done[operation];
      return [axis.sent[operation], done === Infinity ? axis.length : done];
    }

    // Selects an operation, or none with -1, and says all that is known of it.
    select(operation) {
      this.selected = operation;
      if (operation < 0) {
        this.clear();
        return;
      }
      const { events, operations } = this.history;
      this.said = `event ${events.index[operations.sentEvent[operation]]} selected`;
      this.pin(describeOperation(this.history, operation));
      this.arrange();
      this.changed();
    }

    // Selects an operation and brings it into sight.
    reveal(operation) {
      const [from, to] = this.extentOf(operation);
      const end = Math.min(to, this.view.axis.length);
      const isShown = from >= this.view.from && end <= this.view.to;
      if (!isShown || this.isFar || end - from < this.view.span / 200) {
        const room = Math.max(end - from, this.view.axis.shortest) * AROUND;
        this.view.set(from - room, end + room);
      }
      this.select(operation);
      this.scrollTo(this.history.operations.lane[operation]);
    }

    // The operation whose middle is nearest to the middle of the screen.
    selectNearMiddle() {
      const { view, spans, history: { holds } } = this;
      const middle = (view.from + view.to) / 2;
      let [best, nearest] = [-1, Infinity];
      const weigh = (operation, from, to) => {
        const away = Math.abs((from + Math.min(to, view.axis.length)) / 2 - middle);
        const isWanted = this.mask === null || this.mask[operation] === 1;
        if (isWanted && away < nearest) [best, nearest] = [operation, away];
      };
      spans.holds.each(view.from, view.to, (hold) => {
        weigh(holds.acquire[hold], spans.holds.from[hold], spans.holds.to[hold]);
      });
      if (best < 0) {
        spans.loose.each(view.from, view.to, (at) => {
          weigh(this.loose[at], spans.loose.from[at], spans.loose.to[at]);
        });
      }
      if (best >= 0) this.select(best);
    }

    // The next or previous operation in the lane of the selected one.
    selectNeighbour(step) {
      const { operations, holds, holdOf } = this.history;
      if (this.selected < 0) {
        this.selectNearMiddle();
        return;
      }
      const lane = operations.lane[this.selected];
      const isOwn = (at) => operations.lane[at] === lane && (this.mask === null || this.mask[at] === 1)
        && (holdOf[at] < 0 || holds.acquire[holdOf[at]] === at);
      for (let at = this.selected + step; at >= 0 && at < operations.count; at += step) {
        if (isOwn(at)) {
          this.reveal(at);
          return;
        }
      }
    }

    clear() {
      const wasRaised = this.selected >= 0 || this.current >= 0;
      this.selected = -1;
      this.current = -1;
      this.said = undefined;
      this.panel.hidden = true;
      this.hideTip();
      if (wasRaised) this.arrange();
      this.changed();
    }

    pin(description) {
      showPanel(this.panel, description, () => {
        this.clear();
        this.focusCanvas();
      });
    }

    hover(x, y) {
      const row = rowAt(this, y);
      const operation = row === undefined || row.lane === undefined ? -1 : operationAt(this, x, y);
      this.canvas.style.cursor = operation < 0 ? 'grab' : 'pointer';
      if (operation < 0) this.hideTip();
      else showTip(this.tip, describeOperation(this.history, operation), x, y, this);
    }

    hideTip() { this.tip.hidden = true; }

    selectStretch(from, to) {
      const { left, width } = this.view;
      const inside = (x) => Math.min(Math.max(x, left), left + width);
      this.stretch = [Math.min(inside(from), inside(to)), Math.max(inside(from), inside(to))];
      this.redraw();
    }

    zoomToStretch(ends) {
      this.stretch = null;
      if (ends !== null && Math.abs(ends[1] - ends[0]) > 3) {
        const [from, to] = ends.map((x) => this.view.at(x));
        this.view.set(Math.min(from, to), Math.max(from, to));
      }
      this.changed();
    }

    focusCanvas() { this.canvas.focus({ preventScroll: true }); }

    focusFilter() { this.filterField.focus(); }
  }

  lockstorm.Timeline = Timeline;
})();
