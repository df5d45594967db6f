import { Badge, Button, Group, Table } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useTranslation } from 'react-i18next';
import type { UserSessionView } from '../../../../src/features/profile/view.js';
import { useChange, useData } from '../../api/queries.js';
import { Section } from '../../components/page.js';
import { Failure, Loading } from '../../components/states.js';
import { Time } from '../../components/times.js';

/** The active sessions of the user. */
export function Sessions() {
  const { t } = useTranslation('profile');
  const { data, error, refetch } = useData<{ sessions: UserSessionView[] }>('/profile/sessions');
  const end = useChange('/profile/sessions');
  const endOthers = (): void =>
    end.mutate(
      { method: 'DELETE', path: '/profile/sessions' },
      { onSuccess: () => notifications.show({ message: t('sessions.ended') }) },
    );
  return (
    <Section
      title={t('sessions.title')}
      description={t('sessions.description')}
      actions={
        <Button
          size="xs"
          variant="default"
          onClick={endOthers}
          loading={end.isPending}
          disabled={(data?.sessions.length ?? 0) < 2}
        >
          {t('sessions.endOthers')}
        </Button>
      }
    >
      {end.error !== null && <Failure problem={end.error} />}
      {data === undefined &&
        (error === null ? <Loading /> : <Failure problem={error} onRetry={() => void refetch()} />)}
      {data !== undefined && <SessionTable sessions={data.sessions} />}
    </Section>
  );
}

function SessionTable({ sessions }: { sessions: readonly UserSessionView[] }) {
  const { t } = useTranslation('profile');
  return (
    <Table.ScrollContainer minWidth={320}>
      <Table verticalSpacing="sm" aria-label={t('sessions.title')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('sessions.columns.device')}</Table.Th>
            <Table.Th visibleFrom="sm">{t('sessions.columns.address')}</Table.Th>
            <Table.Th visibleFrom="md">{t('sessions.columns.begun')}</Table.Th>
            <Table.Th>{t('sessions.columns.used')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {sessions.map(({ id, isCurrent, clientAddress, userAgent, createdAt, lastUsedAt }) => {
            const browser = browserOf(userAgent ?? '');
            return (
              <Table.Tr key={id}>
                <Table.Td>
                  <Group gap="xs">
                    {browser === null ? t('sessions.unknown') : t('sessions.device', browser)}
                    {isCurrent && <Badge>{t('sessions.current')}</Badge>}
                  </Group>
                </Table.Td>
                <Table.Td visibleFrom="sm">{clientAddress ?? t('sessions.unknown')}</Table.Td>
                <Table.Td visibleFrom="md">
                  <Time at={createdAt} />
                </Table.Td>
                <Table.Td>
                  <Time at={lastUsedAt} />
                </Table.Td>
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

/** The order matters: most browsers also claim to be others. */
const BROWSERS = [
  ['Edge', /\bEdg(?:e|A|iOS)?\//],
  ['Opera', /\bOPR\//],
  ['Samsung Internet', /\bSamsungBrowser\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /\b(?:Headless)?(?:Chrome|CriOS)\//],
  ['Safari', /\bSafari\//],
] as const;
const SYSTEMS = [
  ['Android', /\bAndroid\b/],
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['macOS', /\bMac OS X\b/],
  ['Windows', /\bWindows\b/],
  ['Linux', /\bLinux\b/],
] as const;

/** The names of browser and system in a `User-Agent` header, or null. */
function browserOf(userAgent: string): { browser: string; system: string } | null {
  const browser = BROWSERS.find(([, pattern]) => pattern.test(userAgent))?.[0];
  const system = SYSTEMS.find(([, pattern]) => pattern.test(userAgent))?.[0];
  return browser === undefined || system === undefined ? null : { browser, system };
}
