import { getEventListeners } from 'node:events';
import { aSend, json, KEY, problem, resets, useService } from '@onecode/testing/breaking-service';
import { Onecode, OnecodeError } from '../src/index.js';

const service = useService();
const INPUT = { to: '+447700900123' };
const client = (): Onecode => new Onecode({ apiKey: KEY, baseUrl: service.url, maxRetries: 1 });
const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

describe('a signal that outlives its calls, as that of a whole server', () => {
  it('has no listener left of them, nor the process a timer, however they end', async () => {
    const { signal } = new AbortController();
    const before = timers();
    const sent = aSend({ status: 'sent' });
    service.script(
      resets,
      json(202, sent),
      problem(422, 'invalid_recipient'),
      json(200, aSend()),
      json(200, sent),
      resets,
      json(200, sent),
      json(200, { free_sends: 10 }),
    );
    await client().send(INPUT, { signal });
    await expect(client().send(INPUT, { signal })).rejects.toThrow(OnecodeError);
    await client().waitFor('the-send', { until: 'sent', signal });
    await expect(client().verify('the-send', '004217', { signal })).rejects.toThrow(OnecodeError);
    await client().status('the-send', { signal });
    await client().signupSettings({ signal });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect(timers()).toBe(before);
  });

  it('has one listener for all calls and waits at a time, which ends each of them: Node 20 warns of more than ten', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const warnings: Error[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning);
    process.on('warning', onWarning);
    // The first half is answered and waits for its next try; the others have no answer.
    let requests = 0;
    service.script((response, request) => {
      requests += 1;
      if (requests <= 20) problem(429, 'rate_limited', { 'retry-after': '30' })(response, request);
      if (requests === 40) controller.abort('enough');
    });
    const waiting = Array.from({ length: 20 }, () => client().send(INPUT, { signal }));
    const answered = (): boolean => requests === 20;
    while (!answered()) await new Promise((resolve) => setImmediate(resolve));
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    const open = Array.from({ length: 20 }, () => client().status('the-send', { signal }));
    const ends = await Promise.allSettled([...waiting, ...open]);
    process.off('warning', onWarning);
    expect(ends).toEqual(ends.map(() => ({ status: 'rejected', reason: 'enough' })));
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect(warnings).toEqual([]);
  });
});
