import { request } from 'node:http';
import { bodyOf, closeAll, control, OTHER, RECIPIENT, send, SENDER, start, type Json } from './sending.js';

afterEach(closeAll);

describe('the control interface', () => {
  it('lists the messages of all recipients or of one, newest first, up to a limit', async () => {
    const simulator = await start();
    for (const code of ['1111', '2222', '3333']) await send(simulator, bodyOf({ code }));
    await send(simulator, bodyOf({ code: '4444', to: OTHER }));
    const codes = async (query: string) =>
      (await control(simulator, 'GET', `messages${query}`)).json.map(({ code }: Json) => code);
    expect(await codes('?limit=-1')).toEqual(['4444', '3333', '2222', '1111']);
    for (const recipient of [encodeURIComponent(RECIPIENT), RECIPIENT, RECIPIENT.slice(1)])
      expect(await codes(`?recipient=${recipient}&limit=1`)).toEqual(['3333']);
  });

  it.each(['recipient=abc', 'recipient=', 'recipient=5511987654321&recipient=5511987654322'])(
    'refuses to list messages with the query %s',
    async (query) => {
      const { status, json } = await control(await start(), 'GET', `messages?${query}`);
      expect([status, json.errors]).toEqual([
        422,
        ['recipient must be a phone number in E.164 form, with +'],
      ]);
    },
  );

  it('lists requests, including refused ones', async () => {
    const simulator = await start();
    const { json } = await send(simulator);
    await send(simulator, bodyOf({ language: 'fr' }));
    expect((await control(simulator, 'GET', 'requests')).json).toEqual([
      expect.objectContaining({ number: 2, to: null, outcome: 'refused', http: 404, code: 132001 }),
      {
        number: 1,
        at: expect.stringMatching(/^\d{4}-.*Z$/),
        sender: SENDER,
        to: RECIPIENT,
        opaque: 'att_01J9ZK',
        language: 'pt_BR',
        outcome: 'accepted',
        http: 200,
        code: null,
        messageId: json.messages[0].id,
        rule: null,
      },
    ]);
  });

  it('changes the named settings, and none if one is invalid', async () => {
    const simulator = await start({ delays: {} });
    const changed = await control(simulator, 'PUT', 'settings', { readMs: 5, senderLimit: true });
    const expected = {
      sentMs: 300,
      deliveredMs: 900,
      readMs: 5,
      senderLimit: true,
      reviewMs: 3000,
      review: 'APPROVED',
    };
    expect(changed.json).toEqual(expected);
    const wrong = await control(simulator, 'PUT', 'settings', { sentMs: 1, deliveredMs: -1, colour: 1 });
    expect([wrong.status, wrong.json.errors]).toEqual([
      422,
      ['deliveredMs must be an integer from 0 to 86400000', 'colour is unknown'],
    ]);
    expect((await control(simulator, 'GET', 'settings')).json).toEqual(expected);
    const broken = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{' };
    expect((await fetch(`${simulator.url}/simulator/rules`, broken)).status).toBe(400);
  });

  it.each([
    ['cross-site', 403],
    ['same-site', 403],
    ['same-origin', 204],
  ])('answers a %s request of a browser with %i', async (site, status) => {
    const simulator = await start();
    const headers = { 'Sec-Fetch-Site': site };
    const answered = await new Promise((resolve, reject) => {
      request(`${simulator.url}/simulator/reset`, { method: 'POST', headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on('error', reject)
        .end();
    });
    expect(answered).toBe(status);
  });
});
