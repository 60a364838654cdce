// Colours and hatches of the canvas, read off the page's style so that both themes are told there.
(() => {
  const NAMES = ['paper', 'text', 'muted', 'grid', 'hold', 'on-hold', 'wait', 'lease', 'violation',
    'unknown', 'valid'];

  // A pattern of diagonal lines on a transparent ground.
  const hatch = (context, color, gap, width) => {
    const scale = window.devicePixelRatio || 1;
    const size = Math.round(gap * scale);
    const tile = document.createElement('canvas');
    tile.width = size;
    tile.height = size;
    const ink = tile.getContext('2d');
    ink.strokeStyle = color;
    ink.lineWidth = width * scale;
    ink.lineCap = 'square';
    for (const shift of [-size, 0, size]) {
      ink.beginPath();
      ink.moveTo(shift, size);
      ink.lineTo(shift + size, 0);
      ink.stroke();
    }
    const pattern = context.createPattern(tile, 'repeat');
    pattern.setTransform(new DOMMatrix().scale(1 / scale));
    return pattern;
  };

  // A colour as the four bytes of a pixel, without its opacity.
  const bytesOf = (color) => {
    const probe = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    probe.fillStyle = color;
    probe.fillRect(0, 0, 1, 1);
    return probe.getImageData(0, 0, 1, 1).data;
  };

  // Each fault names its own, by what it does harm to.
  const readInk = (context, { faults }) => {
    // A variable is read back as it was written, with both themes in it; a colour as it is seen.
    const probe = document.createElement('span');
    probe.hidden = true;
    document.body.append(probe);
    const ink = {};
    for (const name of [...NAMES, ...faults.map((fault) => fault.ink)]) {
      probe.style.color = `var(--${name})`;
      ink[name] = getComputedStyle(probe).color;
    }
    probe.remove();
    ink.hatch = {
      violation: hatch(context, ink.violation, 7, 2),
      unknown: hatch(context, ink.unknown, 6, 1.5),
      muted: hatch(context, ink.muted, 6, 1.2),
      overrun: hatch(context, ink['on-hold'], 5, 1.5),
    };
    ink.holdBytes = bytesOf(ink.hold);
    ink.waitBytes = bytesOf(ink.wait);
    return ink;
  };

  lockstorm.readInk = readInk;
})();
