import type { SendsView, SendView } from '../../../src/features/sends/view.js';
import { useConsole } from '../../console.js';
import { PHONE, idsOf, createSendsEnvironment, type SendsEnvironment } from './environment.js';

const server = useConsole();
let live: SendsEnvironment['live'];
let test: SendsEnvironment['test'];
let foreign: SendsEnvironment['foreign'];
let viewer: SendsEnvironment['viewer'];
let path: SendsEnvironment['path'];
let list: SendsEnvironment['list'];
let details: SendsEnvironment['details'];
let build: SendsEnvironment['build'];
beforeAll(async () => {
  ({ live, test, foreign, viewer, path, list, details, build } = await createSendsEnvironment(server));
});

describe('the list of sends', () => {
  let ids: string[];
  beforeAll(async () => {
    ids = [];
    for (let n = 0; n < 6; n++)
      ids.unshift(await build(n % 2 === 0 ? live : test, { recipient: `+551198888000${n}` }));
  });

  it('is newest first, with what a row needs and a masked number', async () => {
    const { sends } = await list();
    expect(sends.map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
    const times = sends.map(({ createdAt }) => createdAt);
    expect(times).toEqual(times.toSorted().toReversed());
    expect(sends.find(({ id }) => id === ids[0])).toEqual({
      id: ids[0],
      application: { id: test.applicationId, name: 'Test test' },
      mode: 'test',
      status: 'queued',
      verification: 'pending',
      recipient: '+55 ••••• 0005',
      country: 'BR',
      locale: 'pt-BR',
      channel: null,
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      expiresAt: expect.stringMatching(/^\d{4}-.*Z$/),
      failureReason: null,
      chargedFrom: null,
    } satisfies Record<keyof SendView, unknown>);
  });

  it('turns pages by cursor, without gaps or repeats while new sends come', async () => {
    const all = idsOf(await list());
    const seen: string[] = [];
    let before = '';
    do {
      const page = await list(`?limit=2${before}`);
      expect(page.sends.length).toBeLessThanOrEqual(2);
      seen.push(...idsOf(page));
      before = page.next === null ? '' : `&before=${page.next}`;
      await build(test);
    } while (before !== '');
    expect(seen).toEqual(all);
  });

  it('is narrowed by application, mode, states and time, together', async () => {
    const byApplication = await list(`?application=${test.applicationId}`);
    expect(new Set(byApplication.sends.map(({ mode }) => mode))).toEqual(new Set(['test']));
    expect(idsOf(await list(`?mode=live&status=queued`))).toEqual(
      expect.arrayContaining(ids.filter((_, n) => n % 2 === 1)),
    );
    expect((await list(`?mode=live&application=${test.applicationId}`)).sends).toEqual([]);
    expect((await list('?status=read')).sends).toEqual([]);
    expect((await list('?verification=verified')).sends).toEqual([]);
    const { createdAt } = await details(ids[2]!);
    expect(idsOf(await list(`?from=${createdAt}`))).toContain(ids[2]);
    expect(idsOf(await list(`?to=${createdAt}`))).not.toContain(ids[2]);
  });

  it('has nothing of an application of somebody else', async () => {
    const theirs = await build(foreign);
    expect((await list(`?application=${foreign.applicationId}`)).sends).toEqual([]);
    expect(idsOf(await list())).not.toContain(theirs);
  });

  it.each([
    ['?limit=0', 'limit'],
    ['?limit=101', 'limit'],
    ['?status=lost', 'status'],
    ['?verification=maybe', 'verification'],
    ['?application=1', 'application'],
    ['?from=yesterday', 'from'],
    ['?before=x', 'before'],
    [`?recipient=${encodeURIComponent(PHONE)}`, 'body'],
  ])('refuses %s', async (query, field) => {
    const { status, body } = await viewer.get(`${path}${query}`);
    expect([status, Object.keys(body.errors)]).toEqual([422, [field]]);
  });
});

describe('the search by phone number', () => {
  it('finds every send to it, however it is written, and none of other accounts', async () => {
    const recipient = '+5521955554444';
    const [one, other] = [await build(live, { recipient }), await build(test, { recipient })];
    await build(foreign, { recipient });
    await build(live, { recipient: '+5521955554445' });

    for (const written of [recipient, '+55 21 95555-4444', '+55 (21) 95555 4444']) {
      const { status, body } = await viewer.post<SendsView>(`${path}/search`, { recipient: written });
      expect([status, idsOf(body)]).toEqual([200, [other, one]]);
    }
  });

  it.each(['', '4444', '21955554444', 'ana@example.com', '+55'])('refuses %j', async (recipient) => {
    const { status, body } = await viewer.post(`${path}/search`, { recipient });
    expect([status, body.errors]).toEqual([422, { recipient: 'phone' }]);
  });
});
