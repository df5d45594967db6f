import { findRefusal } from '@onecode/domain';
import type { ListedRefusedRequest, RefusalReason } from '@onecode/store/reports';
import type { CsvColumns } from '../../http/csv.js';
import type { Json } from '../../http/json.js';

/** `text` is the key of the translation of the API's reason; `defence` is the protection of the account that refused it, or null. */
const explanationOf = ({ code, detail }: { code: string; detail: string }) => {
  const { name, defence } = findRefusal(detail) ?? { name: code, defence: null };
  return { text: name, defence };
};

/** A reason with which the API refused requests, and how often. */
export type RefusalReasonView = Json<ReturnType<typeof refusalReasonView>>;

export const refusalReasonView = (reason: RefusalReason) => ({
  ...reason,
  ...explanationOf(reason),
});

/** A refused request. It contains nothing that the client sent. */
export type RefusedRequestView = Json<ReturnType<typeof refusedRequestView>>;

export interface RefusedRequestsView {
  /** All reasons, the most recent first, regardless of the ones that the list shows; empty on later pages. */
  reasons: RefusalReasonView[];
  /** The newest first. */
  requests: RefusedRequestView[];
  /** The cursor of the next page; null at the end. */
  next: string | null;
}

/** Its route is spelled as in the API reference. */
export const refusedRequestView = ({
  refusedAt,
  route,
  applicationId,
  applicationName,
  ...request
}: ListedRefusedRequest) => ({
  ...request,
  ...explanationOf(request),
  at: refusedAt,
  route: route.replaceAll(/:(\w+)/g, '{$1}'),
  application: { id: applicationId, name: applicationName },
});

export const REFUSED_REQUEST_COLUMNS: CsvColumns<ReturnType<typeof refusedRequestView>> = {
  request_id: ({ requestId }) => requestId,
  at: ({ at }) => at,
  route: ({ route }) => route,
  status: ({ status }) => status,
  code: ({ code }) => code,
  detail: ({ detail }) => detail,
  fields: ({ fields }) => fields.join(' '),
  count: ({ count }) => count,
  application: ({ application }) => application.name,
  key_hint: ({ keyHint }) => keyHint,
};
