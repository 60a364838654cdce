// What there is to say of an operation, a violation or a fault: a title, facts with the events that
// prove them, and what servers were told. Plain data; `panel.js` shows it.
(() => {
  const { OUTCOMES, instant, length, outcomeOf, wordsOf } = lockstorm;
  // Commands that are listed; who needs more reads the servers' own logs.
  const COMMANDS_MAX = 24;
  // Other holders that are named.
  const OTHERS_MAX = 5;
  // A command is noted when the harness hears of it, which is a little after it was sent.
  const HEARD_WITHIN = 50e6;

  const at = (ns) => instant(ns, 6);

  // The commands on a lock that a client, or a script, sent in a stretch of time.
  const commandsOf = ({ scene }, client, key, from, to) => scene.commands
    .filter(([, time, of, , sender]) => of === key && (sender === null || sender === client)
      && from <= time && time <= to + HEARD_WITHIN)
    .slice(0, COMMANDS_MAX)
    .map(([event, time, , node, sender, text]) => ({
      event, text: `${at(time)} · ${sender ?? 'a script'} told ${node}: ${text}`,
    }));

  const answerOf = ({ events, operations }, operation) => {
    const event = operations.doneEvent[operation];
    const answer = OUTCOMES[(operations.kind[operation] >> 3) & 7];
    if (event < 0) return ['Answered', 'never'];
    const word = answer === 'unknown' ? 'no answer, given up' : answer;
    return ['Answered', `${at(operations.done[operation])}, ${word}`, events.index[event]];
  };

  const sentOf = ({ events, operations }, operation, term) => (
    [term, at(operations.sent[operation]), events.index[operations.sentEvent[operation]]]);

  // Who else held the same lock when a hold began, each inside its lease: of a lock with readers or
  // permits there may be many.
  const othersAt = ({ scene, operations, holds }, hold) => {
    const laneOf = (one) => scene.lanes[operations.lane[holds.acquire[one]]];
    const [[key], start] = [laneOf(hold), holds.start[hold]];
    const others = [];
    for (let one = 0; one < holds.start.length; one += 1) {
      const isThere = holds.start[one] <= start && start < Math.min(holds.end[one], holds.floor[one]);
      if (isThere && one !== hold && laneOf(one)[0] === key) others.push(scene.clients[laneOf(one)[1]]);
    }
    const named = others.slice(0, OTHERS_MAX).join(', ');
    return others.length > OTHERS_MAX ? `${named} and ${others.length - OTHERS_MAX} more` : named;
  };

  const holdFacts = (history, hold) => {
    const { events, operations, holds } = history;
    const [acquire, release] = [holds.acquire[hold], holds.release[hold]];
    const [start, end, floor] = [holds.start[hold], holds.end[hold], holds.floor[hold]];
    const facts = [sentOf(history, acquire, 'Asked')];
    if (operations.wait[acquire] > 0) facts.push(['Waited', length(operations.wait[acquire])]);
    const done = operations.doneEvent[acquire];
    facts.push(['Granted', at(start), done < 0 ? undefined : events.index[done]]);
    const others = othersAt(history, hold);
    if (others !== '') facts.push(['Others held it then', others]);
    facts.push(['Held', end === Infinity ? 'never released' : length(end - start)]);
    if (release >= 0) facts.push(sentOf(history, release, 'Release sent'), answerOf(history, release));
    if (floor < Infinity) {
      facts.push(['Lease holds until', at(floor)], ['Lease over by', at(holds.ceiling[hold])]);
      if (end > floor && end < Infinity) facts.push(['Held past its lease', length(end - floor)]);
    }
    const token = holds.largeTokens.get(hold) ?? holds.token[hold];
    if (!Number.isNaN(token)) facts.push(['Token', String(token)]);
    return facts;
  };

  const describeOperation = (history, operation) => {
    const { scene, operations, holds, holdOf } = history;
    const [keyNumber, clientNumber] = scene.lanes[operations.lane[operation]];
    const [key, client] = [scene.keys[keyNumber], scene.clients[clientNumber]];
    const kind = operations.kind[operation];
    const hold = holdOf[operation];
    const mode = (kind & 64) === 0 ? '' : ', as a reader';
    if (hold >= 0) {
      const release = holds.release[hold];
      const until = release < 0 ? holds.end[hold] : operations.done[release];
      const from = operations.sent[holds.acquire[hold]];
      return {
        title: `${client} held "${key}"${mode}`,
        facts: holdFacts(history, hold),
        commands: commandsOf(history, client, key, from, until),
      };
    }
    const facts = [sentOf(history, operation, 'Sent'), answerOf(history, operation)];
    const took = operations.done[operation] - operations.sent[operation];
    if (took < Infinity) facts.push(['Took', length(took)]);
    if (operations.token[operation] > 0) facts.push(['Token', String(operations.token[operation] - 1)]);
    return {
      title: `${client}: ${outcomeOf(kind)} of "${key}"${mode}`,
      facts,
      commands: commandsOf(history, client, key, operations.sent[operation], operations.done[operation]),
    };
  };

  const describeViolation = (violation, number, count) => ({
    title: `Violation ${number + 1} of ${count}: ${violation.property}`,
    claim: violation.claim,
    facts: [
      ['What', wordsOf(violation)],
      ['From', at(violation.from)],
      ['To', violation.to === null ? 'never' : at(violation.to)],
      ['Certainty', violation.certain ? 'certain' : 'possible: the leases leave room for doubt'],
      ...violation.acquires.map((event) => ['Acquired with', '', event]),
    ],
    commands: [],
  });

  const describeFault = (fault) => ({
    title: `Fault ${fault.id}: ${fault.kind} ${fault.target}`,
    facts: fault.stages.map(([stage, time, event, evidence]) => (
      [stage, evidence === '' ? at(time) : `${at(time)}: ${evidence}`, event])),
    commands: [],
  });


  Object.assign(lockstorm, { describeOperation, describeViolation, describeFault });
})();
