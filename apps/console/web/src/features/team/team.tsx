import { IconUserPlus } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import type { MemberView } from '../../../../src/features/team/view.js';
import { NameSection } from '../accounts/nameSection.js';
import { Deletion } from './deletion.js';
import { Invitations } from './invitations.js';
import { Invite } from './invite.js';
import { Members } from './members.js';
import { useData } from '../../api/queries.js';
import { useAccount, useSession } from '../../app/session.js';
import { ChangeButton } from '../../components/changeDialog.js';
import { DialogButton } from '../../components/dialog.js';
import { Page, Section } from '../../components/page.js';
import { Loaded } from '../../components/states.js';
import { remove } from '../../hooks/change.js';

export function Team() {
  const { t } = useTranslation(['team', 'common']);
  const account = useAccount();
  const { user } = useSession();
  const read = useData<{ members: MemberView[] }>(`${account.path}/members`);
  const admins = read.data?.members.filter(({ role }) => role === 'admin') ?? [];
  const isOnlyAdmin = admins.length === 1 && admins[0]?.id === user.id;
  return (
    <Page
      title={t('common:nav.team')}
      actions={
        <>
          <Leave disabled={isOnlyAdmin} />
          {account.mayManage && (
            <DialogButton
              variant="filled"
              size="sm"
              leftSection={<IconUserPlus size={16} />}
              label={t('invite')}
              title={t('invite')}
            >
              <Invite />
            </DialogButton>
          )}
        </>
      }
    >
      <Loaded read={read}>
        {({ members }) => (
          <Section title={t('members')} {...(isOnlyAdmin && { description: t('onlyAdmin') })}>
            <Members members={members} isOnlyAdmin={isOnlyAdmin} />
          </Section>
        )}
      </Loaded>
      {account.mayManage && (
        <Section title={t('invitations')}>
          <Invitations />
        </Section>
      )}
      <NameSection account={account} mayChange={account.mayManage} />
      <Deletion />
    </Page>
  );
}

function Leave({ disabled }: { disabled: boolean }) {
  const { t } = useTranslation('team');
  const { path, name } = useAccount();
  const navigate = useNavigate();
  const client = useQueryClient();
  return (
    <ChangeButton
      button={{ size: 'sm', disabled }}
      text={t('leave')}
      title={t('leaving.title', { account: name })}
      action={t('leaving.action')}
      change={remove(`${path}/membership`)}
      stale={[]}
      done={t('leaving.done')}
      onDone={() => {
        // Navigate first: after the session is read again, this page has no account to show.
        void Promise.resolve(navigate('/profile')).then(() =>
          client.invalidateQueries({ queryKey: ['session'] }),
        );
      }}
    >
      {t('leaving.text')}
    </ChangeButton>
  );
}
