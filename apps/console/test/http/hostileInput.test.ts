import { newId } from '@onecode/store/client';
import { buildAccount, buildCaller, buildSend, buildSender } from '@onecode/testing';
import { IsInteger, IsNumber, IsObject, type TSchema } from 'typebox';
import type { Route } from '../../src/http/route.js';
import { ROUTES } from '../../src/features/routes.js';
import { useConsole } from '../console.js';
import { person, type Answer, type TestPerson } from '../people.js';
import { BODIES, formatRoute, named, parametersOf, QUERIES, someFor } from './requests.js';

describe('hostile input', () => {
  /** Part of the sent values; a refusal must not contain it. */
  const CANARY = 'canary7f3a';
  const cursor = (text: string): string => Buffer.from(text).toString('base64url');

  const TEXTS: readonly string[] = [
    '',
    ' ',
    '\0',
    `${CANARY}\0`,
    // Half of a surrogate pair, which PostgreSQL cannot store.
    `${CANARY}\ud800`,
    `${CANARY}\u202e`,
    `${CANARY}💥`.repeat(20),
    'x'.repeat(30_000),
    `a@${'a.'.repeat(10_000)}`,
    // Patterns with exponential time take hours for these.
    `a${'_'.repeat(57)}!`,
    `${'a_'.repeat(29)}!`,
    `'; drop table users; -- ${CANARY}`,
    `%_\\:*&|!()<->${CANARY}`,
    '__proto__',
    'NaN',
    '-1',
    '1e400',
    '9'.repeat(400),
    `urn:uuid:${newId()}`,
    newId().toUpperCase(),
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00+23:59',
    '2026-11-20T23:59:60Z',
    '9999-12-31T23:59:59-23:59',
    '2026-11-20 10:00:00Z',
    'Etc/GMT+12',
    'PST',
    cursor('-1'),
    cursor('9'.repeat(18)),
    cursor('999999999999999999.-999999999999999999.999999999999999999'),
    cursor('1.1.1'),
  ];
  const OTHERS: readonly unknown[] = [
    null,
    true,
    -1,
    0,
    1.5,
    2 ** 31,
    2 ** 53,
    1e308,
    [],
    [CANARY],
    {},
    { toString: CANARY },
    JSON.parse(`{"__proto__": {"staff": "operator"}}`),
    JSON.parse('['.repeat(1_000) + ']'.repeat(1_000)),
  ];
  const MALFORMED_QUERIES: readonly string[] = [
    'FIELD[]=a',
    'FIELD=a&__proto__=b',
    'FIELD=%ff',
    'FIELD=%',
    'FIELD=a&FIELD=b',
  ];
  const IDS: readonly string[] = ['%00', '%ff', '%', '..', '%2e%2e', 'null', '[object%20Object]', '1'];

  const server = useConsole();
  let attacker: TestPerson;
  let ids: Readonly<Record<string, string>>;

  beforeAll(async () => {
    const { database } = server.db;
    const account = await buildAccount(database, { credits: 5 });
    const { applicationId, keyId, ...live } = await buildCaller(database, 'live', { id: account });
    const send = await buildSend(database, { applicationId, keyId, ...live });
    // Users with full access: the admin of an account, and an operator.
    attacker = await person(server, { accounts: { [account]: 'admin' }, staff: 'operator' });
    ids = {
      account,
      target: account,
      application: applicationId,
      key: keyId,
      send,
      member: newId(),
      invitation: newId(),
      sender: (await buildSender(database)).id,
    };
  });

  const addressOf = ({ path }: Route, given: Readonly<Record<string, string>> = ids): string =>
    path.replaceAll(/:(\w+)/g, (_, name: string) => given[name] ?? newId());
  const fieldsOf = (schema: Route['body']): string[] =>
    Object.keys(schema !== undefined && 'properties' in schema ? (schema.properties as object) : {});

  /** Expects a response that is neither a server error nor contains the sent value. */
  function expectHandled(sent: unknown, { status, body }: Answer): void {
    const text = JSON.stringify(body ?? null);
    const shown = JSON.stringify(sent)?.slice(0, 200);
    expect([shown, status, status >= 500 || (status >= 400 && text.includes(CANARY))]).toEqual([
      shown,
      status,
      false,
    ]);
  }

  const withBody = ROUTES.filter(({ body }) => body !== undefined);
  const withQuery = ROUTES.filter(({ query }) => query !== undefined);
  const withId = ROUTES.filter(({ path }) => path.includes(':'));

  describe('hostile input', () => {
    it.each(named(withBody))(
      'in the body of $name causes no server error, and is not repeated in the error',
      async ({ route }) => {
        const good = BODIES[formatRoute(route)] ?? {};
        const nth = withBody.indexOf(route);
        const bodies = [
          ...someFor(nth, OTHERS),
          ...someFor(nth, fieldsOf(route.body)).flatMap((field) =>
            someFor(nth, [...TEXTS, ...OTHERS]).map((value) => ({ ...good, [field]: value })),
          ),
          { ...good, [CANARY]: CANARY },
        ];
        const method = route.method.toUpperCase();
        for (const body of bodies)
          expectHandled(body, await attacker.call(method, addressOf(route), body as object));
      },
    );

    it.each(named(withQuery))(
      'in the query of $name causes no server error, and is not repeated in the error',
      async ({ route }) => {
        const good = QUERIES[formatRoute(route)] ?? {};
        const shortTexts = TEXTS.filter(({ length }) => length < 10_000);
        const nth = withQuery.indexOf(route);
        const queries = someFor(nth, fieldsOf(route.query)).flatMap((field) => [
          ...someFor(nth, shortTexts).map((value) =>
            new URLSearchParams({ ...good, [field]: value }).toString(),
          ),
          ...someFor(nth, MALFORMED_QUERIES).map(
            (text) => `${new URLSearchParams(good).toString()}&${text.replaceAll('FIELD', field)}`,
          ),
        ]);
        for (const query of queries) expectHandled(query, await attacker.get(`${addressOf(route)}?${query}`));
      },
    );

    it.each(named(withId))(
      'in the path of $name causes no server error, and is not repeated in the error',
      async ({ route }) => {
        const body = route.method === 'get' ? undefined : (BODIES[formatRoute(route)] ?? {});
        for (const name of parametersOf(route))
          for (const id of someFor(withId.indexOf(route), IDS)) {
            const address = addressOf(route, { ...ids, [name]: id });
            expectHandled(address, await attacker.call(route.method.toUpperCase(), address, body));
          }
      },
    );
  });
});

