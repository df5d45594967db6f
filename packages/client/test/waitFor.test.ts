import { aSend, json, KEY, problem, resets, useService } from '@onecode/testing/breaking-service';
import { ConnectionError, Onecode, OnecodeError, ProblemError, type Send } from '../src/index.js';

const service = useService();
const client = (): Onecode => new Onecode({ apiKey: KEY, baseUrl: service.url });
const soon = (ms: number): string => new Date(Date.now() + ms).toISOString();

describe('waiting for a send', () => {
  it('ends at the state, and tells of each change once', async () => {
    const queued = aSend();
    const sent = { ...queued, status: 'sent' as const, sent_at: soon(0) };
    service.script(json(200, queued), json(200, queued), json(200, sent));
    const updates: Send[] = [];
    await expect(
      client().waitFor('the-send', { until: 'sent', onUpdate: (send) => void updates.push(send) }),
    ).resolves.toEqual(sent);
    expect(updates).toEqual([queued, sent]);
    expect(service.requests).toHaveLength(3);
  });

  it.each([
    ['sent', 'read'],
    ['delivered', 'read'],
    ['sent', 'delivered'],
    ['read', 'read'],
  ] as const)('until %s ends at %s', async (until, status) => {
    const send = aSend({ status });
    service.script(json(200, send));
    await expect(client().waitFor('the-send', { until })).resolves.toEqual(send);
    expect(service.requests).toHaveLength(1);
  });

  it('ends at a failure, with the send that says why', async () => {
    const failed = aSend({ status: 'failed', failed_at: soon(0), failure_reason: 'rejected_by_provider' });
    service.script(json(200, failed));
    await expect(client().waitFor('the-send', { until: 'delivered' })).resolves.toEqual(failed);
  });

  it('ends when the code has expired', async () => {
    const expired = aSend({ status: 'sent', verification: 'expired' });
    service.script(json(200, expired));
    await expect(client().waitFor('the-send', { until: 'delivered' })).resolves.toEqual(expired);
  });

  it('ends at the deadline by the server’s clock, whatever this machine’s says', async () => {
    const passed = aSend({ expires_at: '2020-01-01T00:10:00Z' });
    service.script(json(200, passed, { date: new Date('2020-01-01T00:09:59Z').toUTCString() }));
    await expect(client().waitFor('the-send', { until: 'sent' })).resolves.toEqual(passed);
    // One before the deadline, and one when it had passed.
    expect(service.requests).toHaveLength(2);
  });

  it('ends at the deadline by this machine’s clock where the server tells no time', async () => {
    const send = aSend({ expires_at: soon(-1) });
    service.script((response, request) => {
      response.sendDate = false;
      json(200, send)(response, request);
    });
    await expect(client().waitFor('the-send', { until: 'sent' })).resolves.toEqual(send);
    expect(service.requests).toHaveLength(1);
  });

  it('goes on when single readings fail', async () => {
    const sent = aSend({ status: 'sent' });
    service.script(resets, json(200, aSend()), problem(500, 'internal_error'), json(200, sent));
    await expect(client().waitFor('the-send', { until: 'sent' })).resolves.toEqual(sent);
  });

  it('fails when the last reading before the deadline failed', async () => {
    service.script(json(200, aSend({ expires_at: soon(1_500) })), resets);
    await expect(client().waitFor('the-send', { until: 'sent' })).rejects.toThrow(ConnectionError);
  });

  it('fails when no reading came, after maxRetries more', async () => {
    service.script(resets);
    const onecode = new Onecode({ apiKey: KEY, baseUrl: service.url, maxRetries: 1 });
    await expect(onecode.waitFor('the-send', { until: 'sent' })).rejects.toThrow(ConnectionError);
    expect(service.requests).toHaveLength(2);
  });

  it('fails at once where reading again helps nothing', async () => {
    service.script(problem(404, 'send_not_found'));
    await expect(client().waitFor('the-send', { until: 'sent' })).rejects.toThrow(ProblemError);
    expect(service.requests).toHaveLength(1);
  });

  it('ends at once with the reason of its signal', async () => {
    const controller = new AbortController();
    service.script(json(200, aSend()));
    const waiting = client().waitFor('the-send', {
      until: 'sent',
      signal: controller.signal,
      onUpdate: () => void setImmediate(() => controller.abort('enough')),
    });
    await expect(waiting).rejects.toBe('enough');
    expect(service.requests).toHaveLength(1);
  });

  it('knows the states that can be waited for', async () => {
    await expect(client().waitFor('the-send', { until: 'verified' as 'sent' })).rejects.toThrow(OnecodeError);
    expect(service.requests).toHaveLength(0);
  });
});
