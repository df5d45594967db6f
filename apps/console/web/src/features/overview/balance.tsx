import { Alert, Anchor, Group, Paper, Text } from '@mantine/core';
import { IconAlertTriangle, IconInfoCircle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { BalanceView, TrialView } from '../../../../src/features/ledger/view.js';
import { useAside } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { useCountryName } from '../../hooks/countries.js';
import { useNumbers } from '../../hooks/formats.js';

const REFRESH_MS = 15_000;
/** A balance below this many units always shows a hint. */
const LOW_BALANCE = 5;

/**
 * The balance of an account, the countries of its trial, and a hint when the balance is low or zero.
 *
 * @param livePerDay the units used per day; a balance below that is low
 */
export function OverviewBalance({ livePerDay }: { livePerDay: number }) {
  const { t, i18n } = useTranslation('overview');
  const nameOf = useCountryName();
  const { whole } = useNumbers();
  const account = useAccount();
  const data = useAside<BalanceView>(`${account.path}/balance`, { refreshMs: REFRESH_MS });
  const trial = useAside<TrialView>(`${account.path}/trial`);
  if (data === undefined) return null;
  const { freeQuota, credits } = data;
  const trialCountries = trial?.countries ?? null;
  const left = freeQuota + credits;
  return (
    <>
      <Paper withBorder px="md" py="sm" component="section" aria-label={t('balance.label')}>
        <Group justify="space-between" gap="xs">
          <Group gap="lg">
            <Text c="dimmed" fw={550}>
              {t('balance.label')}
            </Text>
            <Text fw={650} className="tabular">
              {t('balance.free', { count: freeQuota, formatted: whole(freeQuota) })}
            </Text>
            <Text fw={650} className="tabular">
              {t('balance.credits', { count: credits, formatted: whole(credits) })}
            </Text>
          </Group>
          <Anchor component={Link} to={`${account.path}/ledger`}>
            {t('balance.ledger')}
          </Anchor>
        </Group>
      </Paper>
      {trialCountries !== null && (
        <Alert variant="light" icon={<IconInfoCircle size={18} />} title={t('trial.title')}>
          {t('trial.text', {
            countries: new Intl.ListFormat(i18n.language).format(trialCountries.map(nameOf)),
          })}
        </Alert>
      )}
      {left < Math.max(LOW_BALANCE, livePerDay) && (
        <Alert
          variant="light"
          color={left <= 0 ? 'red' : 'yellow'}
          icon={<IconAlertTriangle size={18} />}
          role="status"
        >
          {t(left <= 0 ? 'balance.zero' : 'balance.low')}
        </Alert>
      )}
    </>
  );
}
