import { Badge, Group, Text } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { InvitationView } from '../../../../src/features/team/view.js';
import { InviteAgain } from './invite.js';
import { useData } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { ChangeButton } from '../../components/changeDialog.js';
import { DataTable } from '../../components/dataTable.js';
import { DialogButton } from '../../components/dialog.js';
import { Small } from '../../components/facts.js';
import { Loaded } from '../../components/states.js';
import { Time } from '../../components/times.js';
import { remove } from '../../hooks/change.js';

export function Invitations() {
  const { t } = useTranslation(['team', 'common']);
  const path = `${useAccount().path}/invitations`;
  return (
    <Loaded read={useData<{ invitations: InvitationView[] }>(path)}>
      {({ invitations }) => (
        <DataTable
          empty={<Text c="dimmed">{t('noInvitations')}</Text>}
          label={t('invitations')}
          verticalSpacing="sm"
          rows={invitations}
          // Not by its id: a new link is a new invitation, which its dialog in the same row shows.
          getRowKey={({ email }) => email}
          columns={[
            {
              title: t('common:words.email'),
              breaksWords: true,
              render: ({ email, role }) => (
                <>
                  {email}
                  <Small hiddenFrom="sm">{t(`roles.${role}`)}</Small>
                </>
              ),
            },
            { title: t('columns.role'), visibleFrom: 'sm', render: ({ role }) => t(`roles.${role}`) },
            {
              title: t('columns.invitedBy'),
              visibleFrom: 'md',
              render: ({ invitedBy }) => invitedBy ?? '–',
            },
            {
              title: t('columns.expires'),
              visibleFrom: 'sm',
              render: ({ hasExpired, expiresAt }) =>
                hasExpired ? <Badge color="gray">{t('expired')}</Badge> : <Time at={expiresAt} />,
            },
            {
              title: t('common:actions'),
              isTitleHidden: true,
              render: ({ id, email, role }) => (
                <Group gap="xs" justify="flex-end" wrap="nowrap">
                  <DialogButton
                    aria-label={t('inviting.newLinkFor', { email })}
                    label={t('inviting.newLink')}
                    title={t('inviting.newLink')}
                  >
                    <InviteAgain email={email} role={role} />
                  </DialogButton>
                  <ChangeButton
                    icon={IconX}
                    label={t('revoking.label', { email })}
                    title={t('revoking.title')}
                    action={t('common:words.revoke')}
                    change={remove(`${path}/${id}`)}
                    stale={[path]}
                    done={t('revoking.done')}
                  >
                    {t('revoking.text', { email })}
                  </ChangeButton>
                </Group>
              ),
            },
          ]}
        />
      )}
    </Loaded>
  );
}
