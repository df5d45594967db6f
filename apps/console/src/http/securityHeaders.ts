import { randomBytes } from 'node:crypto';
import type { RequestHandler } from 'express';

/** Where pages may take what from: nothing from outside, and nothing inline. `changes` replaces sources by their directive. */
export function contentSecurityPolicy(changes: Readonly<Record<string, string>>): string {
  const sources = {
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': "'self'",
    'img-src': "'self' data:",
    'font-src': "'self'",
    'connect-src': "'self'",
    'manifest-src': "'self'",
    'base-uri': "'none'",
    'form-action': "'self'",
    'frame-ancestors': "'none'",
    ...changes,
  };
  return Object.entries(sources)
    .map(([directive, source]) => `${directive} ${source}`)
    .join('; ');
}

/** Headers of every answer: nothing from outside, nothing inline but what carries this answer's nonce. */
export function securityHeaders(consoleUrl: string): RequestHandler {
  const overTls = consoleUrl.startsWith('https:');
  return (_request, response, next) => {
    const nonce = randomBytes(16).toString('base64');
    response.locals['nonce'] = nonce;
    response.set({
      'Content-Security-Policy': contentSecurityPolicy({ 'style-src': `'self' 'nonce-${nonce}'` }),
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'same-origin',
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Cross-Origin-Resource-Policy': 'same-origin',
      'Permissions-Policy': 'camera=(), microphone=(), geolocation=()',
      'Cache-Control': 'no-store',
      ...(overTls && { 'Strict-Transport-Security': 'max-age=31536000' }),
    });
    next();
  };
}
