import { Anchor, Grid } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Link, useParams } from 'react-router';
import type { StaffSendView } from '../../../../src/views/staffSends.js';
import { useData } from '../../api/queries.js';
import { Fact } from '../../parts/fact.js';
import { Id } from '../../parts/id.js';
import { ModeBadge } from '../../parts/mode.js';
import { Page } from '../../parts/page.js';
import { StatusBadge, VerificationBadge } from '../../parts/sendBadges.js';
import { SendFacts } from '../../parts/sendFacts.js';
import { SendTimeline } from '../../parts/sendTimeline.js';
import { Failure, Loading } from '../../parts/states.js';

const REFRESH_MS = 2_000;

/** One send of any account, as its integrators see it, but not whom it went to. */
export function StaffSendDetails() {
  const { t } = useTranslation(['staff', 'sends', 'common']);
  const { send: id } = useParams();
  const { data, error, refetch } = useData<StaffSendView>(`/operations/sends/${id}`, {
    refreshMs: (data) => data?.isOpen === true && REFRESH_MS,
  });
  // While another send is read, the one before is still at hand.
  const send = data?.id === id ? data : undefined;
  return (
    <Page
      title={t('send.title')}
      back={{ to: '/operations/accounts', label: t('account.back') }}
      facts={
        send && (
          <>
            <ModeBadge mode={send.mode} />
            <StatusBadge status={send.status} />
            <VerificationBadge verification={send.verification} />
            <Id id={send.id} what={t('sends:details.id')} />
          </>
        )
      }
    >
      {error !== null && <Failure problem={error} onRetry={() => void refetch()} />}
      {send === undefined && error === null && <Loading />}
      {send && (
        <Grid gap="lg">
          <Grid.Col span={{ base: 12, md: 8 }}>
            <SendTimeline send={send} />
          </Grid.Col>
          <Grid.Col span={{ base: 12, md: 4 }}>
            <SendFacts send={send}>
              <Fact label={t('accounts.columns.name')}>
                <Anchor component={Link} to={`/operations/accounts/${send.account.id}`} size="sm">
                  {send.account.name}
                </Anchor>
              </Fact>
              <Fact label={t('sends:columns.application')}>{send.application.name}</Fact>
            </SendFacts>
          </Grid.Col>
        </Grid>
      )}
    </Page>
  );
}
