import { Anchor, Text } from '@mantine/core';
import type { TFunction } from 'i18next';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { LedgerEntryView } from '../../../../src/features/ledger/view.js';
import { useAccount } from '../../app/session.js';
import { useNumbers } from '../../hooks/formats.js';
import { type Column, DataTable } from '../../components/dataTable.js';
import { Small } from '../../components/facts.js';
import { Time } from '../../components/times.js';

/** The only reason that the service writes itself; operators write all other reasons. */
const ACCOUNT_CREATED = 'account created';

/** The reason of a grant, in the user's language if the service wrote it. */
export const reasonText = (reason: string, t: TFunction<'ledger'>): string =>
  reason === ACCOUNT_CREATED ? t('accountCreated') : reason;

/** Entries of the ledger, in the given order. */
export function LedgerTable({ entries }: { entries: readonly LedgerEntryView[] }) {
  const { t } = useTranslation('ledger');
  const { whole, signed } = useNumbers();
  const columns = useMemo<(Column<LedgerEntryView> | false)[]>(
    () => [
      { title: t('columns.at'), visibleFrom: 'sm', render: ({ at }) => <Time at={at} seconds /> },
      { title: t('columns.what'), render: (entry) => <What entry={entry} /> },
      { title: t('columns.bucket'), visibleFrom: 'sm', render: ({ bucket }) => t(`buckets.${bucket}`) },
      {
        title: t('columns.send'),
        visibleFrom: 'sm',
        render: ({ sendId }) =>
          sendId !== null && (
            <Text inherit ff="monospace" component="div">
              <SendLink id={sendId} text={sendId} />
            </Text>
          ),
      },
      { title: t('columns.change'), ta: 'end', fw: 550, render: ({ change }) => signed(change) },
      {
        title: t('columns.balance'),
        ta: 'end',
        render: ({ balance: { freeQuota, credits } }) => (
          <>
            {whole(freeQuota + credits)}
            <Small visibleFrom="sm">
              {t('balanceOf', { freeQuota: whole(freeQuota), credits: whole(credits) })}
            </Small>
          </>
        ),
      },
    ],
    [t, whole, signed],
  );
  return <DataTable label={t('caption')} rows={entries} getRowKey={({ id }) => id} columns={columns} />;
}

/** On a phone, the time and the send are below the kind. */
function What({ entry: { at, kind, reason, reference, expiresAt, sendId } }: { entry: LedgerEntryView }) {
  const { t } = useTranslation('ledger');
  return (
    <>
      <Text inherit>{t(`kinds.${kind}`)}</Text>
      {reason !== null && <Small className="breaks-words">{reasonText(reason, t)}</Small>}
      <GrantTerms reference={reference} expiresAt={expiresAt} />
      <Small hiddenFrom="sm">
        <Time at={at} seconds />
      </Small>
      {sendId !== null && (
        <Text size="xs" hiddenFrom="sm" component="div">
          <SendLink id={sendId} text={t('columns.send')} />
        </Text>
      )}
    </>
  );
}

/** The reference of a grant and when its remaining units expire, if it has them. */
export function GrantTerms({ reference, expiresAt }: Pick<LedgerEntryView, 'reference' | 'expiresAt'>) {
  const { t } = useTranslation('ledger');
  return (
    <>
      {reference !== null && <Small className="breaks-words">{t('reference', { reference })}</Small>}
      {expiresAt !== null && (
        <Small>
          {t('expires')} <Time at={expiresAt} />
        </Small>
      )}
    </>
  );
}

function SendLink({ id, text }: { id: string; text: string }) {
  const { sendsPath } = useAccount();
  return (
    <Anchor component={Link} to={`${sendsPath}/${id}`} size="xs">
      {text}
    </Anchor>
  );
}
