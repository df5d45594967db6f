import { useEffect } from 'react';
import type { HealthView } from '../../../src/features/health/view.js';
import { useData } from '../api/queries.js';

const REFRESH_MS = 10_000;
const ICONS = { ok: '/icon.svg', degraded: '/icon-degraded.svg', failing: '/icon-failing.svg' } as const;

/** Shows the number of problems in the browser tab of each staff page: a count before the title, and the colour of the icon. */
export function OutageInTab() {
  const { data } = useData<HealthView>('/staff/health', { refreshMs: REFRESH_MS });
  const findings = data?.findings ?? [];
  const failing = findings.filter(({ severity }) => severity === 'failing').length;
  const state = failing > 0 ? 'failing' : findings.length > 0 ? 'degraded' : 'ok';
  useEffect(() => {
    const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]');
    icon?.setAttribute('href', ICONS[state]);
    return () => icon?.setAttribute('href', ICONS.ok);
  }, [state]);
  useEffect(() => {
    const count = failing > 0 ? `(${failing}) ` : '';
    const show = (): void => {
      const bare = document.title.replace(/^\(\d+\) /, '');
      if (document.title !== count + bare) document.title = count + bare;
    };
    show();
    // Each page writes its own title.
    const watch = new MutationObserver(show);
    const title = document.querySelector('title');
    if (title !== null) watch.observe(title, { childList: true });
    return () => {
      watch.disconnect();
      document.title = document.title.replace(/^\(\d+\) /, '');
    };
  }, [failing]);
  return null;
}
