import { Anchor, Stack, Text } from '@mantine/core';
import { useCallback, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useNavigate } from 'react-router';
import type { SendView } from '../../../../src/features/sends/view.js';
import { useAccount } from '../../app/session.js';
import { ModeBadge, StatusBadge, VerificationBadge } from '../../components/badges.js';
import { Small } from '../../components/facts.js';
import { type Column, DataTable } from '../../components/dataTable.js';
import { NO_COUNTRY, useCountryName } from '../../hooks/countries.js';
import { Time } from '../../components/times.js';

/**
 * Sends, newest first; each opens its page. On a phone the states share a column. Columns with the same value in every row are left out.
 *
 * @param withMode whether the sends are of both modes
 */
export function SendTable({ sends, withMode }: { sends: readonly SendView[]; withMode: boolean }) {
  const { t } = useTranslation(['sends', 'common']);
  const { sendsPath } = useAccount();
  const navigate = useNavigate();
  const countryName = useCountryName();
  const differ = (of: (send: SendView) => unknown): boolean => new Set(sends.map(of)).size > 1;
  const differInApplication = differ(({ application }) => application.id);
  const differInCountry = differ(({ country }) => country);
  const haveFailed = sends.some(({ failureReason }) => failureReason !== null);
  const haveCodes = sends.some(({ status }) => status !== 'failed');
  // Keyboards and screen readers use the link; a pointer may click anywhere in the row.
  const propsOf = useCallback(
    ({ id }: SendView) => ({
      onClick: () => void navigate(`${sendsPath}/${id}`),
      style: { cursor: 'pointer' },
    }),
    [navigate, sendsPath],
  );
  const columns = useMemo<(Column<SendView> | false)[]>(
    () => [
      {
        title: t('common:words.time'),
        visibleFrom: 'sm',
        render: ({ createdAt }) => <Time at={createdAt} seconds />,
      },
      {
        title: t('common:words.recipient'),
        render: (send) => (
          <Stack gap={2}>
            <Anchor
              component={Link}
              to={`${sendsPath}/${send.id}`}
              fw={550}
              className="tabular"
              onClick={(event) => event.stopPropagation()}
              style={{ whiteSpace: 'nowrap' }}
            >
              {send.recipient}
            </Anchor>
            <Small hiddenFrom="sm">
              <Time at={send.createdAt} seconds />
            </Small>
          </Stack>
        ),
      },
      {
        title: t('columns.status'),
        render: (send) => (
          <Stack gap={4} align="flex-start">
            <StatusBadge status={send.status} />
            <Text size="xs" hiddenFrom="sm" component="div">
              {send.failureReason === null ? <Code send={send} /> : t(`reasons.${send.failureReason}`)}
            </Text>
          </Stack>
        ),
      },
      haveFailed && {
        title: t('common:reason.label'),
        visibleFrom: 'sm',
        render: ({ failureReason }) => failureReason !== null && t(`reasons.${failureReason}`),
      },
      haveCodes && {
        title: t('columns.verification'),
        visibleFrom: 'sm',
        render: (send) => <Code send={send} />,
      },
      differInApplication && {
        title: t('common:words.application'),
        visibleFrom: 'sm',
        render: ({ application }) => (
          <Text truncate maw={200}>
            {application.name}
          </Text>
        ),
      },
      withMode && {
        title: t('common:words.mode'),
        visibleFrom: 'md',
        render: ({ mode }) => <ModeBadge mode={mode} />,
      },
      differInCountry && {
        title: t('common:words.country'),
        visibleFrom: 'lg',
        render: ({ country }) => (country === NO_COUNTRY ? '–' : countryName(country)),
      },
    ],
    [t, sendsPath, countryName, withMode, haveFailed, haveCodes, differInApplication, differInCountry],
  );
  return (
    <DataTable
      label={t('caption')}
      highlightOnHover
      rows={sends}
      getRowKey={({ id }) => id}
      propsOf={propsOf}
      columns={columns}
    />
  );
}

/** The code of a send; renders nothing if its delivery failed and the code no longer matters. */
function Code({ send: { status, verification } }: { send: SendView }) {
  const isOver = status === 'failed' && verification !== 'verified' && verification !== 'locked';
  return isOver ? null : <VerificationBadge verification={verification} />;
}