describe('numbers', () => {
  /** Values that look like numbers but are not numbers in a body. */
  const NO_NUMBERS: readonly unknown[] = [
    '5',
    '',
    ' 5 ',
    '2.500',
    '1,000',
    '1e1',
    '0x10',
    true,
    [5],
    { $gt: 0 },
  ];
  /** Texts that must not be read as whole numbers. */
  const NO_WHOLE_NUMBERS: readonly unknown[] = [1.5, 1.000_000_1, -5, 2 ** 53, 1e21];
  /** TypeBox would convert most of these: `1.9` to 1, `true` to 1, `5n` to 5. */
  const NO_DIGITS = [
    '',
    ' 5 ',
    '+5',
    '-5',
    '5.0',
    '1.9',
    '1.000',
    '1,000',
    '1_0',
    '1e1',
    '0x10',
    '5n',
    'true',
    '١',
    '9'.repeat(20),
  ];

  const server = useConsole();
  let operator: TestPerson;
  let ids: Readonly<Record<string, string>>;

  beforeAll(async () => {
    const { database } = server.db;
    const account = await buildAccount(database, { credits: 5 });
    const { applicationId: application } = await buildCaller(database, 'live', { id: account });
    operator = await person(server, { accounts: { [account]: 'admin' }, staff: 'operator' });
    ids = { account, target: account, application, sender: (await buildSender(database)).id };
  });

  const addressOf = ({ path }: Route): string =>
    path.replaceAll(/:(\w+)/g, (_, name: string) => ids[name] ?? '');
  const alternativesOf = (schema: TSchema): readonly TSchema[] =>
    'anyOf' in schema ? (schema.anyOf as TSchema[]) : [schema];

  /** The names of an object's numeric members. */
  const numbersOf = (schema: TSchema | undefined, isKind: (schema: unknown) => boolean): string[] =>
    Object.entries(IsObject(schema) ? schema.properties : {})
      .filter(([, member]) => alternativesOf(member).some(isKind))
      .map(([name]) => name);

  const isAnyNumber = (schema: unknown): boolean => IsInteger(schema) || IsNumber(schema);
  const withNumber = ROUTES.filter(({ body }) => numbersOf(body, isAnyNumber).length > 0);
  const withQueryNumber = ROUTES.filter(({ query }) => numbersOf(query, IsInteger).length > 0);

  describe('a number in a body', () => {
    it.each(named(withNumber))('is rejected unless it is a JSON number: $name', async ({ route }) => {
      for (const field of numbersOf(route.body, isAnyNumber)) {
        const wholeOnly = numbersOf(route.body, IsInteger).includes(field) ? NO_WHOLE_NUMBERS : [];
        const nth = withNumber.indexOf(route);
        for (const wrong of [...someFor(nth, NO_NUMBERS), ...someFor(nth, wholeOnly)]) {
          const body = { ...BODIES[formatRoute(route)], [field]: wrong };
          const { status, body: problem } = await operator.call(
            route.method.toUpperCase(),
            addressOf(route),
            body,
          );
          expect([wrong, status, Object.keys(problem.errors ?? {})]).toEqual([wrong, 422, [field]]);
        }
      }
    });

    it.each([{ unverifiedPercent: '80' }, { unverifiedPercent: 80.5 }, { minSends: '1.000' }])(
      'is rejected for the fraud breaker unless it is whole: %j',
      async (wrong) => {
        const rule = { unverifiedPercent: 80, minSends: 50, ...wrong };
        expect(await operator.put(`/accounts/${ids['account']}/protection/breaker`, { rule })).toMatchObject({
          status: 422,
          body: { errors: { [`rule.${Object.keys(wrong)[0]}`]: expect.any(String) } },
        });
      },
    );

    it('is rejected as a price if it has more decimals than the database stores', async () => {
      const price = { country: 'BR', since: '2026-11', currency: 'USD' };
      for (const wrong of [0.000_000_1, 0.006_800_1, 1e-12])
        expect(await operator.put('/staff/prices', { ...price, price: wrong })).toMatchObject({
          status: 422,
          body: { errors: { price: 'multipleOf' } },
        });
      for (const right of [0, 0.000_001, 0.1, 0.0068, 999.999_999, 1_000]) {
        expect((await operator.put('/staff/prices', { ...price, price: right })).status).toBe(204);
        expect((await operator.get('/staff/costs')).body.prices).toMatchObject([{ price: right }]);
      }
    });
  });

  describe('a number in a query', () => {
    it.each(named(withQueryNumber))('is rejected unless it is plain digits: $name', async ({ route }) => {
      for (const field of numbersOf(route.query, IsInteger)) {
        const ask = (value: string) =>
          operator.get(
            `${addressOf(route)}?${new URLSearchParams({ ...QUERIES[formatRoute(route)], [field]: value }).toString()}`,
          );
        for (const wrong of someFor(withQueryNumber.indexOf(route), NO_DIGITS)) {
          const { status, body } = await ask(wrong);
          expect([wrong, status, Object.keys(body.errors ?? {})]).toEqual([wrong, 422, [field]]);
        }
        const { minimum = 0 } = route.query!.properties[field] as { minimum?: number };
        expect((await ask(String(Math.max(5, minimum)))).status).toBe(200);
      }
    });
  });
});
