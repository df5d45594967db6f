import type { RequestHandler } from 'express';
import { Problem } from '@onecode/domain';
import { describeSpan } from '@onecode/runtime';
import { isId } from '@onecode/store/client';
import { findSend } from '@onecode/store/sends';
import { answerJson } from '../answer.js';
import type { ApiContext } from '../context.js';
import { setSendId } from '../requests.js';
import { sendView } from '../sendView.js';

/** Returns the handler of `GET /v1/send/{id}/status`. It answers 404 for sends of other accounts. */
export function sendStatusRoute({ authenticate, database }: ApiContext): RequestHandler<{ id: string }> {
  return async (request, response) => {
    const caller = await authenticate(request);
    const { id } = request.params;
    if (isId(id)) setSendId(request, id);
    const found = isId(id) ? await findSend(database, caller.accountId, id) : null;
    if (found === null) throw new Problem('send_not_found');
    describeSpan({}, found.send.traceparent);
    answerJson(response, 200, sendView(found.send, found.now));
  };
}
