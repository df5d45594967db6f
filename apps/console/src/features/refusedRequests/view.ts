import { PROBLEMS } from '@onecode/domain';
import type { ListedRefusedRequest, RefusedRequestSum } from '@onecode/store';

/** How often requests were refused with one code. */
export interface RefusedCodeView {
  code: string;
  /** The HTTP status; null for a code that this release does not know. */
  status: number | null;
  count: number;
  /** How many of them are listed. */
  kept: number;
  lastRefusedAt: string;
}

export interface RefusedCodesView {
  /** The latest first. */
  codes: RefusedCodeView[];
  /** The applications whose requests were refused, whatever the filter. */
  applications: { id: string; name: string }[];
}

/** The same for staff, with the account. */
export interface StaffRefusedCodesView extends RefusedCodesView {
  account: { id: string; name: string };
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
  detail: string | null;
  fields: string[];
  /** Null for a tryout, whose key ended with it. */
  keyHint: string | null;
  application: { id: string; name: string };
}

export interface RefusedRequestsView {
  requests: RefusedRequestView[];
  /** The cursor of the next page; null at the end. */
  next: string | null;
}

export function refusedCodesView(
  sums: readonly RefusedRequestSum[],
  applications: { id: string; name: string }[],
): RefusedCodesView {
  return { codes: sums.map(codeView), applications };
}

function codeView({ code, count, kept, lastRefusedAt }: RefusedRequestSum): RefusedCodeView {
  const problems: Readonly<Record<string, { status: number }>> = PROBLEMS;
  return {
    code,
    status: problems[code]?.status ?? null,
    count,
    kept,
    lastRefusedAt: lastRefusedAt.toISOString(),
  };
}

export function refusedRequestsView({
  requests,
  next,
}: {
  requests: readonly ListedRefusedRequest[];
  next: string | null;
}): RefusedRequestsView {
  return { requests: requests.map(requestView), next };
}

function requestView({
  refusedAt,
  route,
  applicationId,
  applicationName,
  ...request
}: ListedRefusedRequest): RefusedRequestView {
  return {
    ...request,
    at: refusedAt.toISOString(),
    route: route.replaceAll(/:(\w+)/g, '{$1}'),
    application: { id: applicationId, name: applicationName },
  };
}
