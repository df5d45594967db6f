import { Anchor, Table, Text, useMatches } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { HoldView } from '../../../../src/features/holds/view.js';
import { useMayOperate } from '../../app/session.js';
import { useCountryName } from '../../hooks/countries.js';
import { useNumbers } from '../../hooks/formats.js';
import { Time } from '../../components/times.js';
import { ReleaseButton } from './holdChange.js';

/** Countries and accounts on hold, oldest first. */
export function HoldTable({ holds, isCapped }: { holds: readonly HoldView[]; isCapped: boolean }) {
  const { t } = useTranslation('holds');
  const { whole } = useNumbers();
  const mayOperate = useMayOperate();
  const isNarrow = useMatches({ base: true, sm: false });
  return (
    <Table.ScrollContainer minWidth={300}>
      <Table verticalSpacing="xs" aria-label={t('others')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('columns.what')}</Table.Th>
            {!isNarrow && <Table.Th>{t('columns.reason')}</Table.Th>}
            <Table.Th visibleFrom="sm">{t('columns.since')}</Table.Th>
            <Table.Th ta="right">{t('columns.waiting')}</Table.Th>
            {mayOperate && <Table.Th aria-label={t('release.button')} />}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {holds.map((hold) => (
            <Table.Tr key={`${hold.kind} ${hold.target}`}>
              <Table.Td>
                <Target hold={hold} />
                <Text size="xs" c="dimmed">
                  {t(`kinds.${hold.kind}`)}
                </Text>
                {isNarrow && <Reason hold={hold} />}
              </Table.Td>
              {!isNarrow && (
                <Table.Td>
                  <Reason hold={hold} />
                </Table.Td>
              )}
              <Table.Td visibleFrom="sm">
                <Time at={hold.since} />
              </Table.Td>
              <Table.Td ta="right">{`${whole(hold.waiting)}${isCapped ? '+' : ''}`}</Table.Td>
              {mayOperate && (
                <Table.Td ta="right">
                  <ReleaseButton hold={hold} />
                </Table.Td>
              )}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
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
