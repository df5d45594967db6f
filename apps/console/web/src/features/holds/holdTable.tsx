import { Anchor, Text, useMatches } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { HoldView } from '../../../../src/features/holds/view.js';
import { useMayStop } from '../../app/session.js';
import { useCountryName } from '../../hooks/countries.js';
import { useNumbers } from '../../hooks/formats.js';
import { DataTable } from '../../components/dataTable.js';
import { Time } from '../../components/times.js';
import { ReleaseButton } from './holdChange.js';

/** Countries and accounts on hold, oldest first. */
export function HoldTable({ holds, isCapped }: { holds: readonly HoldView[]; isCapped: boolean }) {
  const { t } = useTranslation('holds');
  const { whole } = useNumbers();
  const mayStop = useMayStop();
  const isNarrow = useMatches({ base: true, sm: false });
  return (
    <DataTable
      label={t('others')}
      minWidth={300}
      rows={holds}
      keyOf={({ kind, target }) => `${kind} ${target}`}
      columns={[
        {
          title: t('columns.what'),
          render: (hold) => (
            <>
              <Target hold={hold} />
              <Text size="xs" c="dimmed">
                {t(`kinds.${hold.kind}`)}
              </Text>
              {isNarrow && <Reason hold={hold} />}
            </>
          ),
        },
        !isNarrow && { title: t('columns.reason'), render: (hold) => <Reason hold={hold} /> },
        { title: t('columns.since'), visibleFrom: 'sm', render: ({ since }) => <Time at={since} /> },
        {
          title: t('columns.waiting'),
          ta: 'right',
          render: ({ waiting }) => `${whole(waiting)}${isCapped ? '+' : ''}`,
        },
        mayStop && {
          title: t('release.button'),
          isTitleHidden: true,
          ta: 'right',
          render: (hold) => <ReleaseButton hold={hold} />,
        },
      ]}
    />
  );
}

function Reason({ hold: { reason, setBy } }: { hold: HoldView }) {
  return (
    <>
      <Text size="sm">{reason}</Text>
      <Text size="xs" c="dimmed">
        {setBy}
      </Text>
    </>
  );
}

function Target({ hold: { kind, target, accountName } }: { hold: HoldView }) {
  const nameOf = useCountryName();
  if (kind === 'country') return <Text size="sm">{nameOf(target)}</Text>;
  return (
    <Anchor component={Link} to={`/staff/accounts/${target}`} size="sm">
      {accountName ?? target}
    </Anchor>
  );
}
