import { Badge, Text } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { InvitationView } from '../../../../src/features/team/view.js';
import { RemoveIcon } from './members.js';
import { useData } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { ConfirmChange } from '../../components/confirmChange.js';
import { DataTable } from '../../components/dataTable.js';
import { Loaded } from '../../components/states.js';
import { Time } from '../../components/times.js';

/** Open and expired invitations. */
export function Invitations() {
  const { t } = useTranslation('team');
  const path = `${useAccount().path}/invitations`;
  const [revoking, setRevoking] = useState<InvitationView | null>(null);
  return (
    <Loaded read={useData<{ invitations: InvitationView[] }>(path)}>
      {({ invitations }) =>
        invitations.length === 0 ? (
          <Text size="sm" c="dimmed">
            {t('noInvitations')}
          </Text>
        ) : (
          <>
            <InvitationTable invitations={invitations} onRevoke={setRevoking} />
            <ConfirmChange
              opened={revoking !== null}
              onClose={() => setRevoking(null)}
              title={t('revoking.title')}
              action={t('revoking.action')}
              change={{ method: 'DELETE', path: `${path}/${revoking?.id}` }}
              stale={[path]}
              done={t('revoking.done')}
            >
              {t('revoking.text', { email: revoking?.email ?? '' })}
            </ConfirmChange>
          </>
        )
      }
    </Loaded>
  );
}

function InvitationTable({
  invitations,
  onRevoke,
}: {
  invitations: readonly InvitationView[];
  onRevoke: (invitation: InvitationView) => void;
}) {
  const { t } = useTranslation('team');
  return (
    <DataTable
      label={t('invitations')}
      verticalSpacing="sm"
      rows={invitations}
      keyOf={({ id }) => id}
      columns={[
        { title: t('columns.email'), style: { overflowWrap: 'anywhere' }, render: ({ email }) => email },
        { title: t('columns.role'), render: ({ role }) => t(`roles.${role}`) },
        { title: t('columns.invitedBy'), visibleFrom: 'md', render: ({ invitedBy }) => invitedBy ?? '–' },
        {
          title: t('columns.expires'),
          visibleFrom: 'sm',
          render: ({ hasExpired, expiresAt }) =>
            hasExpired ? <Badge color="gray">{t('expired')}</Badge> : <Time at={expiresAt} />,
        },
        {
          title: t('columns.actions'),
          isTitleHidden: true,
          w: 44,
          render: (invitation) => (
            <RemoveIcon
              icon={IconX}
              action={t('revoking.action')}
              label={t('revoking.label', { email: invitation.email })}
              onClick={() => onRevoke(invitation)}
            />
          ),
        },
      ]}
    />
  );
}
