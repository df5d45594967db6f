import { Button, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type {
  ExhaustedRecipientsView,
  ExhaustedRecipientView,
} from '../../../../src/features/recipients/view.js';
import { usePages } from '../../api/queries.js';
import { ConfirmChange } from '../../components/confirmChange.js';
import { DataTable } from '../../components/dataTable.js';
import { ModeBadge } from '../../components/badges.js';
import { Loaded, LoadMore } from '../../components/states.js';
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
  const recipient = selected?.recipient ?? '';
  return (
    <Loaded read={list}>
      {(pages) => {
        const recipients = pages.flatMap((page) => page.recipients);
        if (recipients.length === 0) return empty;
        return (
          <Stack gap="sm">
            <RecipientTable recipients={recipients} onReset={mayReset && setSelected} />
            <LoadMore list={list} />
            <ConfirmChange
              opened={selected !== null}
              onClose={() => setSelected(null)}
              title={t('reset.title', { recipient })}
              action={t('reset.button')}
              color="brand"
              change={{ method: 'POST', path: `${path}/${selected?.id}/reset` }}
              // The account's data has the number of blocked recipients, and the audit log the reset.
              stale={[account, '/staff/audit']}
              done={t('reset.done', { recipient })}
            >
              {t('reset.text')}
            </ConfirmChange>
          </Stack>
        );
      }}
    </Loaded>
  );
}

function RecipientTable({
  recipients,
  onReset,
}: {
  recipients: readonly ExhaustedRecipientView[];
  /** False for those who may not. */
  onReset: ((one: ExhaustedRecipientView) => void) | false;
}) {
  const { t } = useTranslation(['recipients', 'common']);
  const { whole } = useNumbers();
  return (
    <DataTable
      label={t('title')}
      minWidth={300}
      rows={recipients}
      keyOf={({ id }) => id}
      columns={[
        {
          title: t('columns.recipient'),
          render: ({ recipient, mode, wrongInARow, recoversAt }) => (
            <>
              <Text size="sm" className="tabular" style={{ whiteSpace: 'nowrap' }}>
                {recipient}
              </Text>
              <Text size="xs" c="dimmed" hiddenFrom="sm">
                {t(`common:mode.${mode}`)} · {t('wrong', { count: wrongInARow, wrong: whole(wrongInARow) })}
              </Text>
              <Text size="xs" c="dimmed" hiddenFrom="sm" component="div">
                {t('columns.recovers')} <Time at={recoversAt} wraps />
              </Text>
            </>
          ),
        },
        { title: t('columns.mode'), visibleFrom: 'sm', render: ({ mode }) => <ModeBadge mode={mode} /> },
        {
          title: t('columns.wrong'),
          ta: 'right',
          visibleFrom: 'sm',
          render: ({ wrongInARow }) => whole(wrongInARow),
        },
        {
          title: t('columns.last'),
          visibleFrom: 'md',
          pl: 'xl',
          render: ({ lastWrongAt }) => <Time at={lastWrongAt} />,
        },
        {
          title: t('columns.recovers'),
          visibleFrom: 'sm',
          render: ({ recoversAt }) => <Time at={recoversAt} wraps />,
        },
        onReset && {
          title: t('columns.actions'),
          isTitleHidden: true,
          ta: 'right',
          render: (one) => (
            <Button
              size="xs"
              variant="default"
              aria-label={t('reset.label', { recipient: one.recipient })}
              onClick={() => onReset(one)}
            >
              {t('reset.button')}
            </Button>
          ),
        },
      ]}
    />
  );
}
