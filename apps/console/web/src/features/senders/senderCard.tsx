import { Anchor, Badge, Group, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useLocation } from 'react-router';
import type {
  SenderErrorView,
  SenderRulesView,
  SendersView,
  SenderView,
} from '../../../../src/features/senders/view.js';
import { SenderProvider } from './senderProvider.js';
import { SenderActions } from './senderActions.js';
import { SenderBadge } from '../../components/badges.js';
import { Id } from '../../components/copy.js';
import { Fact, Small } from '../../components/facts.js';
import { Time } from '../../components/times.js';
import { useCountryName } from '../../hooks/countries.js';
import { useErrorText } from '../../hooks/errorText.js';
import { useNumbers } from '../../hooks/formats.js';
import { useSenders } from '../../hooks/senders.js';
import { useBlockReason } from '../../hooks/blockReason.js';

const OUTCOMES = ['accepted', 'retry', 'unknown', 'sender', 'recipient', 'config'] as const;

/** A sender: state, facts, calls in the last hour, recent errors. */
export function SenderCard({
  sender,
  rules,
  policy,
  webhookUrl,
}: {
  sender: SenderView;
  rules: SenderRulesView;
  /** Of the account whose page shows it; null for staff. */
  policy: SendersView['policy'];
  /** Where Meta apps post. */
  webhookUrl: string;
}) {
  const { t } = useTranslation('senders');
  const { whole } = useNumbers();
  const { account } = useSenders();
  const use = policy ?? (sender.accountId === null ? 'all' : 'assigned');
  const ref = useRef<HTMLElement>(null);
  const { hash } = useLocation();
  useEffect(() => {
    if (hash === `#${sender.id}`) ref.current?.scrollIntoView();
  }, [hash, sender.id]);
  return (
    <Paper
      ref={ref}
      id={sender.id}
      className="anchored"
      withBorder
      p="md"
      component="section"
      aria-label={sender.number}
    >
      <Stack gap="md">
        <Group justify="space-between" align="flex-start" gap="sm">
          <Stack gap={2}>
            <Group gap="xs">
              <Title order={2} size="h4" className="tabular">
                {sender.number}
              </Title>
              <SenderBadge {...sender} />
            </Group>
            {account === undefined && sender.accountId !== null && (
              <Text>
                {t(sender.applicationIds.length === 0 ? 'own.ofAccount' : 'own.ofApplications', {
                  count: sender.applicationIds.length,
                  number: whole(sender.applicationIds.length),
                })}{' '}
                <Anchor
                  component={Link}
                  to={`/staff/accounts/${sender.accountId}`}
                  inherit
                  underline="always"
                >
                  {sender.accountName}
                </Anchor>
              </Text>
            )}
            {sender.isNew ? (
              <Text>
                {sender.provider.maySend
                  ? `${t('changes.activate.ready')} ${t(`changes.activate.what.${use}`)}`
                  : t('changes.activate.unready')}
              </Text>
            ) : (
              <Blocks blocks={sender.blocks} />
            )}
          </Stack>
          <SenderActions sender={sender} rules={rules} activation={t(`changes.activate.what.${use}`)} />
        </Group>
        <SimpleGrid cols={{ base: 2, sm: 4 }} spacing="sm" component="dl" m={0}>
          <Fact label={t('facts.phoneNumberId')}>
            <Id id={sender.phoneNumberId} what={t('facts.phoneNumberId')} />
          </Fact>
          <Fact label={t('facts.businessAccountId')}>
            {sender.businessAccountId === null ? (
              t('facts.unknown')
            ) : (
              <Id id={sender.businessAccountId} what={t('facts.businessAccountId')} />
            )}
          </Fact>
          <Fact label={t('facts.throughput')}>
            {t('facts.perSecond', { count: sender.throughput, number: whole(sender.throughput) })}
          </Fact>
          <Fact label={t('facts.template')}>
            <Text style={{ overflowWrap: 'anywhere' }}>
              {sender.template} · pt_BR, {sender.englishTemplateLanguage}
            </Text>
          </Fact>
        </SimpleGrid>
        {sender.hasOwnApp && (
          <dl style={{ margin: 0 }}>
            <Fact label={t('app.reports')}>
              <Id id={`${webhookUrl}/${sender.id}`} what={t('app.url')} />
            </Fact>
          </dl>
        )}
        <SenderProvider sender={sender} />
        <LastHour sender={sender} />
        <SenderErrors errors={sender.errors} />
      </Stack>
    </Paper>
  );
}

/** What it does not send, since and until when, and why. */
function Blocks({ blocks }: Pick<SenderView, 'blocks'>) {
  const { t } = useTranslation(['senders', 'health']);
  const nameOf = useCountryName();
  const reasonOf = useBlockReason();
  return blocks.map(({ onlyFor, source, errorCode, since, until, ...why }) => (
    <Text key={`${onlyFor} ${why.reason}`}>
      {onlyFor === '' && t('blocks.all')}
      {/^[A-Z]{2}$/.test(onlyFor) && t('blocks.country', { country: nameOf(onlyFor) })}
      {/^[a-z]/.test(onlyFor) &&
        t('blocks.language', {
          language: t(`health:languages.${onlyFor === 'pt-BR' ? 'pt_BR' : 'en'}`),
        })}{' '}
      <Time at={since} seconds />: {reasonOf(why)}
      {errorCode !== null && ` (${errorCode})`} · {t(`sources.${source}`)}
      {until !== null && (
        <>
          {' '}
          · {t('blocks.until')} <Time at={until} seconds />
        </>
      )}
    </Text>
  ));
}

function LastHour({ sender: { outcomes } }: { sender: SenderView }) {
  const { t } = useTranslation(['senders', 'health']);
  const { whole } = useNumbers();
  const counted = OUTCOMES.filter((outcome) => (outcomes[outcome] ?? 0) > 0);
  return (
    <div>
      <Small pb={4}>{t('lastHour')}</Small>
      <Group gap="xs">
        {counted.length === 0 && <Text>{t('health:none')}</Text>}
        {counted.map((outcome) => (
          <Badge key={outcome} color={outcome === 'accepted' ? 'teal' : 'orange'} size="lg">
            {t(`outcomes.${outcome}`)} · {whole(outcomes[outcome] ?? 0)}
          </Badge>
        ))}
      </Group>
    </div>
  );
}

/** The recent errors of a sender, each with its meaning and remedy. */
function SenderErrors({ errors }: { errors: readonly SenderErrorView[] }) {
  const { t } = useTranslation(['senders', 'sends']);
  const { whole } = useNumbers();
  const errorText = useErrorText();
  if (errors.length === 0) return null;
  return (
    <div>
      <Small pb={4}>{t('errors.title')}</Small>
      <Stack gap="sm">
        {errors.map(({ outcome, errorCode, times, lastAt, explanation }) => (
          <Stack gap={2} key={`${outcome} ${errorCode}`}>
            <Group gap="xs">
              <Badge color="gray">
                {errorCode === null
                  ? t(`outcomes.${outcome}`)
                  : t('sends:timeline.code', { code: errorCode })}
              </Badge>
              <Small>
                {t('errors.times', { count: times, times: whole(times) })} <Time at={lastAt} seconds />
              </Small>
            </Group>
            <Text>{errorText('meanings', explanation.meaning)}</Text>
            <Text c="dimmed">
              {t('errors.remedy', { remedy: errorText('remedies', explanation.remedy) })}
            </Text>
          </Stack>
        ))}
      </Stack>
    </div>
  );
}
