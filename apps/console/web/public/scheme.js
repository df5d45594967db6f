// Before the first paint, so that no light page flashes up in the dark.
(() => {
  let chosen = null;
  try {
    chosen = localStorage.getItem('mantine-color-scheme-value');
  } catch {
    // Storage may be forbidden; then the system decides.
  }
  const dark =
    chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light');
})();
