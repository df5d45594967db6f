import type { RequestHandler } from 'express';
import { LRUCache } from 'lru-cache';
import { readSettings, type Settings } from '@onecode/store';
import { answerJson } from '../answer.js';
import type { ApiContext } from '../context.js';

/** Anybody may ask, so the database is asked once a second at the most. */
const REMEMBERED_MS = 1_000;

/** `GET /v1/signup-settings`: public. */
export function signupSettingsRoute({ database }: ApiContext): RequestHandler {
  const remembered = new LRUCache<'settings', Settings>({
    max: 1,
    ttl: REMEMBERED_MS,
    fetchMethod: () => readSettings(database),
  });
  return async (_request, response) => {
    const settings = await remembered.forceFetch('settings');
    answerJson(response, 200, { free_sends: settings.freeSends });
  };
}
