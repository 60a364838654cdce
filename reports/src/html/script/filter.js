// Which operations a reader wants to see: words that a client, a lock or an outcome has in it.
// `client:a lock:orders outcome:refused` asks for all three; `a,b` for either; a word without a
// colon may be of any.
(() => {
  const { ACTIONS, OUTCOMES } = lockstorm;
  const FIELDS = ['client', 'lock', 'outcome'];

  const parse = (text) => text.toLowerCase().split(/\s+/).filter(Boolean).map((word) => {
    const colon = word.indexOf(':');
    const field = word.slice(0, colon);
    const isNamed = FIELDS.includes(field);
    const rest = isNamed ? word.slice(colon + 1) : word;
    return { field: isNamed ? field : '', words: rest.split(',').filter(Boolean) };
  });

  // What an operation of this kind is called: its outcome, and what it is.
  const outcomeOf = (kind) => {
    const [action, outcome] = [ACTIONS[kind & 7], OUTCOMES[(kind >> 3) & 7]];
    if (action === 'acquire' && outcome === 'ok') return 'granted acquire';
    return `${outcome} ${action}`;
  };

  // For each operation 1 if it is wanted, else 0; `null` if all are.
  const maskOf = ({ scene, operations }, text) => {
    const terms = parse(text).filter((term) => term.words.length > 0);
    if (terms.length === 0) return null;
    const names = (list) => list.map((name) => name.toLowerCase());
    const [clients, keys] = [names(scene.clients), names(scene.keys)];
    // One answer for each lane and kind, of which there are few.
    const answers = new Map();
    const isWanted = (lane, kind) => {
      const [key, client] = scene.lanes[lane];
      const has = { client: clients[client], lock: keys[key], outcome: outcomeOf(kind) };
      return terms.every(({ field, words }) => {
        const texts = field === '' ? FIELDS.map((name) => has[name]) : [has[field]];
        // A name is asked for whole where there is one: `c1` is not `c10`.
        const isExact = field === 'client' && words.some((word) => clients.includes(word));
        return words.some((word) => texts.some((one) => (isExact ? one === word : one.includes(word))));
      });
    };
    const mask = new Uint8Array(operations.count);
    for (let at = 0; at < operations.count; at += 1) {
      const code = operations.lane[at] * 256 + operations.kind[at];
      let answer = answers.get(code);
      if (answer === undefined) {
        answer = Number(isWanted(operations.lane[at], operations.kind[at]));
        answers.set(code, answer);
      }
      mask[at] = answer;
    }
    return mask;
  };

  Object.assign(lockstorm, { maskOf, outcomeOf });
})();
