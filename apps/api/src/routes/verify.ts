import type { RequestHandler } from 'express';
import { matchesCode, Problem } from '@onecode/domain';
import { describeSpan } from '@onecode/runtime';
import { isId } from '@onecode/store/client';
import { verifySend } from '@onecode/store/sends';
import { answerJson } from '../answer.js';
import { invalidKey } from '../auth.js';
import type { ApiContext } from '../context.js';
import { parseVerify } from '../contract.js';
import { readJsonBody, setSendId } from '../requests.js';

/**
 * Returns the handler of `POST /v1/send/{id}/verify`. A guess is committed before the response, so it counts even if the response is lost.
 */
export function verifyRoute({
  authenticate,
  database,
  config,
  metrics,
}: ApiContext): RequestHandler<{ id: string }> {
  return async (request, response) => {
    const caller = await authenticate(request);
    const { id } = request.params;
    if (!isId(id)) throw new Problem('send_not_found');
    setSendId(request, id);
    const body = await readJsonBody(request);
    // The body may arrive long after the headers, and a guess at a finished code does not check the key again.
    await authenticate(request);
    const code = parseVerify(body);
    // crash point: api verify before commit
    const guessed = await verifySend(database, {
      id,
      accountId: caller.accountId,
      keyId: caller.keyId,
      matches: (codeHash) => matchesCode(config.CODE_PEPPER, id, code, codeHash),
    });
    // crash point: api verify after commit
    if (guessed.outcome === 'not_found') throw new Problem('send_not_found');
    if (guessed.outcome === 'key_refused') throw invalidKey(guessed.cause);
    const { valid, verification, attemptsLeft } = guessed.judgement;
    describeSpan({ 'onecode.verification': verification }, guessed.traceparent);
    metrics.verifications.inc({ verification, valid: String(valid) });
    answerJson(response, 200, { valid, verification, attempts_left: attemptsLeft });
  };
}
