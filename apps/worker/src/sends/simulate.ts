import { simulate as decide } from '@onecode/domain';
import { recordSpan } from '@onecode/runtime';
import { changeSend } from '@onecode/store/sends';
import type { WorkerContext } from '../context.js';

/** Ends a test send without sending a message. A second call changes nothing. */
export async function simulate(
  { database }: Pick<WorkerContext, 'database'>,
  sendId: string,
): Promise<'read' | 'done' | 'gone'> {
  const beganAt = performance.now();
  // crash point: worker before simulate
  const changed = await changeSend(database, { id: sendId }, (send, now) => {
    const decision = decide(send, now);
    return { ...decision, result: { end: decision.result, parent: send.traceparent } };
  });
  if (changed === null) return 'gone';
  const attributes = { 'onecode.send_id': sendId, 'onecode.end': changed.end };
  recordSpan('process simulate', { kind: 'consumer', parent: changed.parent, beganAt, attributes });
  return changed.end;
}
