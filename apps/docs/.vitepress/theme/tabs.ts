const STORED_AS = 'onecode-tab';

/** Applies the language chosen in one tab group to all groups, on later pages too. */
export function keepTabsTogether(): void {
  document.addEventListener('change', ({ target }) => {
    if (!(target instanceof HTMLInputElement) || target.closest('.vp-code-group') === null) return;
    const title = document.querySelector<HTMLElement>(`label[for="${target.id}"]`)?.dataset.title;
    if (title === undefined) return;
    remember(title);
    const before = target.getBoundingClientRect().top;
    choose(title);
    // Blocks above may have changed their height.
    scrollBy({ top: target.getBoundingClientRect().top - before, behavior: 'instant' });
  });
}

/** Applies the earlier choice to the tab groups of a newly opened page. */
export function chooseStoredTab(): void {
  const title = stored();
  if (title !== null) choose(title);
}

function choose(title: string): void {
  for (const label of document.querySelectorAll<HTMLLabelElement>('.vp-code-group label'))
    if (label.dataset.title === title && label.control instanceof HTMLInputElement && !label.control.checked)
      label.control.click();
}

// Throws in a browser without storage.
function remember(title: string): void {
  try {
    localStorage.setItem(STORED_AS, title);
  } catch {
    // The choice then applies to this page only.
  }
}

function stored(): string | null {
  try {
    return localStorage.getItem(STORED_AS);
  } catch {
    return null;
  }
}
