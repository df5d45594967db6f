import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type {
  ExhaustedRecipientsView,
  ExhaustedRecipientView,
} from '../../../../src/features/recipients/view.js';
import { useData } from '../../api/queries.js';
import { ChangeButton } from '../../components/changeDialog.js';
import { Small } from '../../components/facts.js';
import { type Column, DataTable } from '../../components/dataTable.js';
import { Loaded } from '../../components/states.js';
import { useNumbers } from '../../hooks/formats.js';
import { Time } from '../../components/times.js';
import { post } from '../../hooks/change.js';

interface Props {
  /** The path of the account, below `/api`. */
  account: string;
  mayReset: boolean;
  /** Shown when there are none. */
  empty: ReactNode;
}

/** Recipients with an exhausted guess budget, who get no new code for now; admins and operators can reset them. */
export function ExhaustedRecipients({ account, mayReset, empty }: Props) {
  const list = useData<ExhaustedRecipientsView>(`${account}/exhausted-recipients`);
  return (
    <Loaded read={list}>
      {({ recipients }) =>
        recipients.length === 0 ? (
          empty
        ) : (
          <RecipientTable recipients={recipients} account={account} mayReset={mayReset} />
        )
      }
    </Loaded>
  );
}

function RecipientTable({
  recipients,
  account,
  mayReset,
}: Omit<Props, 'empty'> & { recipients: readonly ExhaustedRecipientView[] }) {
  const { t } = useTranslation(['recipients', 'common']);
  const { whole } = useNumbers();
  const columns = useMemo<(Column<ExhaustedRecipientView> | false)[]>(
    () => [
      {
        title: t('common:words.recipient'),
        render: ({ recipient, wrongInARow, recoversAt }) => (
          <>
            <Text className="tabular" style={{ whiteSpace: 'nowrap' }}>
              {recipient}
            </Text>
            <Small hiddenFrom="sm">{t('wrong', { count: wrongInARow, wrong: whole(wrongInARow) })}</Small>
            <Small hiddenFrom="sm">
              {t('columns.recovers')} <Time at={recoversAt} wraps />
            </Small>
          </>
        ),
      },
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
      mayReset && {
        title: t('common:actions'),
        isTitleHidden: true,
        ta: 'right',
        render: ({ id, recipient }) => (
          <ChangeButton
            label={t('reset.label', { recipient })}
            title={t('reset.title', { recipient })}
            action={t('reset.button')}
            color="brand"
            change={post(`${account}/exhausted-recipients/${id}/reset`)}
            stale={[account, '/staff/audit']}
            done={t('reset.done', { recipient })}
          >
            {t('reset.text')}
          </ChangeButton>
        ),
      },
    ],
    [t, whole, account, mayReset],
  );
  return (
    <DataTable
      label={t('common:nav.recipients')}
      minWidth={300}
      rows={recipients}
      getRowKey={({ id }) => id}
      columns={columns}
    />
  );
}
