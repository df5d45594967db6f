import type { AccountDetails, FoundAccount } from '@onecode/store/reports';
import type { Json } from '../../http/json.js';
import { applicationView } from '../applications/view.js';

/** An account in the staff's list. */
export type StaffAccountView = Json<FoundAccount>;

export interface StaffAccountsView {
  accounts: StaffAccountView[];
  /** The cursor of the next page. */
  next: string | null;
}

/** An account and its details. `ProtectionView` also has the use of its limits. */
export type StaffAccountDetailsView = Json<ReturnType<typeof staffAccountDetailsView>>;

export const staffAccountDetailsView = (account: AccountDetails) => ({
  ...account,
  applications: account.applications.map(applicationView),
});

export interface DeletionView {
  /** When the account will be deleted; null if no deletion is scheduled. */
  at: string | null;
}
