import type { SendDetails, TimelineEvent as StoredEvent } from '@onecode/store/reports';
import { buildTimeline } from '@onecode/store/reports';
import type { Json } from '../../http/json.js';
import { explanationView, type ExplanationView } from './errorExplanation.js';

type Explained<Event> = Event extends { kind: 'attempt' }
  ? Event & { explanation: ExplanationView | null }
  : Event extends { kind: 'receipt' }
    ? Omit<Event, 'outcome'> & { explanation: ExplanationView | null }
    : Event;

/** An event in the history of a send, with what an error in it means. */
export type TimelineEvent = Json<ExplainedEvent>;
type ExplainedEvent = Explained<StoredEvent>;

/** Returns the history of a send, oldest event first. */
export function timelineViews(send: SendDetails): ExplainedEvent[] {
  return buildTimeline(send).map((event): ExplainedEvent => {
    switch (event.kind) {
      case 'attempt': {
        const { outcome, errorCode } = event;
        const explanation =
          outcome === null || outcome === 'accepted' ? null : explanationView(errorCode, outcome);
        return { ...event, explanation };
      }
      case 'receipt': {
        const { outcome, ...rest } = event;
        return { ...rest, explanation: outcome && explanationView(rest.errorCode, outcome) };
      }
      default:
        return event;
    }
  });
}
