// The plots over time mark the stretch that the timeline shows, unless it shows all of them. Where
// the time of a run lies in a plot stands in its data attribute.
(() => {
  'use strict';
  const planes = [...document.querySelectorAll('svg[data-time]')].map((plot) => {
    const [from, to, x, y, width, height] = JSON.parse(plot.dataset.time);
    const mark = document.createElementNS(plot.namespaceURI, 'rect');
    mark.setAttribute('class', 'shown');
    mark.setAttribute('y', y);
    mark.setAttribute('height', height);
    mark.setAttribute('visibility', 'hidden');
    plot.append(mark);
    return { mark, from, to, x, width };
  });
  const show = ({ mark, from, to, x, width }, view) => {
    const place = (at) => x + (width * (Math.min(Math.max(at, from), to) - from)) / (to - from);
    const [left, right] = [place(view.from), place(view.to)];
    const isPart = to > from && right - left < width * 0.99;
    mark.setAttribute('visibility', isPart ? 'visible' : 'hidden');
    if (!isPart) return;
    mark.setAttribute('x', left);
    mark.setAttribute('width', Math.max(right - left, 1));
  };
  document.addEventListener('timeline-view', (event) => {
    for (const plane of planes) show(plane, event.detail);
  });
})();
