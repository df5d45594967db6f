import { Type } from 'typebox';
import { COUNTRIES, type Locale } from '@onecode/domain';
import { readSettings } from '@onecode/store/accounts';
import { sendsMail } from '@onecode/store/mails';
import { acceptInvitation, createOwnAccount, findInvitation, type NewOwnAccount } from '@onecode/store/users';
import { countriesField, languageField, nameField, readCountries, strictObject } from '../../http/fields.js';
import { ConsoleProblem, orNotFound } from '../../http/problem.js';
import { route, type Route } from '../../http/route.js';
import {
  HOME_COUNTRY,
  TRIAL_COUNTRIES_MAX,
  type InvitationOfferView,
  type NewAccountView,
  type SignUpOfferView,
} from './view.js';

const TOKEN = strictObject({ token: Type.String({ pattern: '^[A-Za-z0-9_-]{1,100}$' }) });

const FIRST_NAMES: Readonly<Record<Locale, NewOwnAccount['names']>> = {
  en: { application: 'Test', key: 'First key' },
  'pt-BR': { application: 'Teste', key: 'Primeira chave' },
};

/** The first account of a user, created or joined by invitation. The link's token is in the body, because logs keep URLs. */
export const authRoutes: readonly Route[] = [
  route('get', '/sign-up-offer', 'anyone', {
    async handle({ context }): Promise<SignUpOfferView> {
      const { freeSends } = await readSettings(context.database);
      return {
        freeSends,
        countries: COUNTRIES,
        sendsMail: await sendsMail(context.database),
        hasProvider: context.config.OIDC_ISSUER !== '',
      };
    },
  }),
  route('post', '/accounts', 'signed_in', {
    body: strictObject({
      name: nameField(200),
      language: languageField,
      // The countries to which the account may send while on trial.
      countries: Type.Optional(countriesField(TRIAL_COUNTRIES_MAX)),
    }),
    async handle({ context, actor, body }): Promise<NewAccountView> {
      const { name, language, countries = [HOME_COUNTRY] } = body;
      const account = {
        name: name.trim(),
        language,
        countries: readCountries(countries),
        names: FIRST_NAMES[language],
      };
      const created = await createOwnAccount(context.database, actor, account);
      if (created === null) throw new ConsoleProblem('account_made');
      return { id: created.accountId, first: created.first };
    },
  }),
  route('post', '/invitations/look-up', 'anyone', {
    body: TOKEN,
    async handle({ context, body }): Promise<InvitationOfferView> {
      const offer = orNotFound(await findInvitation(context.database, body.token));
      return { accountName: offer.accountName, email: offer.email, role: offer.role };
    },
  }),
  route('post', '/invitations/accept', 'signed_in', {
    body: TOKEN,
    async handle({ context, actor, person, body }) {
      // Returns 404 to all users except the invited one.
      return { id: orNotFound(await acceptInvitation(context.database, actor, person, body.token)) };
    },
  }),
];
