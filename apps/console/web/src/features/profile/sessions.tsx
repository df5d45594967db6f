import { Badge, Button, Group } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { UserSessionView } from '../../../../src/features/profile/view.js';
import { useData } from '../../api/queries.js';
import { DataTable } from '../../components/dataTable.js';
import { Section } from '../../components/page.js';
import { Failure, Loaded } from '../../components/states.js';
import { Time } from '../../components/times.js';
import { remove, useChange } from '../../hooks/change.js';
import { useAddresses } from '../../hooks/formats.js';

export function Sessions() {
  const { t } = useTranslation('profile');
  const read = useData<{ sessions: UserSessionView[] }>('/profile/sessions');
  const end = useChange(['/profile/sessions'], { done: t('sessions.ended') });
  return (
    <Section
      title={t('sessions.title')}
      description={t('sessions.description')}
      actions={
        <Button
          size="xs"
          variant="default"
          onClick={() => end.mutate(remove('/profile/sessions'))}
          loading={end.isPending}
          disabled={(read.data?.sessions.length ?? 0) < 2}
        >
          {t('sessions.endOthers')}
        </Button>
      }
    >
      {end.error !== null && <Failure problem={end.error} />}
      <Loaded read={read}>{({ sessions }) => <SessionTable sessions={sessions} />}</Loaded>
    </Section>
  );
}

function SessionTable({ sessions }: { sessions: readonly UserSessionView[] }) {
  const { t } = useTranslation(['profile', 'common']);
  const addressText = useAddresses();
  return (
    <DataTable
      label={t('sessions.title')}
      verticalSpacing="sm"
      rows={sessions}
      getRowKey={({ id }) => id}
      columns={[
        {
          title: t('sessions.columns.device'),
          render: ({ userAgent, isCurrent }) => {
            const browser = browserOf(userAgent ?? '');
            return (
              <Group gap="xs">
                {browser === null ? t('sessions.unknown') : t('sessions.device', browser)}
                {isCurrent && <Badge>{t('sessions.current')}</Badge>}
              </Group>
            );
          },
        },
        {
          title: t('sessions.columns.address'),
          visibleFrom: 'sm',
          render: ({ clientAddress }) =>
            clientAddress === null ? t('sessions.unknown') : addressText(clientAddress),
        },
        {
          title: t('sessions.columns.begun'),
          visibleFrom: 'md',
          render: ({ createdAt }) => <Time at={createdAt} />,
        },
        { title: t('common:words.lastUsed'), render: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
      ]}
    />
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
export function browserOf(userAgent: string): { browser: string; system: string } | null {
  const browser = BROWSERS.find(([, pattern]) => pattern.test(userAgent))?.[0];
  const system = SYSTEMS.find(([, pattern]) => pattern.test(userAgent))?.[0];
  return browser === undefined || system === undefined ? null : { browser, system };
}
