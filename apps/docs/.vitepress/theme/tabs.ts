const STORED_AS = 'onecode-tab';

/** Whoever chooses a language in one block of tabs sees it in all of them, on the next pages too. */
export function keepTabsTogether(): void {
  document.addEventListener('change', ({ target }) => {
    if (!(target instanceof HTMLInputElement) || target.closest('.vp-code-group') === null) return;
    const title = document.querySelector<HTMLElement>(`label[for="${target.id}"]`)?.dataset.title;
    if (title === undefined) return;
    remember(title);
    const before = target.getBoundingClientRect().top;
    choose(title);
    // Blocks above may have become longer or shorter.
    scrollBy({ top: target.getBoundingClientRect().top - before, behavior: 'instant' });
  });
}

/** Chooses in the blocks of a page that was just opened what was chosen before. */
export function chooseStoredTab(): void {
  const title = stored();
  if (title !== null) choose(title);
}

function choose(title: string): void {
  for (const label of document.querySelectorAll<HTMLLabelElement>('.vp-code-group label'))
    if (label.dataset.title === title && label.control instanceof HTMLInputElement && !label.control.checked)
      label.control.click();
}

// A browser that keeps nothing throws.
function remember(title: string): void {
  try {
    localStorage.setItem(STORED_AS, title);
  } catch {
    // The choice holds for this page then.
  }
}

function stored(): string | null {
  try {
    return localStorage.getItem(STORED_AS);
  } catch {
    return null;
  }
}
