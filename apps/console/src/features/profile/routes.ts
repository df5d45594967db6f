import { Type } from 'typebox';
import { MUTABLE_MAILS, muteMails, readMutedMails } from '@onecode/store/mails';
import {
  changeUser,
  endOtherSessions,
  listPasskeys,
  listUserSessions,
  PASSKEY_NAME_LENGTH_MAX,
  removePasskey,
  renamePasskey,
} from '@onecode/store/users';
import { languageField, nameField, strictObject } from '../../http/fields.js';
import { orNotFound } from '../../http/problem.js';
import { route, type Route } from '../../http/route.js';
import { userSessionView, type MailChoicesView } from './view.js';

/** The signed-in user's name, language, mails, passkeys and sessions. */
export const profileRoutes: readonly Route[] = [
  route('put', '/profile', 'signed_in', {
    body: strictObject(
      { name: Type.Optional(nameField(200)), language: Type.Optional(languageField) },
      { minProperties: 1 },
    ),
    async handle({ context, actor, person, body: { name, language } }) {
      const change = {
        ...(name !== undefined && { name: name.trim() }),
        ...(language !== undefined && { language }),
      };
      orNotFound(await changeUser(context.database, actor, person.id, change));
    },
  }),
  route('get', '/profile/sessions', 'signed_in', {
    async handle({ context, person }) {
      const sessions = await listUserSessions(context.database, person.id);
      return { sessions: sessions.map((session) => userSessionView(session, person.sessionId)) };
    },
  }),
  route('get', '/profile/passkeys', 'signed_in', {
    async handle({ context, person }) {
      return { passkeys: await listPasskeys(context.database, person.id) };
    },
  }),
  route('put', '/profile/passkeys/:passkey', 'signed_in', {
    body: strictObject({ name: nameField(PASSKEY_NAME_LENGTH_MAX) }),
    async handle({ context, actor, params, body: { name } }) {
      orNotFound(await renamePasskey(context.database, actor, params['passkey'] ?? '', name.trim()));
    },
  }),
  route('delete', '/profile/passkeys/:passkey', 'signed_in', {
    confirmed: true,
    async handle({ context, actor, person, params }) {
      orNotFound(await removePasskey(context.database, actor, params['passkey'] ?? '', person.sessionId));
    },
  }),
  route('get', '/profile/mails', 'signed_in', {
    async handle({ context, person }): Promise<MailChoicesView> {
      const muted = await readMutedMails(context.database, person.id);
      // Only staff get mails about findings.
      const kinds = MUTABLE_MAILS.filter((kind) => person.staff !== null || kind !== 'finding');
      return { mails: kinds.map((kind) => ({ kind, isWanted: !muted.includes(kind) })) };
    },
  }),
  route('put', '/profile/mails', 'signed_in', {
    body: strictObject({
      muted: Type.Array(Type.Enum([...MUTABLE_MAILS]), { maxItems: MUTABLE_MAILS.length }),
    }),
    async handle({ context, actor, body: { muted } }) {
      await muteMails(context.database, actor, muted);
    },
  }),
  route('delete', '/profile/sessions', 'signed_in', {
    async handle({ context, actor, person }) {
      await endOtherSessions(context.database, actor, person.sessionId);
    },
  }),
];
