import { Button, Stack, Table, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type {
  ExhaustedRecipientsView,
  ExhaustedRecipientView,
} from '../../../../src/features/recipients/view.js';
import { useChange, usePages } from '../../api/queries.js';
import { Confirm } from '../../components/dialog.js';
import { ModeBadge } from '../../components/badges.js';
import { Failure, Loading, LoadMore } from '../../components/states.js';
import { useNumbers } from '../../hooks/formats.js';
import { Time } from '../../components/times.js';

interface Props {
  /** The path of the account, below `/api`. */
  account: string;
  mayReset: boolean;
  /** Shown when there are none. */
  empty: ReactNode;
}

/** Recipients with an exhausted guess budget, who get no new code for now; admins and operators can reset them. */
export function ExhaustedRecipients({ account, mayReset, empty }: Props) {
  const { t } = useTranslation('recipients');
  const [selected, setSelected] = useState<ExhaustedRecipientView | null>(null);
  const path = `${account}/exhausted-recipients`;
  const list = usePages<ExhaustedRecipientsView>(path);
  if (list.error !== null) return <Failure problem={list.error} onRetry={() => void list.refetch()} />;
  if (list.data === undefined) return <Loading />;
  const recipients = list.data.flatMap((page) => page.recipients);
  if (recipients.length === 0) return empty;
  return (
    <Stack gap="sm">
      <Table.ScrollContainer minWidth={300}>
        <Table verticalSpacing="xs" aria-label={t('title')}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('columns.recipient')}</Table.Th>
              <Table.Th visibleFrom="sm">{t('columns.mode')}</Table.Th>
              <Table.Th ta="right" visibleFrom="sm">
                {t('columns.wrong')}
              </Table.Th>
              <Table.Th visibleFrom="md" pl="xl">
                {t('columns.last')}
              </Table.Th>
              <Table.Th>{t('columns.recovers')}</Table.Th>
              {mayReset && <Table.Th aria-label={t('columns.actions')} />}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {recipients.map((one) => (
              <Row key={one.id} one={one} {...(mayReset && { onReset: () => setSelected(one) })} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <LoadMore list={list} />
      <Reset account={account} one={selected} onClose={() => setSelected(null)} />
    </Stack>
  );
}

function Row({ one, onReset }: { one: ExhaustedRecipientView; onReset?: () => void }) {
  const { t } = useTranslation(['recipients', 'common']);
  const { whole } = useNumbers();
  return (
    <Table.Tr>
      <Table.Td>
        <Text size="sm" className="tabular" style={{ whiteSpace: 'nowrap' }}>
          {one.recipient}
        </Text>
        <Text size="xs" c="dimmed" hiddenFrom="sm">
          {t(`common:mode.${one.mode}`)} ·{' '}
          {t('wrong', { count: one.wrongInARow, wrong: whole(one.wrongInARow) })}
        </Text>
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <ModeBadge mode={one.mode} />
      </Table.Td>
      <Table.Td ta="right" visibleFrom="sm">
        {whole(one.wrongInARow)}
      </Table.Td>
      <Table.Td visibleFrom="md" pl="xl">
        <Time at={one.lastWrongAt} />
      </Table.Td>
      <Table.Td>
        <Time at={one.recoversAt} wraps />
      </Table.Td>
      {onReset && (
        <Table.Td ta="right">
          <Button
            size="xs"
            variant="default"
            aria-label={t('reset.label', { recipient: one.recipient })}
            onClick={onReset}
          >
            {t('reset.button')}
          </Button>
        </Table.Td>
      )}
    </Table.Tr>
  );
}

function Reset({
  account,
  one,
  onClose,
}: {
  account: string;
  one: ExhaustedRecipientView | null;
  onClose: () => void;
}) {
  const { t } = useTranslation('recipients');
  // The account's data has the number of blocked recipients, and the audit log the reset.
  const { mutate, isPending, error, reset } = useChange(account, '/staff/audit');
  const recipient = one?.recipient ?? '';
  const close = (): void => {
    reset();
    onClose();
  };
  return (
    <Confirm
      opened={one !== null}
      onClose={close}
      title={t('reset.title', { recipient })}
      action={t('reset.button')}
      color="brand"
      pending={isPending}
      problem={error}
      onConfirm={() =>
        mutate(
          { method: 'POST', path: `${account}/exhausted-recipients/${one?.id ?? ''}/reset` },
          {
            onSuccess: () => {
              close();
              notifications.show({ message: t('reset.done', { recipient }), color: 'teal' });
            },
          },
        )
      }
    >
      {t('reset.text')}
    </Confirm>
  );
}
