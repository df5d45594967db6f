import { Body, Controller, Get, Header, Post, Redirect, Res } from '@nestjs/common';
// A type in a decorated signature needs `import type`; a class that Nest injects must not have it.
import type { Response } from 'express';
import { CurrentSession } from '../sessions/current-session.decorator.js';
import { setSessionCookie } from '../sessions/session.cookie.js';
import { SessionStore, type Session } from '../sessions/session.store.js';
import { renderPage } from './page.js';
import { SignInService } from './sign-in.service.js';

/** The page and its forms. */
@Controller()
export class SignInController {
  constructor(
    private readonly signIn: SignInService,
    private readonly sessions: SessionStore,
  ) {}

  @Get()
  @Header('cache-control', 'no-store')
  async show(@CurrentSession() session: Session): Promise<string> {
    const notice = session.notice ?? (await this.signIn.deliveryNotice(session.pending));
    delete session.notice;
    return renderPage(session, notice);
  }

  @Post('code')
  @Redirect('/', 303)
  async sendCode(@CurrentSession() session: Session, @Body('to') to: unknown): Promise<void> {
    await this.signIn.sendCode(session, textOf(to));
  }

  @Post('resend')
  @Redirect('/', 303)
  async resendCode(@CurrentSession() session: Session): Promise<void> {
    if (session.pending) await this.signIn.sendCode(session, session.pending.to);
  }

  @Post('verify')
  @Redirect('/', 303)
  async verify(
    @CurrentSession() session: Session,
    @Body('code') code: unknown,
    @Res({ passthrough: true }) response: Response,
  ): Promise<void> {
    // The id and its number are read together, from the session alone: a code sent meanwhile changes neither.
    const { pending } = session;
    if (!pending?.sendId) return;
    const outcome = await this.signIn.verify(pending, pending.sendId, textOf(code));
    if (outcome.valid) setSessionCookie(response, this.sessions.replace(session, { signedInAs: pending.to }));
    else session.notice = outcome.notice;
  }

  @Post('restart')
  @Redirect('/', 303)
  restart(@CurrentSession() session: Session): void {
    delete session.pending;
  }

  @Post('sign-out')
  @Redirect('/', 303)
  signOut(@CurrentSession() session: Session, @Res({ passthrough: true }) response: Response): void {
    setSessionCookie(response, this.sessions.replace(session));
  }
}

const textOf = (field: unknown): string => (typeof field === 'string' ? field.trim() : '');
