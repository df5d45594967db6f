import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium, type Browser } from 'playwright-core';

const browserPath = findBrowser();

/** Chromium from `CHROMIUM_PATH`, else from the usual place or `PATH`. */
function findBrowser(): string | undefined {
  const folders = ['/usr/bin', ...(process.env['PATH'] ?? '').split(delimiter)];
  const names = ['chromium', 'google-chrome'];
  const candidates = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  return [process.env['CHROMIUM_PATH'] ?? '', ...candidates].find((path) => path !== '' && existsSync(path));
}

/** `describe`; its tests are skipped where this machine has no browser. */
export const describeInBrowser = browserPath === undefined ? describe.skip : describe;

/** What opens windows. */
export type Windows = Pick<Browser, 'newContext' | 'newPage'>;

/** One browser for all tests of a file. To be used from within hooks and tests only. */
export function useBrowser(): Windows {
  let browser: Browser | undefined;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());
  return {
    newContext: (options) => browser!.newContext(options),
    newPage: (options) => browser!.newPage(options),
  };
}

/** Starts the browser of this machine, which asks for nothing by itself. */
export function launchBrowser(): Promise<Browser> {
  if (browserPath === undefined) throw new Error('there is no Chromium: set CHROMIUM_PATH');
  return chromium.launch({
    executablePath: browserPath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}
