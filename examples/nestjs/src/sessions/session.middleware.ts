import { Injectable, type NestMiddleware } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { readSessionId, setSessionCookie } from './session.cookie.js';
import { SessionStore } from './session.store.js';

/** Gives each request its session, and refuses forms without that session's token. */
@Injectable()
export class SessionMiddleware implements NestMiddleware {
  constructor(private readonly sessions: SessionStore) {}

  use(request: Request, response: Response, next: NextFunction): void {
    let session = this.sessions.find(readSessionId(request));
    if (request.method === 'POST' && (!session || request.body?.csrf !== session.csrf)) {
      response.status(403).send('This form is too old. Go back and reload the page.');
      return;
    }
    if (!session) {
      session = this.sessions.create();
      setSessionCookie(response, session);
    }
    response.locals['session'] = session;
    next();
  }
}
