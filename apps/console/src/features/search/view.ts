import type { Found } from '@onecode/store/reports';
import type { Json } from '../../http/json.js';

/** A search result. */
export type FoundView =
  | Json<Found>
  | { kind: 'account'; id: string; name: string; email: string | null }
  | { kind: 'sender'; id: string; number: string };

export interface SearchView {
  found: FoundView[];
}
