import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { Router, type NextFunction, type Request, type Response } from 'express';
import { refuse, unknownPath, unreadable } from './answers.js';
import { control } from './control.js';
import { createParts, type SimulatorOptions } from './parts.js';
import { phonePage } from './phonePage.js';
import { reads } from './reads.js';
import type { Receipt } from './receipts.js';
import { sends } from './sends.js';
import type { SettingValues } from './settings.js';
import { writes } from './writes.js';

export type Simulator = Awaited<ReturnType<typeof startSimulator>>;

/** Starts a Cloud API on this machine. @throws when the port is in use */
export async function startSimulator(options: SimulatorOptions) {
  const parts = createParts(options);
  const { business, events, messages, receipts, requests, rules, settings, timers, webhooks } = parts;
  let ready = true;
  const app = express();
  app.disable('x-powered-by').disable('etag');
  app.use(sends(parts), writes(parts), reads(parts));
  app.use(health(() => ready));
  app.use('/simulator', control(parts));
  app.use(phonePage());
  app.use(({ path }, response) => refuse(response, unknownPath(path)));
  app.use((error: unknown, _request: Request, response: Response, next: NextFunction) => {
    if (response.headersSent) next(error);
    else refuse(response, unreadable());
  });
  const { url, close } = await listen(app, options.port ?? 0, options.host ?? '127.0.0.1');
  webhooks.start();
  return {
    url,
    /** `url` with a version: the base address for a Cloud API client. */
    apiUrl: `${url}/v25.0`,
    /** Accepted messages, oldest first. */
    messages: () => messages.all(),
    /** Every request to `/messages`, oldest first. */
    requests: () => requests.all(),
    /** Meta's state of the business, and its changes. */
    business,
    rules,
    /** @throws {InvalidInput} */
    changeSettings: (values: Partial<SettingValues>) => settings.change(values),
    /** Reports a code as not requested. @returns `false` when it never arrived or was reported before */
    reportMessage: (messageId: string) => receipts.didNotRequest(messageId),
    /** Posts any receipt. Resolves with the HTTP status of the first attempt, or `null` without an answer. */
    postReceipt: (receipt: Receipt) => receipts.post(receipt),
    /** Posts any payload, signed like all webhooks. */
    postWebhook: (payload: unknown) => webhooks.post(payload),
    /** Returns to the state after the start: no messages, requests, rules or waiting webhooks, and the first settings. */
    reset: parts.reset,
    /** Cancels all pending work. Resolves when no connection or timer is left. */
    close: async () => {
      ready = false;
      timers.scope.end();
      events.close();
      webhooks.close();
      await close();
    },
  };
}

/** Serves `/livez`, and `/readyz`, which answers 503 when the process starts to stop. */
export function health(isReady: () => boolean): Router {
  const router = Router();
  router.get(['/livez', '/readyz'], ({ path }, response) => {
    const isOk = path === '/livez' || isReady();
    response
      .status(isOk ? 200 : 503)
      .set('Cache-Control', 'no-store')
      .json({ status: isOk ? 'ok' : 'stopping' });
  });
  return router;
}

/** Starts to listen; port 0 is a free port. Closing cuts every connection. @throws when the address is unavailable */
export async function listen(handler: RequestListener, port: number, host: string) {
  const server = createServer({ maxHeaderSize: 8 * 1024 }, handler);
  // Longer than any client keeps an idle connection, so that only rules cause resets.
  server.keepAliveTimeout = 120_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    // Without a host, Node falls back to IPv4 when the kernel has no IPv6.
    server.listen(port, host === '::' ? undefined : host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const { address, port: chosen } = server.address() as AddressInfo;
  const isAny = address === '0.0.0.0' || address === '::';
  const name = isAny ? '127.0.0.1' : address.includes(':') ? `[${address}]` : address;
  return {
    /** Its address on this machine. */
    url: `http://${name}:${chosen}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
