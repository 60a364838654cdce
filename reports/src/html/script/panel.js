// Shows descriptions: in short at the cursor, in full in the panel below the canvas. Text goes in as
// text, never as markup.
(() => {
  const element = (name, text, className) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className !== undefined) made.className = className;
    return made;
  };

  const eventLink = (index) => {
    const link = element('a', `event ${index}`);
    link.href = `#event=${index}`;
    return link;
  };

  // Facts that a tip at the cursor has room for.
  const TIP_FACTS_MAX = 6;

  const showTip = (tip, description, x, y, room) => {
    tip.replaceChildren(element('strong', description.title));
    for (const [term, text] of description.facts.slice(0, TIP_FACTS_MAX)) {
      tip.append(element('span', `${term}: ${text}`));
    }
    tip.hidden = false;
    const { offsetWidth, offsetHeight } = tip;
    const left = x + 16 + offsetWidth > room.width ? x - 16 - offsetWidth : x + 16;
    const top = Math.min(y + 14, room.height - offsetHeight - 4);
    tip.style.transform = `translate(${Math.max(left, 2)}px, ${Math.max(top, 2)}px)`;
  };

  const factsOf = (facts) => {
    const list = element('dl', undefined, 'facts wide');
    for (const [term, text, event] of facts) {
      const value = element('dd', text);
      if (event !== undefined) {
        if (text !== '') value.append(' ');
        value.append(eventLink(event));
      }
      list.append(element('dt', term), value);
    }
    return list;
  };

  const showPanel = (panel, description, close) => {
    const button = element('button', 'Close', 'close');
    button.type = 'button';
    button.addEventListener('click', close);
    const head = element('div', undefined, 'head');
    head.append(element('h3', description.title), button);
    panel.replaceChildren(head);
    if (description.claim !== undefined) panel.append(element('p', description.claim, 'claim'));
    panel.append(factsOf(description.facts));
    if (description.commands.length > 0) {
      panel.append(element('h4', 'What servers were told'));
      const list = element('ul', undefined, 'commands');
      for (const { text, event } of description.commands) {
        const item = element('li', `${text} `);
        item.append(eventLink(event));
        list.append(item);
      }
      panel.append(list);
    }
    panel.hidden = false;
  };

  Object.assign(lockstorm, { showTip, showPanel });
})();
