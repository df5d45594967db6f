import { NextResponse, type NextRequest } from 'next/server';
import { COOKIE_NAME, COOKIE_OPTIONS } from './lib/sessionCookie';
import { createSession, findSession } from './lib/sessions';

/** A page may not set cookies while it renders, so whoever opens it gets a session here. */
export function proxy(request: NextRequest): NextResponse {
  const response = NextResponse.next();
  if (!findSession(request.cookies.get(COOKIE_NAME)?.value))
    response.cookies.set(COOKIE_NAME, createSession().id, COOKIE_OPTIONS);
  return response;
}

export const config = { matcher: '/' };
