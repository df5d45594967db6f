import { PROBLEMS, type ProblemCode } from '@onecode/domain';
import { startOnecode, type Fault } from '@onecode/client/testing';
import { Onecode } from '@onecode/client';

const TO = '+5511987654321';

it.each<Fault>([{ answer: 'insufficient_credits' }, { answer: 'rate_limited' }])(
  'a scripted refusal says what the service says: %j',
  async (fault) => {
    const server = await startOnecode();
    const onecode = new Onecode({ baseUrl: server.baseUrl, apiKey: server.keys.live, maxRetries: 0 });
    server.script(TO, fault);
    const { meaning } = PROBLEMS[fault.answer as ProblemCode];
    await expect(onecode.send({ to: TO })).rejects.toMatchObject({ code: fault.answer, detail: meaning });
    await server.close();
  },
);
