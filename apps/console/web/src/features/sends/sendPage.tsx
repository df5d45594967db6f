import { Grid, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useParams } from 'react-router';
import type { SendDetailsView } from '../../../../src/features/sends/view.js';
import { SendTimeline } from './sendTimeline.js';
import { useData } from '../../api/queries.js';
import { ModeBadge, StatusBadge, VerificationBadge } from '../../components/badges.js';
import { Id } from '../../components/copy.js';
import { Fact } from '../../components/facts.js';
import { Page, Section } from '../../components/page.js';
import { Loaded } from '../../components/states.js';
import { Time } from '../../components/times.js';
import { NO_COUNTRY, useCountryName } from '../../hooks/countries.js';

const REFRESH_MS = 2_000;

/** The part of a send that both integrators and staff see. */
type Send = Omit<SendDetailsView, 'recipient' | 'next'>;

/**
 * The send in the URL, polled while it can still change.
 *
 * @param path of the list of sends, below `/api`
 */
export function useSend<View extends Send>(path: string) {
  const { send: id } = useParams();
  const { data, error, refetch } = useData<View>(`${path}/${id}`, {
    refreshMs: (read) => read?.isOpen === true && REFRESH_MS,
  });
  // While another send loads, the query still holds the previous one.
  return { data: data?.id === id ? data : undefined, error, refetch };
}

/**
 * The page of one send: state, timeline and details; `children` are the facts about its owner.
 *
 * @param first shown above the timeline: it explains why a send failed, and the timeline does not repeat it
 */
export function SendPage({
  reading,
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
  const { data: send } = reading;
  return (
    <Page
      title={title}
      back={back}
      facts={
        send && (
          <>
            <ModeBadge mode={send.mode} />
            <StatusBadge status={send.status} />
            {send.status !== 'failed' && <VerificationBadge verification={send.verification} />}
            <Id id={send.id} what={t('details.id')} />
          </>
        )
      }
    >
      <Loaded read={reading}>
        {(send) => (
          <>
            {first}
            <Grid gap="lg">
              <Grid.Col span={{ base: 12, md: 8 }}>
                <SendTimeline send={send} withReasons={first === undefined} />
              </Grid.Col>
              <Grid.Col span={{ base: 12, md: 4 }}>
                <SendFacts send={send}>{children}</SendFacts>
              </Grid.Col>
            </Grid>
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** The details of a send; `children` are the facts about its owner. */
function SendFacts({
  send,
  children,
}: {
  send: Omit<SendDetailsView, 'recipient' | 'next'>;
  children: ReactNode;
}) {
  const { t } = useTranslation(['sends', 'common']);
  const countryName = useCountryName();
  const has = (wanted: string): boolean => send.timeline.some(({ kind }) => kind === wanted);
  const isReturned = has('returned') && !has('reclaimed');
  // The code of a failed send cannot be used.
  const isOpen = send.status !== 'failed' && send.verification === 'pending';
  const isExpired = send.status !== 'failed' && send.verification === 'expired';
  const cost = send.chargedFrom === null ? t('details.unitNone') : t(`details.units.${send.chargedFrom}`);
  return (
    <Section title={t('details.facts')}>
      <Stack gap="xs" component="dl" m={0}>
        {children}
        <Fact label={t('details.from')}>{send.from ?? t('details.noSender')}</Fact>
        <Fact label={t('details.channel')}>
          {send.channel === null ? t('details.channelNone') : t(`details.channels.${send.channel}`)}
        </Fact>
        <Fact label={t('common:words.country')}>
          {send.country === NO_COUNTRY ? t('details.noCountry') : countryName(send.country)}
        </Fact>
        <Fact label={t('details.locale')}>{t(`common:languages.${send.locale}`)}</Fact>
        <Fact label={t('details.created')}>
          <Time at={send.createdAt} seconds />
        </Fact>
        {(isOpen || isExpired) && (
          <Fact label={isExpired ? t('details.expired') : t('details.expires')}>
            <Time at={send.expiresAt} seconds />
          </Fact>
        )}
        {isOpen && <Fact label={t('details.guesses')}>{send.guessesLeft}</Fact>}
        <Fact label={t('details.unit')}>{isReturned ? t('details.unitReturned') : cost}</Fact>
      </Stack>
    </Section>
  );
}
