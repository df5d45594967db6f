import { request } from 'node:http';
import { until } from '@onecode/testing';
import type { Simulator } from '../src/index.js';
import { bodyOf, closeAll, control, RECIPIENT, send, start, startBoth, type Json } from './sending.js';

afterEach(closeAll);

const OTHER = '+12015553931';

describe('/simulator/messages', () => {
  it('lists the newest first, of all or of one recipient, within a limit', async () => {
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

  it('marks a message read, once', async () => {
    const { simulator, receiver } = await startBoth();
    const { json } = await send(simulator);
    await until('2 statuses', () => receiver.words.length === 2);
    const path = `messages/${encodeURIComponent(json.messages[0].id)}/read`;
    expect(await control(simulator, 'POST', path)).toMatchObject({ status: 200, json: { status: 'read' } });
    expect(receiver.words.at(-1)).toBe('read');
    expect((await control(simulator, 'POST', path)).status).toBe(409);
    expect((await control(simulator, 'POST', 'messages/wamid.none/read')).status).toBe(404);
  });
});

describe('/simulator/requests', () => {
  it('tells of every request, the refused ones too', async () => {
    const simulator = await start();
    const { json } = await send(simulator);
    await send(simulator, bodyOf({ language: 'fr' }));
    expect((await control(simulator, 'GET', 'requests')).json).toEqual([
      expect.objectContaining({ number: 2, to: null, outcome: 'refused', http: 404, code: 132001 }),
      {
        number: 1,
        at: expect.stringMatching(/^\d{4}-.*Z$/),
        sender: '106540352242922',
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
});

describe('/simulator/rules', () => {
  it.each(['POST', 'PUT'])('adds with %s, lists, and deletes one or all', async (method) => {
    const simulator = await start();
    const rule = { recipient: RECIPIENT, fault: { error: 131026 }, times: 3 };
    const added = await control(simulator, method, 'rules', rule);
    expect(added).toEqual({ status: 201, json: { ...rule, id: expect.any(String), hits: 0 } });
    await control(simulator, method, 'rules', { fault: { hang: true } });
    await control(simulator, method, 'rules', { fault: { latencyMs: 1 } });
    expect((await send(simulator)).json.error.code).toBe(131026);
    expect((await control(simulator, 'GET', 'rules')).json).toHaveLength(3);
    expect((await control(simulator, 'DELETE', `rules/${added.json.id}`)).status).toBe(204);
    expect((await control(simulator, 'DELETE', `rules/${added.json.id}`)).status).toBe(404);
    expect((await control(simulator, 'GET', 'rules')).json).toHaveLength(2);
    expect((await control(simulator, 'DELETE', 'rules')).status).toBe(204);
    expect((await control(simulator, 'GET', 'rules')).json).toEqual([]);
  });

  it('says what is wrong with a rule', async () => {
    const simulator = await start();
    expect(await control(simulator, 'POST', 'rules', { recipient: 'you', fault: { hang: true } })).toEqual({
      status: 422,
      json: { errors: ['recipient must be a phone number in E.164 form, with +'] },
    });
    const broken = await fetch(`${simulator.url}/simulator/rules`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{"fault":',
    });
    expect([broken.status, await broken.json()]).toEqual([400, { errors: ['the body is no readable JSON'] }]);
  });
});

describe('/simulator/settings', () => {
  it('changes what is named, and nothing when anything is wrong', async () => {
    const simulator = await start({ delays: {} });
    const initial = {
      sentMs: 300,
      deliveredMs: 900,
      readMs: null,
      batchMs: 0,
      pairLimit: false,
      senderLimit: false,
    };
    expect((await control(simulator, 'GET', 'settings')).json).toEqual(initial);
    const changed = await control(simulator, 'PUT', 'settings', { readMs: 5, pairLimit: true });
    expect(changed).toEqual({ status: 200, json: { ...initial, readMs: 5, pairLimit: true } });
    const wrong = await control(simulator, 'PUT', 'settings', { sentMs: 1, deliveredMs: -1, colour: 1 });
    expect(wrong.status).toBe(422);
    expect(wrong.json.errors).toEqual([
      'deliveredMs must be an integer from 0 to 86400000',
      'colour is not known',
    ]);
    expect(simulator.settings.sentMs).toBe(300);
  });
});

describe('/simulator/receipts', () => {
  it('posts any receipt, and refuses one that is none', async () => {
    const { simulator, receiver } = await startBoth();
    const receipt = { messageId: 'wamid.X', status: 'delivered', sender: '7', recipientId: '551187654321' };
    expect(await control(simulator, 'POST', 'receipts', receipt)).toEqual({
      status: 200,
      json: { webhook_status: 200 },
    });
    expect(receiver.statuses).toMatchObject([{ id: 'wamid.X', status: 'delivered' }]);
    expect(
      (await control(simulator, 'POST', 'receipts', { messageId: 'wamid.X', status: 'seen' })).status,
    ).toBe(422);
    expect((await control(simulator, 'POST', 'receipts', { status: 'sent' })).json).toEqual({
      errors: ['messageId is missing'],
    });
  });
});

describe('/simulator/reset', () => {
  it('brings back the state after the start', async () => {
    const { simulator, receiver } = await startBoth({ delays: { sentMs: 60_000, deliveredMs: 60_000 } });
    await send(simulator);
    simulator.rules.add({ fault: { error: 1 } });
    simulator.changeSettings({ sentMs: 0, deliveredMs: 0 });
    expect((await control(simulator, 'POST', 'reset')).status).toBe(204);
    expect([simulator.messages(), simulator.requests(), simulator.rules.list()]).toEqual([[], [], []]);
    expect(simulator.settings.sentMs).toBe(60_000);
    simulator.changeSettings({ sentMs: 0, deliveredMs: 0 });
    const { json } = await send(simulator);
    await until('2 statuses', () => receiver.words.length === 2);
    expect(receiver.statuses.every(({ id }) => id === json.messages[0].id)).toBe(true);
  });

  it('cuts what hangs', async () => {
    const simulator = await start();
    simulator.rules.add({ fault: { hang: true } });
    const hung = send(simulator);
    await until('a request that hangs', () => simulator.requests()[0]?.outcome === 'hung');
    simulator.reset();
    await expect(hung).rejects.toThrow();
  });
});

describe('/simulator/events', () => {
  /** Opens the stream; collects its events by name. */
  async function listen(simulator: Simulator) {
    const events: { name: string; data: Json }[] = [];
    let text = '';
    const opened = request(`${simulator.url}/simulator/events`, (response) => {
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
        const parts = text.split('\n\n');
        text = parts.pop()!;
        for (const part of parts) {
          const match = /^event: (.*)\ndata: (.*)$/m.exec(part);
          if (match) events.push({ name: match[1]!, data: JSON.parse(match[2]!) });
        }
      });
      response.on('error', () => undefined);
    });
    opened.on('error', () => undefined).end();
    await until('an event', () => events.length > 0);
    return { events, stop: () => opened.destroy() };
  }

  it('starts with everything, then tells each change', async () => {
    const { simulator } = await startBoth();
    await send(simulator);
    const { events, stop } = await listen(simulator);
    expect(events[0]).toMatchObject({
      name: 'snapshot',
      data: { messages: [{ to: RECIPIENT }], rules: [], status: { requests: 1 } },
    });
    await send(simulator, bodyOf({ to: OTHER }));
    const told = () =>
      events
        .filter(({ name, data }) => name === 'message' && data.to === OTHER)
        .map(({ data }) => data.status);
    await until('3 statuses', () => told().length === 3);
    expect(told()).toEqual(['accepted', 'sent', 'delivered']);
    simulator.rules.add({ fault: { error: 1 } });
    await until('a state with the rule', () =>
      events.some(({ name, data }) => name === 'state' && data.rules.length === 1),
    );
    simulator.reset();
    await until(
      'an empty snapshot',
      () => events.at(-1)?.name === 'snapshot' && events.at(-1)?.data.messages.length === 0,
    );
    stop();
  });
});

describe('another site in the same browser', () => {
  it('cannot work the simulator', async () => {
    const simulator = await start();
    const ask = (site: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const headers = { 'Sec-Fetch-Site': site };
        request(`${simulator.url}/simulator/reset`, { method: 'POST', headers }, (response) => {
          response.resume();
          resolve(response.statusCode);
        })
          .on('error', reject)
          .end();
      });
    expect(await ask('cross-site')).toBe(403);
    expect(await ask('same-site')).toBe(403);
    expect(await ask('same-origin')).toBe(204);
  });
});

describe('an unknown path below /simulator', () => {
  it('is not found', async () => {
    const simulator = await start();
    expect(await control(simulator, 'GET', 'nothing')).toEqual({
      status: 404,
      json: { errors: ['no such path'] },
    });
  });
});
