import type { Page } from 'playwright-core';

/** Records every response of the console to this page: its body and its headers. */
export function heardBy(page: Page): string[] {
  const heard: string[] = [];
  page.on('response', (response) => {
    if (response.url().includes('/api/'))
      response.text().then(
        (text) => heard.push(text, JSON.stringify(response.headers())),
        () => undefined,
      );
  });
  return heard;
}
