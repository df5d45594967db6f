import type { ComponentType } from 'react';
import { createBrowserRouter, type RouteObject } from 'react-router';
import { Home } from './home.js';
import { Shell } from './shell.js';
import { SignedIn } from './session.js';
import { UnknownPage } from './unknownPage.js';

type PageModule = Record<string, unknown>;

/** A page that is loaded when it is first opened. */
function page<M extends PageModule>(
  path: string,
  load: () => Promise<M>,
  name: keyof M & string,
): RouteObject {
  return { path, lazy: async () => ({ Component: (await load())[name] as ComponentType }) };
}

/** Every page and its address. Pages of an account name it in their address, so that a link says all. */
export const router = createBrowserRouter([
  {
    ErrorBoundary: UnknownPage,
    HydrateFallback: () => null,
    children: [
      page('/sign-in', () => import('../pages/entry/signIn.js'), 'SignIn'),
      page('/sign-up', () => import('../pages/entry/signUp.js'), 'SignUp'),
      page('/invitation', () => import('../pages/entry/invitation.js'), 'AcceptInvitation'),
      {
        Component: () => (
          <SignedIn>
            <Shell />
          </SignedIn>
        ),
        children: [
          { path: '/', Component: Home },
          page('/profile', () => import('../pages/profile/profile.js'), 'Profile'),
          {
            path: '/accounts/:account',
            children: [
              page('overview', () => import('../pages/account/overview.js'), 'Overview'),
              page('sends', () => import('../pages/account/sends.js'), 'Sends'),
              page('sends/:send', () => import('../pages/account/sendDetails.js'), 'SendDetails'),
              page('applications', () => import('../pages/account/applications.js'), 'Applications'),
              page(
                'applications/:application',
                () => import('../pages/account/applicationDetails.js'),
                'ApplicationDetails',
              ),
              page('recipients', () => import('../pages/account/recipients.js'), 'Recipients'),
              page('ledger', () => import('../pages/account/ledger.js'), 'Ledger'),
              page('team', () => import('../pages/account/team.js'), 'Team'),
            ],
          },
          {
            path: '/operations',
            children: [
              page('health', () => import('../pages/staff/health.js'), 'Health'),
              page('accounts', () => import('../pages/staff/accounts.js'), 'Accounts'),
              page('accounts/:target', () => import('../pages/staff/accountDetails.js'), 'AccountDetails'),
              page('sends/:send', () => import('../pages/staff/sendDetails.js'), 'StaffSendDetails'),
              page('senders', () => import('../pages/staff/senders.js'), 'Senders'),
              page('switches', () => import('../pages/staff/switches.js'), 'Switches'),
              page('settings', () => import('../pages/staff/settings.js'), 'Settings'),
              page('audit', () => import('../pages/staff/audit.js'), 'Audit'),
            ],
          },
        ],
      },
      { path: '*', Component: UnknownPage },
    ],
  },
]);
