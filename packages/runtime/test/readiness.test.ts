import { Writable } from 'node:stream';
import { until } from '@onecode/testing';
import { RefusedByRedis, watchServices, type Loop } from '@onecode/runtime';
import { pino } from 'pino';

let loop: Loop | undefined;
afterEach(() => loop?.stop());

describe('watchServices', () => {
  it('writes one line for a failure, with the reason that settles, and one for the return', async () => {
    const lines: { msg: string; service: string; reason?: string }[] = [];
    const log = pino(
      new Writable({
        write(chunk: Buffer, _encoding, done) {
          lines.push(JSON.parse(chunk.toString()));
          done();
        },
      }),
    );
    let rounds = 0;
    const refuse = (fault: string) => () => Promise.reject(new RefusedByRedis('unfit', fault));
    const answers: (() => Promise<void>)[] = [
      () => Promise.resolve(),
      // A connection is replaced.
      () => Promise.reject(new Error('closed')),
      () => Promise.resolve(),
      () => Promise.reject(new Error('closed')),
      () => Promise.reject(new Error('connect ECONNREFUSED redis://:secret@127.0.0.1:1')),
      refuse('REDIS_URL names a replica'),
      refuse('REDIS_URL names no password'),
      () => Promise.resolve(),
      refuse('REDIS_URL names a replica'),
      () => Promise.reject(new Error('closed')),
      () => Promise.resolve(),
      () => Promise.resolve(),
    ];
    loop = watchServices(log, {
      Redis: () => answers[Math.min(rounds++, answers.length - 1)]!(),
      PostgreSQL: () => Promise.resolve(),
    });
    await until('all answers', () => rounds >= answers.length);
    expect(lines.map(({ msg, service, reason }) => [msg, service, reason])).toEqual([
      ['Redis cannot be used', 'Redis', 'connect ECONNREFUSED redis://[removed]@127.0.0.1:1'],
      ['Redis can be used again', 'Redis', undefined],
      ['Redis cannot be used', 'Redis', 'REDIS_URL names a replica'],
      ['Redis can be used again', 'Redis', undefined],
    ]);
  });
});
