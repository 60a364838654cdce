// Comforts only: the page says everything without them.
(() => {
  for (const button of document.querySelectorAll('button.copy')) {
    button.hidden = false;
    button.addEventListener('click', async () => {
      const code = button.parentElement.querySelector('code');
      try {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = 'Copied';
      } catch {
        // No clipboard from file:// in this browser: select the text instead.
        getSelection().selectAllChildren(code);
        button.textContent = 'Selected';
      }
    });
  }
  for (const button of document.querySelectorAll('button.theme')) {
    button.hidden = false;
    button.addEventListener('click', () => {
      const root = document.documentElement;
      const dark = getComputedStyle(root).colorScheme === 'dark' ||
        (getComputedStyle(root).colorScheme !== 'light' &&
          matchMedia('(prefers-color-scheme: dark)').matches);
      root.style.colorScheme = dark ? 'light' : 'dark';
    });
  }
})();
