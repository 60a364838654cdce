// How instants and lengths of time are written: as in the rest of the page, cut off and not rounded.
(() => {
  const NS_PER_S = 1e9;

  // An instant with as many digits after the point as `digits` says.
  const instant = (ns, digits = 3) => {
    if (!Number.isFinite(ns)) return 'never';
    const scale = 10 ** digits;
    const cut = Math.floor(Math.abs(ns) / (NS_PER_S / scale)) / scale;
    return `${ns < 0 && cut > 0 ? '−' : ''}${cut.toFixed(digits)} s`;
  };

  const length = (ns) => {
    if (!Number.isFinite(ns)) return 'without end';
    if (ns >= NS_PER_S) return instant(ns);
    if (ns >= 1e6) return `${Math.floor(ns / 1e5) / 10} ms`;
    if (ns >= 1e3) return `${Math.floor(ns / 1e3)} µs`;
    return `${Math.floor(ns)} ns`;
  };

  // Digits that tell neighbouring pixels apart in a view of this length.
  const digitsFor = (ns) => Math.min(9, Math.max(3, 3 - Math.floor(Math.log10(ns / NS_PER_S))));

  const count = (n, thing) => `${n.toLocaleString('en')} ${thing}${n === 1 ? '' : 's'}`;

  Object.assign(lockstorm, { instant, length, digitsFor, count });
})();
