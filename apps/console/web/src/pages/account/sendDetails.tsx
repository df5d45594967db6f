import { Anchor, Grid } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Link, useParams } from 'react-router';
import type { SendDetailsView } from '../../../../src/views/sends.js';
import { useData } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { Fact } from '../../parts/fact.js';
import { Id } from '../../parts/id.js';
import { ModeBadge } from '../../parts/mode.js';
import { Page } from '../../parts/page.js';
import { StatusBadge, VerificationBadge } from '../../parts/sendBadges.js';
import { SendFacts } from '../../parts/sendFacts.js';
import { SendTimeline } from '../../parts/sendTimeline.js';
import { Failure, Loading } from '../../parts/states.js';
import { SendNextStep } from './sendNextStep.js';

const REFRESH_MS = 2_000;

/** One send: what to do next, what happened to it, and what it is. */
export function SendDetails() {
  const { t } = useTranslation(['sends', 'common']);
  const { path } = useAccount();
  const { send: id } = useParams();
  const {
    data: send,
    error,
    refetch,
  } = useData<SendDetailsView>(`${path}/sends/${id}`, {
    refreshMs: (data) => data?.isOpen === true && REFRESH_MS,
  });
  const back = { to: `${path}/sends`, label: t('details.back') };
  if (send === undefined)
    return (
      <Page title={t('common:nav.sends')} back={back}>
        {error === null ? <Loading /> : <Failure problem={error} onRetry={() => void refetch()} />}
      </Page>
    );
  return (
    <Page
      title={t('details.title', { recipient: send.recipient })}
      back={back}
      facts={
        <>
          <ModeBadge mode={send.mode} />
          <StatusBadge status={send.status} />
          <VerificationBadge verification={send.verification} />
          <Id id={send.id} what={t('details.id')} />
        </>
      }
    >
      {error !== null && <Failure problem={error} onRetry={() => void refetch()} />}
      <SendNextStep send={send} />
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, md: 8 }}>
          <SendTimeline send={send} />
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 4 }}>
          <SendFacts send={send}>
            <Fact label={t('columns.application')}>
              <Anchor component={Link} to={`${path}/applications/${send.application.id}`} size="sm">
                {send.application.name}
              </Anchor>
            </Fact>
          </SendFacts>
        </Grid.Col>
      </Grid>
    </Page>
  );
}
