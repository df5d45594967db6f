import type { ComponentType } from 'react';
import { createBrowserRouter, type RouteObject } from 'react-router';
import { readSession } from '../api/auth.js';
import { queryClient } from '../api/queries.js';
import { loadTexts } from './i18n.js';
import { skipToSignIn } from './skipToSignIn.js';
import { UnknownPage } from './unknownPage.js';
import { SignIn } from '../features/auth/signIn.js';

type PageModule = Record<string, unknown>;

/** A route that loads its code when it is first opened, with the texts of all pages. */
function page<M extends PageModule>(
  path: string,
  load: () => Promise<M>,
  name: keyof M & string,
): RouteObject {
  return {
    path,
    lazy: async () => {
      const [module] = await Promise.all([load(), loadTexts()]);
      return { Component: module[name] as ComponentType };
    },
  };
}

/** The pages of an account that staff read too. @param account its path below theirs */
const readPages = (account: string): RouteObject[] => [
  page(`${account}overview`, () => import('../features/overview/overview.js'), 'Overview'),
  page(`${account}sends`, () => import('../features/sends/sends.js'), 'Sends'),
  page(
    `${account}requests`,
    () => import('../features/refusedRequests/refusedRequests.js'),
    'RefusedRequests',
  ),
  page(`${account}ledger`, () => import('../features/ledger/ledger.js'), 'Ledger'),
  page(`${account}statement`, () => import('../features/ledger/statement.js'), 'Statement'),
];

skipToSignIn();

/** Every page and its URL. Pages of an account carry its id in the URL, so that links can be shared. */
export const router = createBrowserRouter([
  {
    ErrorBoundary: UnknownPage,
    HydrateFallback: () => null,
    children: [
      { path: '/sign-in', Component: SignIn },
      page('/sign-up', () => import('../features/auth/signUp.js'), 'SignUp'),
      page('/forgot-password', () => import('../features/auth/forgottenPassword.js'), 'ForgottenPassword'),
      page('/reset-password', () => import('../features/auth/resetPassword.js'), 'ResetPassword'),
      page('/confirm-sign-up', () => import('../features/auth/confirmSignUp.js'), 'ConfirmSignUp'),
      page('/confirm-address', () => import('../features/auth/confirmAddress.js'), 'ConfirmAddress'),
      page('/invitation', () => import('../features/auth/invitation.js'), 'AcceptInvitation'),
      {
        lazy: async () => {
          // Starts the read now, in parallel with the code of the page. The page reports a failure.
          void readSession(queryClient).catch(() => {});
          return { Component: (await import('./shell.js')).Shell };
        },
        children: [
          page('/', () => import('./home.js'), 'Home'),
          page('/profile', () => import('../features/profile/profile.js'), 'Profile'),
          {
            path: '/accounts/:account',
            children: [
              ...readPages(''),
              page('start', () => import('../features/start/start.js'), 'Start'),
              page('sends/:send', () => import('../features/sends/sendDetails.js'), 'SendDetails'),
              page('applications', () => import('../features/applications/applications.js'), 'Applications'),
              page(
                'applications/:application',
                () => import('../features/applications/applicationDetails.js'),
                'ApplicationDetails',
              ),
              page(
                'applications/:application/tryout',
                () => import('../features/tryout/tryout.js'),
                'Tryout',
              ),
              page('protection', () => import('../features/protection/protection.js'), 'Protection'),
              page('recipients', () => import('../features/recipients/recipients.js'), 'Recipients'),
              page('personal-data', () => import('../features/recipients/personalData.js'), 'PersonalData'),
              page('webhook', () => import('../features/webhook/webhook.js'), 'WebhookPage'),
              page('audit', () => import('../features/audit/audit.js'), 'AccountAudit'),
              page('team', () => import('../features/team/team.js'), 'Team'),
              page('senders', () => import('../features/senders/senders.js'), 'Senders'),
              page('senders/new', () => import('../features/senders/addSender.js'), 'AddSender'),
              page('senders/:sender', () => import('../features/senders/senderPage.js'), 'SenderPage'),
            ],
          },
          {
            path: '/staff',
            children: [
              page('health', () => import('../features/health/health.js'), 'Health'),
              page('runbooks', () => import('../features/health/runbooks.js'), 'Runbooks'),
              page('accounts', () => import('../features/accounts/accounts.js'), 'Accounts'),
              page(
                'accounts/:target',
                () => import('../features/accounts/accountDetails.js'),
                'AccountDetails',
              ),
              page('users', () => import('../features/users/users.js'), 'Users'),
              page('users/:user', () => import('../features/users/userDetails.js'), 'UserDetails'),
              ...readPages('accounts/:target/'),
              page('sends/:send', () => import('../features/sends/sendDetails.js'), 'StaffSendDetails'),
              page('senders', () => import('../features/senders/senders.js'), 'Senders'),
              page('senders/new', () => import('../features/senders/addSender.js'), 'AddSender'),
              page('senders/:sender', () => import('../features/senders/senderPage.js'), 'SenderPage'),
              page('holds', () => import('../features/holds/holds.js'), 'Holds'),
              page('costs', () => import('../features/costs/costs.js'), 'Costs'),
              page('settings', () => import('../features/settings/settings.js'), 'Settings'),
              page('audit', () => import('../features/audit/audit.js'), 'Audit'),
            ],
          },
        ],
      },
      { path: '*', Component: UnknownPage },
    ],
  },
]);
