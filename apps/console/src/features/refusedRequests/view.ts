import type { ListedRefusedRequest, RefusalReason } from '@onecode/store';

/** What the API said when it refused requests, and how often. */
export interface RefusalReasonView extends Omit<RefusalReason, 'lastRefusedAt'> {
  lastRefusedAt: string;
}

/** A refused request: nothing of it is what the client sent. */
export interface RefusedRequestView {
  requestId: string;
  at: string;
  /** Method and pattern, as the reference writes it. */
  route: string;
  status: number;
  code: string;
  /** The sentence of the answer, in English. */
  detail: string;
  fields: string[];
  /** How many refusals it counts for: itself and those like it that followed within a minute. */
  count: number;
  /** Null for a tryout, whose key ended with it. */
  keyHint: string | null;
  application: { id: string; name: string };
}

export interface RefusedRequestsView {
  /** The most frequent first, whichever of them the list shows; empty on later pages. */
  reasons: RefusalReasonView[];
  /** The newest first. */
  requests: RefusedRequestView[];
  /** The cursor of the next page; null at the end. */
  next: string | null;
}

export const reasonView = ({ lastRefusedAt, ...reason }: RefusalReason): RefusalReasonView => ({
  ...reason,
  lastRefusedAt: lastRefusedAt.toISOString(),
});

export const refusedRequestView = ({
  refusedAt,
  route,
  applicationId,
  applicationName,
  ...request
}: ListedRefusedRequest): RefusedRequestView => ({
  ...request,
  at: refusedAt.toISOString(),
  route: route.replaceAll(/:(\w+)/g, '{$1}'),
  application: { id: applicationId, name: applicationName },
});
