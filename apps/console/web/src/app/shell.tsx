import { Anchor, AppShell, Burger, Group, ScrollArea, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Notifications } from '@mantine/notifications';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, Outlet, useLocation, useMatch } from 'react-router';
import { ConfirmIdentity } from '../features/auth/confirmIdentity.js';
import { MissingPart } from '../components/states.js';
import { LiveHoldBanner } from '../features/holds/liveHoldBanner.js';
import { DeletionBanner } from '../features/team/deletionBanner.js';
import { Search } from '../features/search/search.js';
import { Help } from './help.js';
import { Navigation } from './navigation.js';
import { OutageInTab } from './outage.js';
import { SignedIn, useSession } from './session.js';
import { TwoFactorNotice, TwoFactorRequired } from './twoFactorNotice.js';
import { UnknownPage } from './unknownPage.js';
import { UserMenu } from './userMenu.js';

/** Every page of signed-in users: header with the user menu, navigation, and the page itself. */
export function Shell() {
  return (
    <SignedIn>
      <Notifications position="top-right" />
      <Layout />
    </SignedIn>
  );
}

function Layout() {
  const { t } = useTranslation();
  const [opened, { toggle, close }] = useDisclosure();
  const { pathname } = useLocation();
  const { accounts, user, needsTwoFactor } = useSession();
  const account = useMatch('/accounts/:account/*')?.params.account;
  useEffect(close, [pathname, close]);

  const target = useMatch('/staff/accounts/:target/*')?.params.target;
  const member = accounts.find((one) => one.id === account);
  const isMember = account === undefined || member !== undefined;
  const isStaffPage = pathname.startsWith('/staff');
  // Staff search everything, except on the pages of their own account.
  const searched = (isMember ? account : undefined) ?? (user.staff === null ? accounts[0]?.id : undefined);
  const mayOperate = !isStaffPage || user.staff !== null;
  const needsSetup = isStaffPage && needsTwoFactor && !user.showedBothFactors;
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 256, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding="lg"
    >
      <AppShell.Header>
        <Anchor href="#content" className="skip">
          {t('nav.skip')}
        </Anchor>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger
              opened={opened}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={t('nav.open')}
              aria-expanded={opened}
            />
            <Anchor component={Link} to="/" underline="never" c="inherit">
              <Group gap={8} wrap="nowrap">
                <img src="/icon.svg" width={24} height={24} alt="" />
                <Text size="md" fw={700}>
                  {t('brand')}
                </Text>
              </Group>
            </Anchor>
          </Group>
          <Group gap="xs" wrap="nowrap">
            <TwoFactorNotice />
            {(searched !== undefined || user.staff !== null) && <Search account={searched} />}
            <Help />
            <UserMenu />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar>
        <AppShell.Section grow component={ScrollArea} p="sm">
          <Navigation account={isMember ? account : undefined} />
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1}>
        <div className="content">
          {needsSetup ? (
            <TwoFactorRequired />
          ) : (
            <ConfirmIdentity>
              {mayOperate && isStaffPage && (
                <>
                  <OutageInTab />
                  <LiveHoldBanner />
                </>
              )}
              {member !== undefined && (
                <DeletionBanner
                  path={`/accounts/${member.id}`}
                  name={member.role === 'admin' ? member.name : null}
                />
              )}
              {target !== undefined && mayOperate && (
                <DeletionBanner path={`/staff/accounts/${target}`} name={null} />
              )}
              <MissingPart />
              {isMember && mayOperate ? <Outlet key={account} /> : <UnknownPage />}
            </ConfirmIdentity>
          )}
        </div>
      </AppShell.Main>
    </AppShell>
  );
}
