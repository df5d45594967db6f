import { Grid } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useParams } from 'react-router';
import type { SendDetailsView } from '../../../../src/features/sends/view.js';
import { useData } from '../../api/queries.js';
import { Id } from '../../components/id.js';
import { ModeBadge } from '../../components/mode.js';
import { Page } from '../../components/page.js';
import { StatusBadge, VerificationBadge } from '../../components/badges.js';
import { SendFacts } from './sendFacts.js';
import { SendTimeline } from './sendTimeline.js';
import { Failure, Loading } from '../../components/states.js';

const REFRESH_MS = 2_000;

/** What integrators and staff both see of a send. */
type Send = Omit<SendDetailsView, 'recipient' | 'next'>;

/**
 * The send that the address names, read again for as long as something may still happen to it.
 *
 * @param path of all sends, below `/api`
 */
export function useSend<View extends Send>(path: string) {
  const { send: id } = useParams();
  const { data, error, refetch } = useData<View>(`${path}/${id}`, {
    refreshMs: (read) => read?.isOpen === true && REFRESH_MS,
  });
  // While another send is read, the one before is still at hand.
  return { send: data?.id === id ? data : undefined, error, refetch };
}

/**
 * The page of one send: its state, what happened to it, and what it is; `children` are the facts about whose it is.
 *
 * @param first what comes before what happened
 */
export function SendPage({
  reading: { send, error, refetch },
  title,
  back,
  first,
  children,
}: {
  reading: ReturnType<typeof useSend<Send>>;
  title: string;
  back: { to: string; label: string };
  first?: ReactNode;
  children: ReactNode;
}) {
  const { t } = useTranslation('sends');
  return (
    <Page
      title={title}
      back={back}
      facts={
        send && (
          <>
            <ModeBadge mode={send.mode} />
            <StatusBadge status={send.status} />
            <VerificationBadge verification={send.verification} />
            <Id id={send.id} what={t('details.id')} />
          </>
        )
      }
    >
      {error !== null && <Failure problem={error} onRetry={() => void refetch()} />}
      {send === undefined && error === null && <Loading />}
      {send && (
        <>
          {first}
          <Grid gap="lg">
            <Grid.Col span={{ base: 12, md: 8 }}>
              <SendTimeline send={send} />
            </Grid.Col>
            <Grid.Col span={{ base: 12, md: 4 }}>
              <SendFacts send={send}>{children}</SendFacts>
            </Grid.Col>
          </Grid>
        </>
      )}
    </Page>
  );
}
