import { Writable } from 'node:stream';
import { until } from '@onecode/testing';
import { unfitRedis, watchServices, type Loop } from '@onecode/runtime';
import { pino } from 'pino';

let loop: Loop | undefined;
afterEach(() => loop?.stop());

describe('watchServices', () => {
  it('writes a line for the first failure, for each refusal with another reason, and for the return', async () => {
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
    const refuse = (fault: string) => () => Promise.reject(unfitRedis(fault));
    const answers: (() => Promise<void>)[] = [
      () => Promise.resolve(),
      () => Promise.reject(new Error('connect ECONNREFUSED redis://:secret@127.0.0.1:1')),
      () => Promise.reject(new Error('closed')),
      refuse('names a replica'),
      refuse('names a replica'),
      refuse('names no password'),
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
      ['Redis cannot be used', 'Redis', 'REDIS_URL names a replica'],
      ['Redis cannot be used', 'Redis', 'REDIS_URL names no password'],
      ['Redis can be used again', 'Redis', undefined],
    ]);
  });
});
