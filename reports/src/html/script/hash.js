// The view in the address of the page, so that a link leads back to it:
// #t=1.2..1.6&axis=order&event=123&filter=client:a
(() => {
  const NAMES = ['t', 'axis', 'event', 'filter'];

  // What the address asks for; `null` if it is about something else, such as a section.
  const readHash = (hash) => {
    const given = new URLSearchParams(hash.replace(/^#/, '').replaceAll('+', '%2B'));
    if (!NAMES.some((name) => given.has(name))) return null;
    const wanted = { axis: given.get('axis'), filter: given.get('filter') };
    const window = /^([\d.]+)s?\.\.([\d.]+)s?$/.exec(given.get('t') ?? '');
    const [from, to] = window === null ? [] : window.slice(1).map((text) => Number(text) * 1e9);
    if (from < to) wanted.window = [from, to];
    const event = given.get('event') ?? '';
    if (/^\d+$/.test(event)) wanted.event = Number(event);
    return wanted;
  };

  const writeHash = ({ from, to, digits, axis, event, filter }) => {
    const seconds = (ns) => String(Number((ns / 1e9).toFixed(digits)));
    const parts = [`t=${seconds(from)}..${seconds(to)}`];
    if (axis !== 'time') parts.push(`axis=${axis}`);
    if (event !== undefined) parts.push(`event=${event}`);
    // Colons and commas stand in filters, and need no escape there.
    if (filter !== '') {
      const text = encodeURIComponent(filter).replaceAll('%3A', ':').replaceAll('%2C', ',');
      parts.push(`filter=${text}`);
    }
    return `#${parts.join('&')}`;
  };

  Object.assign(lockstorm, { readHash, writeHash });
})();
