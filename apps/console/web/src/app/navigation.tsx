import { NavLink, Select, Stack } from '@mantine/core';
import {
  IconActivityHeartbeat,
  IconApps,
  IconBuilding,
  IconChartLine,
  IconCoins,
  IconCircleX,
  IconDeviceMobileMessage,
  IconHandStop,
  IconHistory,
  IconReceipt,
  IconSend,
  IconSettings,
  IconShieldCheck,
  IconUserCog,
  IconUserOff,
  IconUserSearch,
  IconUsers,
  IconWebhook,
} from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Link, useLocation, useNavigate } from 'react-router';
import { useSession } from './session.js';
import { Small } from '../components/facts.js';

const ACCOUNT_PAGES = [
  ['overview', IconChartLine],
  ['sends', IconSend],
  ['requests', IconCircleX],
  ['applications', IconApps],
  ['protection', IconShieldCheck],
  ['recipients', IconUserOff],
  ['personal-data', IconUserSearch],
  ['ledger', IconReceipt],
  ['webhook', IconWebhook],
  ['team', IconUsers],
  ['senders', IconDeviceMobileMessage],
  ['audit', IconHistory],
] as const;

/** For admins only. */
const ADMIN_PAGES: ReadonlySet<string> = new Set(['personal-data', 'senders', 'audit']);

const STAFF_PAGES = [
  ['health', IconActivityHeartbeat],
  ['accounts', IconBuilding],
  ['users', IconUserCog],
  ['senders', IconDeviceMobileMessage],
  ['holds', IconHandStop],
  ['costs', IconCoins],
  ['settings', IconSettings],
  ['audit', IconHistory],
] as const;

/** Links to the pages that the user may open; `account` is the id in the URL. */
export function Navigation({ account }: { account: string | undefined }) {
  const { t } = useTranslation();
  const { accounts, user } = useSession();
  const shown = account ?? accounts[0]?.id;
  const mayManage = accounts.some(({ id, role }) => id === shown && role === 'admin');
  return (
    <Stack component="nav" gap={2} aria-label={t('nav.main')}>
      {accounts.length > 1 && <AccountSwitch value={shown} />}
      {shown !== undefined && (
        <>
          {accounts.length === 1 && <Heading text={accounts[0]?.name ?? ''} />}
          {ACCOUNT_PAGES.filter(([name]) => !ADMIN_PAGES.has(name) || mayManage).map(([name, icon]) => (
            <Item key={name} to={`/accounts/${shown}/${name}`} label={t(`nav.${name}`)} icon={icon} />
          ))}
        </>
      )}
      {user.staff !== null && (
        <>
          <Heading text={t('nav.staff')} />
          {STAFF_PAGES.map(([name, icon]) => (
            <Item key={name} to={`/staff/${name}`} label={t(`nav.${name}`)} icon={icon} />
          ))}
        </>
      )}
    </Stack>
  );
}

function Heading({ text }: { text: string }) {
  return (
    <Small fw={600} px="sm" pt="sm" pb={4} truncate>
      {text}
    </Small>
  );
}

function Item({ to, label, icon: Icon }: { to: string; label: string; icon: typeof IconSend }) {
  const { pathname } = useLocation();
  const active = pathname === to || pathname.startsWith(`${to}/`);
  return (
    <NavLink
      component={Link}
      to={to}
      label={label}
      active={active}
      aria-current={active ? 'page' : undefined}
      leftSection={<Icon size={18} stroke={1.6} />}
      className="nav"
    />
  );
}

function AccountSwitch({ value }: { value: string | undefined }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { accounts } = useSession();
  return (
    <Select
      aria-label={t('nav.switch')}
      data={accounts.map(({ id, name }) => ({ value: id, label: name }))}
      value={value ?? null}
      onChange={(id) => id !== null && void navigate(`/accounts/${id}/overview`)}
      searchable
      allowDeselect={false}
      mb="xs"
    />
  );
}
