import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Response } from 'express';
import type { Session } from './session.store.js';

/** The session that the middleware found or made for this request. */
export const CurrentSession = createParamDecorator(
  (_: unknown, context: ExecutionContext): Session =>
    context.switchToHttp().getResponse<Response>().locals['session'],
);
