import type { ReactNode } from 'react';

/** A form as browsers send it, without JavaScript too, with the token of its session. */
export function Form({ action, csrf, children }: { action: string; csrf: string; children: ReactNode }) {
  return (
    <form method="post" action={action}>
      <input type="hidden" name="csrf" value={csrf} />
      {children}
    </form>
  );
}
