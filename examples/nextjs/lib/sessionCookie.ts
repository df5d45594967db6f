import 'server-only';

export const COOKIE_NAME = 'session';

export const COOKIE_OPTIONS = {
  httpOnly: true,
  sameSite: 'lax',
  path: '/',
  secure: process.env['HTTPS'] === '1',
} as const;
