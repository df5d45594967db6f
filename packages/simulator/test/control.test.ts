import { request } from 'node:http';
import { bodyOf, closeAll, control, OTHER, RECIPIENT, send, SENDER, start, type Json } from './sending.js';

afterEach(closeAll);

describe('the control interface', () => {
  it('lists messages, the newest first, of all or of one recipient, within a limit', async () => {
    const simulator = await start();
    for (const code of ['1111', '2222', '3333']) await send(simulator, bodyOf({ code }));
    await send(simulator, bodyOf({ code: '4444', to: OTHER }));
    const codes = async (query: string) =>
      (await control(simulator, 'GET', `messages${query}`)).json.map(({ code }: Json) => code);
    expect(await codes('')).toEqual(['4444', '3333', '2222', '1111']);
    expect(await codes('?limit=2')).toEqual(['4444', '3333']);
    expect(await codes(`?recipient=${encodeURIComponent(RECIPIENT)}&limit=1`)).toEqual(['3333']);
    expect(await codes('?limit=-1')).toHaveLength(4);
  });

  it('lists requests, the refused ones too', async () => {
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

  it('adds rules, lists them, and deletes one or all', async () => {
    const simulator = await start();
    const rule = { recipient: RECIPIENT, fault: { error: 131026 }, times: 3 };
    const added = await control(simulator, 'POST', 'rules', rule);
    expect(added).toMatchObject({ status: 201, json: { ...rule, id: expect.any(String), hits: 0 } });
    await control(simulator, 'PUT', 'rules', { fault: { latencyMs: 1 } });
    expect((await send(simulator)).json.error.code).toBe(131026);
    expect((await control(simulator, 'GET', 'rules')).json).toMatchObject([
      { ...rule, hits: 1 },
      { hits: 0 },
    ]);
    const path = `rules/${added.json.id}`;
    expect((await control(simulator, 'DELETE', path)).status).toBe(204);
    expect((await control(simulator, 'DELETE', path)).status).toBe(404);
    expect((await control(simulator, 'DELETE', 'rules')).status).toBe(204);
    expect((await control(simulator, 'GET', 'rules')).json).toEqual([]);
  });

  it('changes the settings that are named, and none when anything is wrong', async () => {
    const simulator = await start({ delays: {} });
    const initial = { sentMs: 300, deliveredMs: 900, readMs: null, pairLimit: false, senderLimit: false };
    expect((await control(simulator, 'GET', 'settings')).json).toEqual(initial);
    const changed = await control(simulator, 'PUT', 'settings', { readMs: 5, pairLimit: true });
    expect(changed.json).toEqual({ ...initial, readMs: 5, pairLimit: true });
    const wrong = await control(simulator, 'PUT', 'settings', { sentMs: 1, deliveredMs: -1, colour: 1 });
    expect([wrong.status, wrong.json.errors]).toEqual([
      422,
      ['deliveredMs must be an integer from 0 to 86400000', 'colour is not known'],
    ]);
    expect((await control(simulator, 'GET', 'settings')).json).toMatchObject({ sentMs: 300 });
  });

  it('brings back the state after the start', async () => {
    const simulator = await start();
    await send(simulator);
    simulator.rules.add({ fault: { error: 1 } });
    simulator.changeSettings({ sentMs: 5 });
    await simulator.business.changeSender(SENDER, { status: 'BANNED' });
    await control(simulator, 'POST', 'throttles', { scope: 'app', forMs: 60_000 });
    expect((await control(simulator, 'POST', 'reset')).status).toBe(204);
    expect([simulator.messages(), simulator.requests(), simulator.rules.list()]).toEqual([[], [], []]);
    expect((await control(simulator, 'GET', 'settings')).json).toMatchObject({ sentMs: 0 });
    expect((await send(simulator)).status).toBe(200);
  });

  it('says what it cannot read or does not know', async () => {
    const simulator = await start();
    const broken = await fetch(`${simulator.url}/simulator/rules`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{"fault":',
    });
    expect([broken.status, await broken.json()]).toEqual([400, { errors: ['the body is no readable JSON'] }]);
    expect(await control(simulator, 'GET', 'nothing')).toMatchObject({
      status: 404,
      json: { errors: ['no such path'] },
    });
  });

  it.each([
    ['cross-site', 403],
    ['same-site', 403],
    ['same-origin', 204],
  ])('answers a browser that comes %s with %i', async (site, status) => {
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
