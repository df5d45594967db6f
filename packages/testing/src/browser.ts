import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Browser, BrowserServer, LaunchOptions } from 'playwright-core';
import { describeIf } from './describeIf.js';
import { openForFile } from './openForFile.js';

const browserPath = findBrowser();

/** Returns the path of Chromium from `CHROMIUM_PATH`, else from `/usr/bin` or `PATH`. A headless build is preferred. */
function findBrowser(): string | undefined {
  const folders = ['/usr/bin', ...(process.env['PATH'] ?? '').split(delimiter)];
  const names = ['chromium-headless-shell', 'chromium', 'google-chrome'];
  const candidates = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  return [process.env['CHROMIUM_PATH'] ?? '', ...candidates].find((path) => path !== '' && existsSync(path));
}

/** `describe`, or `describe.skip` on a machine without a browser. */
export const describeInBrowser = describeIf(browserPath !== undefined);

/** A browser, reduced to the opening of windows. */
export type Windows = Pick<Browser, 'newContext' | 'newPage'>;

/** Opens one browser for all tests of a file. Use it inside hooks and tests only. */
export function useBrowser(): Windows {
  return openForFile(launchBrowser, (browser) => browser.close());
}

/**
 * Opens a browser that makes no requests of its own: a connection to the shared browser at `BROWSER_ENDPOINT`, or else this machine's
 * Chromium, started for the caller. The caller closes it.
 */
export async function launchBrowser(): Promise<Browser> {
  // Loaded on demand: most test files open no browser, and this import takes longer than all their others.
  const { chromium } = await import('playwright-core');
  const endpoint = process.env['BROWSER_ENDPOINT'];
  return endpoint === undefined ? chromium.launch(launchOptions()) : chromium.connect(endpoint);
}

/** Starts this machine's Chromium for several processes, which connect to its `wsEndpoint()`. The caller closes it. */
export async function startBrowserServer(): Promise<BrowserServer> {
  const { chromium } = await import('playwright-core');
  return chromium.launchServer(launchOptions());
}

function launchOptions(): LaunchOptions {
  if (browserPath === undefined) throw new Error('Chromium was not found: set CHROMIUM_PATH');
  return {
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
  };
}
