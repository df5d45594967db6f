import type { Metadata } from 'next';
import type { ReactNode } from 'react';

export const metadata: Metadata = { title: 'Sign in' };

/** Prevents a second click, which would send another code or use this one up. */
const SUBMIT_ONCE = `
  let isSubmitted = false;
  addEventListener('submit', (event) => (isSubmitted ? event.preventDefault() : (isSubmitted = true)));
  addEventListener('pageshow', () => (isSubmitted = false));`;

export default function Layout({ children }: { children: ReactNode }) {
  return (
    <html lang="en">
      <body>
        {children}
        <script dangerouslySetInnerHTML={{ __html: SUBMIT_ONCE }} />
      </body>
    </html>
  );
}
