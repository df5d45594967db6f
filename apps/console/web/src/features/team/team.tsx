import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconUserPlus } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { MemberView } from '../../../../src/features/team/view.js';
import { useData } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { Page } from '../../components/page.js';
import { Section } from '../../components/section.js';
import { Failure, Loading } from '../../components/states.js';
import { Invitations } from './invitations.js';
import { Invite } from './invite.js';
import { Leave } from './leave.js';
import { Members } from './members.js';

/** Who belongs to an account and who is invited. */
export function Team() {
  const { t } = useTranslation(['team', 'common']);
  const account = useAccount();
  const [inviting, { open, close }] = useDisclosure();
  const { data, error, refetch } = useData<{ members: MemberView[] }>(`${account.path}/members`);
  return (
    <Page
      title={t('common:nav.team')}
      description={t('description')}
      actions={
        <>
          <Leave />
          {account.mayManage && (
            <Button leftSection={<IconUserPlus size={16} />} onClick={open}>
              {t('invite')}
            </Button>
          )}
        </>
      }
    >
      {data === undefined &&
        (error === null ? <Loading /> : <Failure problem={error} onRetry={() => void refetch()} />)}
      {data !== undefined && (
        <Section title={t('members')}>
          <Members members={data.members} />
        </Section>
      )}
      {account.mayManage && (
        <Section title={t('invitations')}>
          <Invitations />
        </Section>
      )}
      <Invite opened={inviting} onClose={close} />
    </Page>
  );
}
