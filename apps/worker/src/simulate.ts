import { simulate as decide } from '@onecode/domain';
import { changeSend } from '@onecode/store';
import type { WorkerContext } from './context.js';

/** Ends a test send without sending anything. Doing it again changes nothing. */
export async function simulate(
  { database }: Pick<WorkerContext, 'database'>,
  sendId: string,
): Promise<'read' | 'settled' | 'gone'> {
  // crash point: worker before simulate
  return (await changeSend(database, { id: sendId }, decide)) ?? 'gone';
}
