import { Anchor, Group, Stack, Text, useMatches } from '@mantine/core';
import { type ReactNode, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { AuditEntryView, AuditPageView } from '../../../../src/features/audit/view.js';
import { usePages } from '../../api/queries.js';
import { useAuditTexts } from './auditTexts.js';
import { type Column, DataTable } from '../../components/dataTable.js';
import { Small } from '../../components/facts.js';
import { Loaded, LoadMore } from '../../components/states.js';
import { Time } from '../../components/times.js';

const onTop = () => ({ className: 'breaks-words', style: { verticalAlign: 'top' } }) as const;

/** Entries of the audit log, newest first, page by page. */
export function AuditTable({
  path,
  isForStaff = true,
  withAccount = false,
  empty,
}: {
  path: string;
  isForStaff?: boolean;
  withAccount?: boolean;
  /** Shown when there is no entry. */
  empty: string;
}) {
  const { t } = useTranslation('audit');
  const isNarrow = useMatches({ base: true, sm: false });
  const list = usePages<AuditPageView>(path);
  const columns = useMemo<(Column<AuditEntryView> | false)[]>(
    () => [
      {
        title: t('columns.at'),
        w: isNarrow ? 130 : 230,
        render: (entry) => <When entry={entry} isNarrow={isNarrow} />,
      },
      {
        title: t('columns.what'),
        // On a phone, the changes are below the action.
        render: (entry) => (
          <>
            <What entry={entry} withAccount={withAccount} isForStaff={isForStaff} />
            {isNarrow && <Changes entry={entry} />}
          </>
        ),
      },
      !isNarrow && { title: t('columns.change'), render: (entry) => <Changes entry={entry} /> },
    ],
    [t, isNarrow, withAccount, isForStaff],
  );
  return (
    <Loaded read={list}>
      {(pages) => {
        const entries = pages.flatMap((page) => page.entries);
        if (entries.length === 0) return <Text c="dimmed">{empty}</Text>;
        return (
          <Stack gap="sm">
            <DataTable
              label={t('table')}
              minWidth={300}
              rows={entries}
              getRowKey={({ id }) => id}
              propsOf={onTop}
              columns={columns}
            />
            <LoadMore list={list} />
          </Stack>
        );
      }}
    </Loaded>
  );
}

function When({ entry: { at, actor }, isNarrow }: { entry: AuditEntryView; isNarrow: boolean }) {
  const { t } = useTranslation('audit');
  return (
    <>
      <Time at={at} seconds wraps={isNarrow} />
      <Small>
        {actor.kind === 'command_line' && t('commandLine', { name: actor.name })}
        {actor.kind === 'anonymous' && t('anonymous')}
        {(actor.kind === 'user' || actor.kind === 'staff') && (actor.name || t('staff'))}
      </Small>
    </>
  );
}

function What({
  entry: { action, account, sendId },
  withAccount,
  isForStaff,
}: {
  entry: AuditEntryView;
  withAccount: boolean;
  isForStaff: boolean;
}) {
  const texts = useAuditTexts();
  const sends = isForStaff ? '/staff/sends' : `/accounts/${account?.id}/sends`;
  return (
    <>
      <Text fw={550}>
        {sendId === null ? (
          texts.action(action)
        ) : (
          <Anchor component={Link} to={`${sends}/${sendId}`} inherit>
            {texts.action(action)}
          </Anchor>
        )}
      </Text>
      {withAccount && account !== null && (
        <Anchor component={Link} to={`/staff/accounts/${account.id}`}>
          {account.name ?? account.id}
        </Anchor>
      )}
    </>
  );
}

function Changes({ entry: { subject, changes, facts } }: { entry: AuditEntryView }) {
  const texts = useAuditTexts();
  return (
    <Stack gap={2}>
      {subject !== null && <Text>{texts.value(subject, 'target')}</Text>}
      {changes.map(({ field, before, after }) => (
        <Line key={field} name={texts.field(field)}>
          {before !== undefined && `${texts.value(before, field)} → `}
          {texts.value(after, field)}
        </Line>
      ))}
      {facts.map(({ field, value }) => (
        <Line key={field} name={texts.field(field)}>
          {texts.value(value, field)}
        </Line>
      ))}
    </Stack>
  );
}

function Line({ name, children }: { name: string; children: ReactNode }) {
  return (
    <Group gap={6} wrap="wrap">
      <Text c="dimmed" component="span">
        {name}
      </Text>
      <Text component="span">{children}</Text>
    </Group>
  );
}
