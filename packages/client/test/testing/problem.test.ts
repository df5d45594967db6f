import { PROBLEMS as PROBLEMS_OF_THE_SERVICE } from '@onecode/domain';
import { startOnecode, type Fault } from '@onecode/client/testing';
import { Onecode } from '@onecode/client';
import { PROBLEMS, type ProblemCode } from '../../src/testing/problem.js';

const TO = '+5511987654321';

it.each(Object.keys(PROBLEMS) as ProblemCode[])(
  'the double gives %s the status and the meaning that the service does',
  (code) => {
    const { status, meaning } = PROBLEMS_OF_THE_SERVICE[code];
    expect(PROBLEMS[code]).toEqual([status, meaning]);
  },
);

it.each<Fault>([{ answer: 'insufficient_credits' }, { answer: 'rate_limited' }])(
  'a scripted refusal says what the service says: %j',
  async (fault) => {
    const server = await startOnecode();
    const onecode = new Onecode({ baseUrl: server.baseUrl, apiKey: server.keys.live, maxRetries: 0 });
    server.script(TO, fault);
    const { meaning } = PROBLEMS_OF_THE_SERVICE[fault.answer as ProblemCode];
    await expect(onecode.send({ to: TO })).rejects.toMatchObject({ code: fault.answer, detail: meaning });
    await server.close();
  },
);
