// Brings the timeline to life: unpacks the history, and ties the timeline to its controls and to the
// address of the page. Where something fails, the picture that is there without a script stays.
(() => {
  const {
    unpack, decode, Timeline, Pointer, followMinimap, listenToKeys, readHash, writeHash, digitsFor,
  } = lockstorm;
  const WRITE_AFTER_MS = 250;

  const find = (id) => document.getElementById(`timeline-${id}`);

  // Writes the view into the address, once the hand has come to rest: browsers count how often.
  const keepAddress = (timeline) => {
    let waiting;
    const write = () => {
      const { view, history: { events, operations } } = timeline;
      const chosen = timeline.selected;
      const hash = writeHash({
        from: view.axis.toTime(view.from),
        to: view.axis.toTime(view.to),
        digits: digitsFor(view.axis.toTime(view.to) - view.axis.toTime(view.from)) + 1,
        axis: view.axis.name,
        event: chosen < 0 ? undefined : events.index[operations.sentEvent[chosen]],
        filter: timeline.filterText,
      });
      history.replaceState(null, '', hash);
    };
    timeline.onChange = () => {
      clearTimeout(waiting);
      waiting = setTimeout(write, WRITE_AFTER_MS);
    };
  };

  // The fault with this event in its life.
  const faultOf = (scene, index) => scene.faults.findIndex((fault) => (
    fault.stages.some(([, , event]) => event === index)));

  const showEvent = (timeline, index, hasWindow) => {
    const operation = timeline.operationOf(index);
    if (operation >= 0) {
      // Who follows a link to an operation wants to see it, whatever was asked for before.
      if (timeline.mask !== null && timeline.mask[operation] === 0) {
        timeline.filterField.value = '';
        timeline.filter('');
      }
      if (hasWindow) timeline.select(operation);
      else timeline.reveal(operation);
      return;
    }
    const { events, scene } = timeline.history;
    const fault = faultOf(scene, index);
    if (fault >= 0) {
      timeline.fault = fault - 1;
      timeline.goToFault(1);
    } else {
      // A note, or an operation that is not embedded: what came before it is known.
      const before = Math.max(lockstorm.countBelow(events.index, index) - 1, 0);
      const time = events.time[before] ?? 0;
      const place = timeline.view.axis.ofTime(time);
      timeline.view.set(place - timeline.view.span / 2, place + timeline.view.span / 2);
      timeline.said = `event ${index} is no operation that is here; this is where it happened`;
    }
    timeline.redraw();
  };

  // Does what the address asks for; `false` if that is nothing of the timeline's.
  const obeyAddress = (timeline) => {
    const wanted = readHash(location.hash);
    if (wanted === null) return false;
    if (wanted.filter !== null && wanted.filter !== timeline.filterText) {
      timeline.filterField.value = wanted.filter;
      timeline.filter(wanted.filter);
    }
    if (wanted.axis === 'order' || wanted.axis === 'time') timeline.turnAxis(wanted.axis);
    if (wanted.window !== undefined) {
      timeline.view.set(...wanted.window.map((time) => timeline.view.axis.ofTime(time)));
    }
    if (wanted.event !== undefined) showEvent(timeline, wanted.event, wanted.window !== undefined);
    timeline.redraw();
    find('live').scrollIntoView({ block: 'nearest' });
    return true;
  };

  const tieControls = (timeline) => {
    const axis = find('axis');
    timeline.onTurn = (name) => axis.setAttribute('aria-pressed', String(name === 'order'));
    timeline.onTurnLanes = (isOn) => find('only').setAttribute('aria-pressed', String(isOn));
    let waiting;
    timeline.filterField.addEventListener('input', () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => {
        timeline.filter(timeline.filterField.value);
        timeline.changed();
      }, WRITE_AFTER_MS);
    });
    new Pointer(timeline, timeline.canvas);
    followMinimap(timeline, timeline.overview);
    listenToKeys(timeline, find('live'));
    new ResizeObserver(() => timeline.resize()).observe(timeline.frame);
    const theme = matchMedia('(prefers-color-scheme: dark)');
    theme.addEventListener('change', () => timeline.repaint());
    // The page's own switch between light and dark sets the style of the root.
    const root = document.documentElement;
    const onStyle = new MutationObserver(() => timeline.repaint());
    onStyle.observe(root, { attributes: true, attributeFilter: ['style'] });
    addEventListener('hashchange', () => obeyAddress(timeline));
  };

  const start = async (data) => {
    const history = decode(await unpack(data.textContent));
    find('live').hidden = false;
    find('static').classList.add('replaced');
    const timeline = new Timeline({
      canvas: find('canvas'),
      overview: find('overview'),
      frame: find('frame'),
      status: find('status'),
      tip: find('tip'),
      panel: find('details'),
      filterField: find('filter'),
    }, history);
    keepAddress(timeline);
    tieControls(timeline);
    obeyAddress(timeline);
    timeline.drawNow();
    timeline.say();
    performance.mark('timeline-ready');
    document.documentElement.dataset.timeline = 'ready';
  };

  const data = find('data');
  if (data !== null) {
    start(data).catch((error) => {
      find('live').hidden = true;
      find('static').classList.remove('replaced');
      find('status').textContent = `The interactive timeline cannot be shown: ${error.message}`;
      document.documentElement.dataset.timeline = 'failed';
    });
  }
})();
