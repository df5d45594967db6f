import { Type } from 'typebox';
import { changeUser, endOtherSessions, listUserSessions } from '@onecode/store';
import { languageField, nameField } from '../../http/fields.js';
import { orNotFound } from '../../http/problem.js';
import { route, type Route } from '../../http/route.js';
import { userSessionView } from './view.js';

/** A person's own name and language, and their sessions. */
export const profileRoutes: readonly Route[] = [
  route({
    method: 'put',
    path: '/profile',
    access: 'signed_in',
    body: Type.Object(
      { name: Type.Optional(nameField(200)), language: Type.Optional(languageField) },
      { additionalProperties: false, minProperties: 1 },
    ),
    async handle({ context, actor, person, body: { name, language } }) {
      const change = {
        ...(name !== undefined && { name: name.trim() }),
        ...(language !== undefined && { language }),
      };
      orNotFound(await changeUser(context.database, actor, person.id, change));
    },
  }),
  route({
    method: 'get',
    path: '/profile/sessions',
    access: 'signed_in',
    async handle({ context, person }) {
      const sessions = await listUserSessions(context.database, person.id);
      return { sessions: sessions.map((session) => userSessionView(session, person.sessionId)) };
    },
  }),
  route({
    method: 'delete',
    path: '/profile/sessions',
    access: 'signed_in',
    async handle({ context, actor, person }) {
      await endOtherSessions(context.database, { ...actor, id: person.id }, person.sessionId);
    },
  }),
];
