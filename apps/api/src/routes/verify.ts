import type { RequestHandler } from 'express';
import { canonicalNumber, hashesOf, Problem, recipientKeys } from '@onecode/domain';
import { describeSpan } from '@onecode/runtime';
import { isId } from '@onecode/store/client';
import { resetOtherBudgets, verifySend } from '@onecode/store/sends';
import { answerJson } from '../answer.js';
import type { ApiContext } from '../context.js';
import { readJsonBody } from '../body.js';
import { parseVerify } from '../contract.js';
import { setSendId } from '../requests.js';

/** `POST /v1/send/{id}/verify`: one judged guess. A guess is committed before it is answered, and counts even if it is not. */
export function verifyRoute({
  authenticate,
  database,
  config,
  log,
  metrics,
}: ApiContext): RequestHandler<{ id: string }> {
  return async (request, response) => {
    const { caller, recheck } = await authenticate(request);
    const { id } = request.params;
    if (!isId(id)) throw new Problem('send_not_found');
    setSendId(request, id);
    const body = await readJsonBody(request);
    await recheck();
    const { code } = parseVerify(body);
    // crash point: api verify before commit
    const judgement = await verifySend(database, {
      id,
      accountId: caller.accountId,
      hashes: hashesOf(config.CODE_PEPPER, id, code),
    });
    // crash point: api verify after commit
    if (judgement === null) throw new Problem('send_not_found');
    describeSpan({ 'onecode.verification': judgement.verification }, judgement.traceparent);
    metrics.verifications.inc({ verification: judgement.verification, valid: String(judgement.valid) });
    if (judgement.valid && config.NUMBER_PEPPER.keys.size > 1) {
      const keysOf = (recipient: string): string[] =>
        recipientKeys(config.NUMBER_PEPPER, canonicalNumber(recipient));
      // The code is used up: what fails here must not keep anybody out.
      await resetOtherBudgets(database, id, keysOf).catch((error: unknown) =>
        log.warn({ err: error, send_id: id }, 'wrong guesses were not forgiven'),
      );
    }
    // The database may have taken long, and this answer lets somebody in.
    await recheck();
    answerJson(response, 200, {
      valid: judgement.valid,
      verification: judgement.verification,
      attempts_left: judgement.attemptsLeft,
    });
  };
}
