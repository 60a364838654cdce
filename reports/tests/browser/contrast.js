// Gives every piece of text that can be seen with its contrast against what is painted below it.
// Evaluated in the page by contrast.rs; not part of the report.
(() => {
  const brush = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  // Any colour that CSS can write, as red, green, blue (0 to 255) and opacity (0 to 1).
  const read = (colour) => {
    brush.clearRect(0, 0, 1, 1);
    brush.fillStyle = colour;
    brush.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = brush.getImageData(0, 0, 1, 1).data;
    return [red, green, blue, alpha / 255];
  };
  const over = (top, below, opacity = 1) => {
    const alpha = top[3] * opacity;
    return [0, 1, 2].map((n) => top[n] * alpha + below[n] * (1 - alpha)).concat(1);
  };
  // WCAG 2, relative luminance and contrast ratio.
  const light = (colour) => {
    const [red, green, blue] = colour.slice(0, 3).map((channel) => {
      const part = channel / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const ratio = (one, other) => {
    const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  // The grounds of an element's ancestors, the farthest first.
  const ground = (element) => {
    const grounds = [];
    for (let at = element; at instanceof Element; at = at.parentElement) {
      grounds.unshift(read(getComputedStyle(at).backgroundColor));
    }
    const dark = getComputedStyle(document.documentElement).colorScheme === 'dark' ||
      (getComputedStyle(document.documentElement).colorScheme !== 'light' &&
        matchMedia('(prefers-color-scheme: dark)').matches);
    const canvas = dark ? [18, 18, 18, 1] : [255, 255, 255, 1];
    return grounds.reduce((below, top) => over(top, below), canvas);
  };
  // What lies under the middle of a word in a picture: the shapes painted before it. A hatch is
  // left out, for it covers less than a third of what it is on.
  const below = (word, picture) => {
    const box = word.getBoundingClientRect();
    const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    let colour = ground(picture.parentElement);
    for (const shape of picture.querySelectorAll('rect, circle, polygon')) {
      if (!(shape.compareDocumentPosition(word) & Node.DOCUMENT_POSITION_FOLLOWING)) continue;
      const area = shape.getBoundingClientRect();
      if (x < area.left || x > area.right || y < area.top || y > area.bottom) continue;
      const style = getComputedStyle(shape);
      if (style.fill === 'none' || style.fill.startsWith('url')) continue;
      colour = over(read(style.fill), colour, Number(style.fillOpacity));
    }
    return colour;
  };
  const measured = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const text = walk.currentNode.textContent.trim();
    const element = walk.currentNode.parentElement;
    const can = { visibilityProperty: true, opacityProperty: true };
    if (text === '' || !element.checkVisibility(can)) continue;
    if (element.closest('script, style, title, desc')) continue;
    const picture = element.closest('svg');
    const style = getComputedStyle(element);
    const paint = read(picture ? style.fill : style.color);
    const under = picture ? below(element, picture) : ground(element);
    const seen = over(paint, under, picture ? Number(style.fillOpacity) : 1);
    measured.push({
      text: text.slice(0, 40),
      place: `${element.tagName.toLowerCase()}.${element.getAttribute('class') ?? ''}`,
      ratio: Math.round(ratio(seen, under) * 100) / 100,
    });
  }
  // The colours of the palette that stand for something, against both grounds of the page.
  const palette = {};
  const probe = document.createElement('i');
  document.body.append(probe);
  const painted = (name) => {
    probe.style.color = `var(${name})`;
    return read(getComputedStyle(probe).color);
  };
  for (const name of MEANINGS) {
    palette[name] = Math.min(
      ratio(painted(name), painted('--paper')), ratio(painted(name), painted('--page')));
  }
  probe.remove();
  return { measured, palette };
})()
