import { Anchor, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { ApplicationView } from '../../../../src/features/applications/view.js';
import type { ProtectionView } from '../../../../src/features/protection/view.js';
import { useAside, useData } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { DataTable } from '../../components/dataTable.js';
import { Page, Section } from '../../components/page.js';
import { Loaded } from '../../components/states.js';
import { useNumbers } from '../../hooks/formats.js';
import { ProtectionSections } from './protectionSections.js';

/** The protection of an account from abuse: its members see it, and its admins change it. */
export function Protection() {
  const { t } = useTranslation(['protection', 'common']);
  const { path, mayManage } = useAccount();
  return (
    <Page title={t('common:nav.protection')} description={t(mayManage ? 'description' : 'readOnly')}>
      <ProtectionSections path={path} mayChange={mayManage} />
      <Limits path={path} />
    </Page>
  );
}

/** The limits of each application, which its page changes. */
function Limits({ path }: { path: string }) {
  const { t } = useTranslation(['protection', 'common']);
  const { whole } = useNumbers();
  const data = useAside<ProtectionView>(`${path}/protection`);
  const limit = (value: number | null): string => (value === null ? t('limits.off') : whole(value));
  return (
    <Section
      id="limits"
      title={t('limits.title')}
      description={`${t('limits.what')} ${data === undefined ? '' : t('limits.account', { rate: whole(data.ratePerMinute) })}`}
    >
      <Loaded read={useData<{ applications: ApplicationView[] }>(`${path}/applications`)}>
        {({ applications }) => (
          <DataTable
            empty={<Text c="dimmed">{t('limits.none')}</Text>}
            label={t('limits.title')}
            minWidth={300}
            rows={applications}
            getRowKey={({ id }) => id}
            columns={[
              {
                title: t('common:words.application'),
                render: ({ id, name }) => (
                  <Anchor component={Link} to={`${path}/applications/${id}`}>
                    {name}
                  </Anchor>
                ),
              },
              ...(['perMinute', 'perRecipientHour'] as const).map((name) => ({
                title: t(`limits.columns.${name}`),
                ta: 'right' as const,
                render: ({ limits }: ApplicationView) => limit(limits[name]),
              })),
            ]}
          />
        )}
      </Loaded>
    </Section>
  );
}
