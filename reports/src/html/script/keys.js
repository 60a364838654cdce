// The keyboard: everything that a pointer can do. Keys count while the timeline has the focus.
(() => {
  const SCROLL = 60;

  const actionsOf = (timeline) => {
    const { view } = timeline;
    return {
      0: () => view.fit(),
      '+': () => view.zoomIn(),
      '=': () => view.zoomIn(),
      '-': () => view.zoomOut(),
      ArrowLeft: () => view.panLeft(),
      ArrowRight: () => view.panRight(),
      ArrowUp: () => timeline.scrollBy(-SCROLL),
      ArrowDown: () => timeline.scrollBy(SCROLL),
      n: () => timeline.goToViolation(1),
      p: () => timeline.goToViolation(-1),
      f: () => timeline.goToFault(1),
      o: () => timeline.turnAxis(),
      l: () => timeline.turnLanes(),
      Enter: () => timeline.selectNearMiddle(),
      '.': () => timeline.selectNeighbour(1),
      ',': () => timeline.selectNeighbour(-1),
      Escape: () => timeline.clear(),
      '/': () => timeline.focusFilter(),
    };
  };

  const listenToKeys = (timeline, live) => {
    const actions = actionsOf(timeline);
    live.addEventListener('keydown', (event) => {
      const isTyping = event.target instanceof HTMLInputElement;
      const isOnButton = event.target instanceof HTMLButtonElement || event.target instanceof HTMLAnchorElement;
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (isTyping) {
        if (event.key === 'Escape') timeline.focusCanvas();
        return;
      }
      // Enter presses the button that has the focus.
      if (isOnButton && event.key === 'Enter') return;
      const act = actions[event.key];
      if (act === undefined) return;
      event.preventDefault();
      act();
      timeline.changed();
    });
    // Buttons name the key that they stand for.
    for (const button of live.querySelectorAll('button[data-key]')) {
      button.addEventListener('click', () => {
        actions[button.dataset.key]();
        timeline.changed();
      });
    }
  };

  lockstorm.listenToKeys = listenToKeys;
})();
