import { buildAccount, buildCaller, buildSender } from '@onecode/testing';
import { IsInteger, IsNumber, IsObject, type TSchema } from 'typebox';
import { ROUTES } from '../../src/features/routes.js';
import type { Route } from '../../src/http/route.js';
import { useConsole } from '../console.js';
import { person, type TestPerson } from '../people.js';
import { BODIES, formatRoute, named, QUERIES } from './requests.js';

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

describe('a number in a body', () => {
  it.each(named(ROUTES.filter(({ body }) => numbersOf(body, isAnyNumber).length > 0)))(
    'is rejected unless it is a JSON number: $name',
    async ({ route }) => {
      for (const field of numbersOf(route.body, isAnyNumber)) {
        const wholeOnly = numbersOf(route.body, IsInteger).includes(field) ? NO_WHOLE_NUMBERS : [];
        for (const wrong of [...NO_NUMBERS, ...wholeOnly]) {
          const body = { ...BODIES[formatRoute(route)], [field]: wrong };
          const { status, body: problem } = await operator.call(
            route.method.toUpperCase(),
            addressOf(route),
            body,
          );
          expect([wrong, status, Object.keys(problem.errors ?? {})]).toEqual([wrong, 422, [field]]);
        }
      }
    },
  );

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
  it.each(named(ROUTES.filter(({ query }) => numbersOf(query, IsInteger).length > 0)))(
    'is rejected unless it is plain digits: $name',
    async ({ route }) => {
      for (const field of numbersOf(route.query, IsInteger)) {
        const ask = (value: string) =>
          operator.get(
            `${addressOf(route)}?${new URLSearchParams({ ...QUERIES[formatRoute(route)], [field]: value }).toString()}`,
          );
        for (const wrong of NO_DIGITS) {
          const { status, body } = await ask(wrong);
          expect([wrong, status, Object.keys(body.errors ?? {})]).toEqual([wrong, 422, [field]]);
        }
        const { minimum = 0 } = route.query!.properties[field] as { minimum?: number };
        expect((await ask(String(Math.max(5, minimum)))).status).toBe(200);
      }
    },
  );
});
