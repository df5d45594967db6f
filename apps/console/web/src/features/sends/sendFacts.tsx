import { Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { SendDetailsView } from '../../../../src/features/sends/view.js';
import { useCountryName } from '../../hooks/countries.js';
import { Fact } from '../../components/fact.js';
import { Section } from '../../components/section.js';
import { Time } from '../../components/times.js';

/** What a send is: `children` are the facts about whose it is. */
export function SendFacts({
  send,
  children,
}: {
  send: Omit<SendDetailsView, 'recipient' | 'next'>;
  children: ReactNode;
}) {
  const { t } = useTranslation(['sends', 'common']);
  const countryName = useCountryName();
  const isReturned = send.timeline.some(({ kind }) => kind === 'returned');
  const cost = send.unit === null ? t('details.unitNone') : t(`details.units.${send.unit}`);
  return (
    <Section title={t('details.facts')}>
      <Stack gap="xs" component="dl" m={0}>
        {children}
        <Fact label={t('details.from')}>{send.from ?? t('details.fromNobody')}</Fact>
        <Fact label={t('details.channel')}>
          {send.channel === null ? t('details.channelNone') : t(`details.channels.${send.channel}`)}
        </Fact>
        <Fact label={t('columns.country')}>
          {send.country === null ? t('details.noCountry') : countryName(send.country)}
        </Fact>
        <Fact label={t('details.locale')}>{t(`common:languages.${send.locale}`)}</Fact>
        <Fact label={t('details.created')}>
          <Time at={send.createdAt} seconds />
        </Fact>
        <Fact label={send.verification === 'expired' ? t('details.expired') : t('details.expires')}>
          <Time at={send.expiresAt} seconds />
        </Fact>
        <Fact label={t('details.guesses')}>{send.guessesLeft}</Fact>
        <Fact label={t('details.unit')}>{isReturned ? t('details.unitReturned') : cost}</Fact>
      </Stack>
    </Section>
  );
}
