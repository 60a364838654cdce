// The picture of the topology follows the view of the timeline: roles, faults and absences of
// that time. The times of each place are in its data attributes.
(() => {
  'use strict';
  const section = document.querySelector('#topology');
  const picture = section && section.querySelector('svg.network');
  const status = section && section.querySelector('.view');
  // Faults named at one place at once, as the page does without a script.
  const NAMED_MAX = 2;
  const spansIn = (place, name, view) => JSON.parse(place.dataset[name])
    .filter(([from, to]) => from <= view.to && (to === null || to >= view.from));
  const named = (spans) => {
    const names = spans.map(([, , text]) => text);
    const shown = names.slice(0, NAMED_MAX).join(', ');
    return names.length > NAMED_MAX ? `${shown} + ${names.length - NAMED_MAX}` : shown;
  };
  const show = (view) => {
    for (const place of picture.querySelectorAll('[data-roles]')) {
      place.textContent = spansIn(place, 'roles', view).map(([, , text]) => text).join(' → ');
    }
    for (const place of picture.querySelectorAll('[data-faults]')) {
      place.textContent = named(spansIn(place, 'faults', view));
    }
    for (const place of picture.querySelectorAll('[data-absent]')) {
      place.classList.toggle('absent', spansIn(place, 'absent', view).length > 0);
    }
    for (const place of picture.querySelectorAll('[data-cut]')) {
      place.classList.toggle('healed', spansIn(place, 'cut', view).length === 0);
    }
    const time = (seconds) => `${seconds.toFixed(3)} s`;
    status.textContent = `From ${time(view.from)} to ${time(view.to)}, as in the timeline.`;
  };
  if (picture) {
    document.addEventListener('timeline-view', (event) => show(event.detail));
  }
})();
