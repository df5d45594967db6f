// Runs before bull-board reads its settings: the board has the console's appearance and language, and keeps the other settings.
(() => {
  try {
    const scheme = localStorage.getItem('mantine-color-scheme-value') ?? 'auto';
    const { state, version } = JSON.parse(localStorage.getItem('board-settings') ?? '{"version":2}');
    const shared = { theme: scheme === 'auto' ? 'system' : scheme, language: '' };
    localStorage.setItem('board-settings', JSON.stringify({ version, state: { ...state, ...shared } }));
  } catch {
    // The browser may forbid storage; the system then decides.
  }
})();
