import { Type } from 'typebox';
import { acceptInvitation, createOwnAccount, findInvitation, readSettings } from '@onecode/store';
import { languageField, nameField } from '../fields.js';
import { there } from '../problem.js';
import { route, type Route } from '../route.js';
import { invitationOfferView } from '../views/team.js';

const STRICT = { additionalProperties: false };
const TOKEN = Type.Object({ token: Type.String({ pattern: '^[A-Za-z0-9_-]{1,100}$' }) }, STRICT);

/** How people come to their first account. A link's token is never in an address, which logs would keep. */
export const entryRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/sign-up-offer',
    access: 'anyone',
    async handle({ context }) {
      const { freeSends } = await readSettings(context.database);
      return { freeSends };
    },
  }),
  route({
    method: 'post',
    path: '/accounts',
    access: 'signed_in',
    body: Type.Object({ name: nameField(200), language: languageField }, STRICT),
    async handle({ context, actor, person, body: { name, language } }) {
      const account = { name: name.trim(), language };
      const made = there(await createOwnAccount(context.database, { ...actor, id: person.id }, account));
      return { id: made.accountId };
    },
  }),
  route({
    method: 'post',
    path: '/invitations/look-up',
    access: 'anyone',
    body: TOKEN,
    async handle({ context, body }) {
      return invitationOfferView(there(await findInvitation(context.database, body.token)));
    },
  }),
  route({
    method: 'post',
    path: '/invitations/accept',
    access: 'signed_in',
    body: TOKEN,
    async handle({ context, actor, person, body }) {
      const joiner = { ...actor, id: person.id };
      const accepted = await acceptInvitation(context.database, joiner, person, body.token);
      // For anybody else, the invitation does not exist.
      return { id: there(accepted.kind === 'joined' ? accepted.accountId : null) };
    },
  }),
];
