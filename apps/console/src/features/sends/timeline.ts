import type { SendDetails, TimelineEvent as StoredEvent } from '@onecode/store';
import { timelineOf } from '@onecode/store';
import { explanationView, type ExplanationView } from './errorExplanation.js';

type Explained<Event> = Event extends { kind: 'attempt' }
  ? Event & { explanation: ExplanationView | null }
  : Event extends { kind: 'receipt' }
    ? Omit<Event, 'outcome'> & { explanation: ExplanationView | null }
    : Event;

type Shown<Event> = Event extends unknown ? Omit<Event, 'at'> & { at: string } : never;

/** An event in the history of a send, with what an error in it means. */
export type TimelineEvent = Shown<Explained<StoredEvent>>;

/** Returns the history of a send, oldest event first. */
export function timelineViews(send: SendDetails): TimelineEvent[] {
  return timelineOf(send).map((event): TimelineEvent => {
    const at = event.at.toISOString();
    switch (event.kind) {
      case 'attempt': {
        const { outcome, errorCode } = event;
        const explanation =
          outcome === null || outcome === 'accepted' ? null : explanationView(errorCode, outcome);
        return { ...event, explanation, at };
      }
      case 'receipt': {
        const { outcome, ...rest } = event;
        return { ...rest, explanation: outcome && explanationView(rest.errorCode, outcome), at };
      }
      default:
        return { ...event, at };
    }
  });
}
