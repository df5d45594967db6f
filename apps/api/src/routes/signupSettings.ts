import type { RequestHandler } from 'express';
import { LRUCache } from 'lru-cache';
import { readSettings, type Settings } from '@onecode/store/accounts';
import { answerJson } from '../answer.js';
import type { ApiContext } from '../context.js';

/** The route is public, so the settings are read at most once a second. */
const CACHED_MS = 1_000;

/** Returns the handler of `GET /v1/signup-settings`, which needs no key. */
export function signupSettingsRoute({ database }: ApiContext): RequestHandler {
  const cache = new LRUCache<'settings', Settings>({
    max: 1,
    ttl: CACHED_MS,
    fetchMethod: () => readSettings(database),
  });
  return async (_request, response) => {
    const settings = await cache.forceFetch('settings');
    answerJson(response, 200, { free_sends: settings.freeSends });
  };
}
