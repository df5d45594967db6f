import type { CookieOptions, Request, Response } from 'express';
import type { Session } from './session.store.js';

const OPTIONS: CookieOptions = {
  httpOnly: true,
  sameSite: 'lax',
  path: '/',
  secure: process.env['HTTPS'] === '1',
};

export const readSessionId = ({ headers }: Request): string | undefined =>
  /(?:^|; )session=([\w-]+)/.exec(headers.cookie ?? '')?.[1];

export const setSessionCookie = (response: Response, { id }: Session): void =>
  void response.cookie('session', id, OPTIONS);
