// The list of runs: a filter that keeps the rows with all its words.
(() => {
  'use strict';
  const form = document.querySelector('form.filter');
  const shown = form.querySelector('.shown');
  const rows = [...document.querySelectorAll('table.index tbody tr')];
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const apply = () => {
    const words = form.elements.filter.value.toLowerCase().split(/\s+/);
    let count = 0;
    rows.forEach((row, at) => {
      const fits = words.every((word) => texts[at].includes(word));
      row.hidden = !fits;
      count += fits ? 1 : 0;
    });
    shown.textContent = count === rows.length ? '' : `${count} of ${rows.length}`;
  };
  form.hidden = false;
  form.addEventListener('input', apply);
  form.addEventListener('submit', (event) => event.preventDefault());
  // A browser that comes back to the page may have kept what was typed.
  apply();
})();
