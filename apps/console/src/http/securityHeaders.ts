import { randomBytes } from 'node:crypto';
import type { RequestHandler } from 'express';

/** A content security policy that allows nothing from outside and nothing inline. `changes` replaces the sources of a directive. */
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

/** Sets the security headers of every response. Inline styles need the response's nonce, in `response.locals`. */
export function securityHeaders(consoleUrl: string): RequestHandler {
  const isHttps = consoleUrl.startsWith('https:');
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
      ...(isHttps && { 'Strict-Transport-Security': 'max-age=31536000' }),
    });
    next();
  };
}
