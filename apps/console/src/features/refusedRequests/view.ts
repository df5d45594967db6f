import { LIMIT_REFUSALS, RECIPIENT_REFUSALS, type LimitCause, type RecipientCause } from '@onecode/domain';
import type { ListedRefusedRequest, RefusalReason } from '@onecode/store/reports';
import type { CsvColumns } from '../../http/csv.js';
import type { Json } from '../../http/json.js';

type Cause = LimitCause | RecipientCause;
type Defence = 'countries' | 'premium_rate' | 'breaker' | 'ceilings' | 'limits' | 'recipients';

/** The section of the Protection page where the account's members can change what refused a request. */
const DEFENCES: Readonly<Partial<Record<Cause, Defence>>> = {
  country: 'countries',
  trial_country: 'countries',
  range: 'premium_rate',
  breaker: 'breaker',
  day_ceiling: 'ceilings',
  month_ceiling: 'ceilings',
  application_rate: 'limits',
  recipient_rate: 'limits',
  wrong_guesses: 'recipients',
};

const CAUSES = Object.entries({ ...LIMIT_REFUSALS, ...RECIPIENT_REFUSALS }) as [Cause, string][];

/** `text` is the key of the translation of the API's reason; `defence` is null if the account's members cannot change it. */
const explanationOf = ({ code, detail }: { code: string; detail: string }) => {
  const [cause] = CAUSES.find(([, text]) => text === detail) ?? [];
  return { text: cause ?? code, defence: (cause && DEFENCES[cause]) ?? null };
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
