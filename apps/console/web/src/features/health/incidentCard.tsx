import { Anchor, Button, Group, List, Paper, SimpleGrid, Stack, Text, ThemeIcon, Title } from '@mantine/core';
import { IconBook2 } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { HealthView, IncidentView } from '../../../../src/features/health/view.js';
import { Fact } from '../../components/facts.js';
import { Time } from '../../components/times.js';
import { useCountryName } from '../../hooks/countries.js';
import { useDurations, useNumbers, useTimes } from '../../hooks/formats.js';
import { AcknowledgeButton, Acknowledgement } from './acknowledgement.js';
import { HandOver } from '../../components/handOver.js';
import { useBlockedSenders, useRemedy, useSentence } from './findingText.js';
import { IncidentActions } from './incidentActions.js';
import { SEVERITIES } from './severities.js';

interface Props {
  view: HealthView;
  incident: IncidentView;
  /** Whether the card has the main action of the page. */
  isFirst: boolean;
}

/** A current problem: its cause, the responsible party, its start, the affected accounts, and the remedy. */
export function IncidentCard({ view, incident, isFirst }: Props) {
  const { t } = useTranslation('health');
  const { seconds } = useDurations();
  const sentenceOf = useSentence(view.senders);
  const remedyOf = useRemedy();
  const messageOf = useMessage(view);
  const { name, owner, severity, since, account, acknowledged, needsOperator } = incident;
  const isPrimary = isFirst && acknowledged === null;
  const { color, icon: Icon } = SEVERITIES[severity];
  const sentence = sentenceOf(incident);
  const age = Math.max(0, (Date.parse(view.at) - Date.parse(since)) / 1_000);
  return (
    <Paper withBorder p="lg" component="section" aria-label={sentence}>
      <Group gap="md" wrap="nowrap" align="flex-start">
        <ThemeIcon size={40} radius="xl" color={`${color}.9`} visibleFrom="xs">
          <Icon size={22} />
        </ThemeIcon>
        <Stack gap="sm" flex={1} miw={0}>
          <div>
            <Text c="dimmed">
              {t(`owners.${owner}`)} · {t(`states.${severity}`)} · {t('since')} <Time at={since} seconds /> ·{' '}
              {seconds(age)}
            </Text>
            <Title order={2} size="h4">
              {sentence}
            </Title>
          </div>
          {account !== undefined && (
            <Text>
              {t('ofAccount')}{' '}
              <Anchor component={Link} to={`/staff/accounts/${account.id}`} inherit underline="always">
                {account.name}
              </Anchor>
            </Text>
          )}
          <Blocks view={view} incident={incident} />
          <LowQuality incident={incident} />
          <Holding incident={incident} />
          <Hit view={view} incident={incident} />
          <Text maw={720}>{remedyOf(incident)}</Text>
          {needsOperator && <HandOver facts={messageOf(incident)} path={senderPath(incident)} />}
          <Acknowledgement acknowledged={acknowledged} />
          <Group gap="xs">
            <AcknowledgeButton incident={incident} isPrimary={isPrimary} />
            <Button
              component={Link}
              to={`/staff/runbooks#${name}`}
              size="xs"
              variant={isFirst && !isPrimary ? 'filled' : 'default'}
              leftSection={<IconBook2 size={14} />}
            >
              {t('runbook')}
            </Button>
            <IncidentActions incident={incident} />
          </Group>
        </Stack>
      </Group>
    </Paper>
  );
}

/** Returns the page on which an operator ends an incident: the sender's page if only one sender is affected. */
function senderPath({ blocks = [] }: IncidentView): string {
  const ids = new Set(blocks.map(({ senderId }) => senderId));
  return `/staff/senders${ids.size === 1 ? `/${[...ids][0]}` : ''}`;
}

/** Returns the function that writes the facts of an incident for a colleague. */
function useMessage(view: HealthView): (incident: IncidentView) => string[] {
  const { t } = useTranslation('health');
  const { whole } = useNumbers();
  const time = useTimes();
  const sentenceOf = useSentence(view.senders);
  const blockedSenders = useBlockedSenders(view.senders);
  const remedyOf = useRemedy();
  return (incident) => {
    const { owner, severity, since, blocks = [] } = incident;
    const waiting = waitingFor(view, incident);
    return [
      `${t(`owners.${owner}`)} (${t(`states.${severity}`)}): ${sentenceOf(incident)}`,
      `${t('handOver.since')}: ${time(since, { seconds: true })}`,
      [blockedSenders(incident), ...new Set(blocks.map(({ number }) => number))].filter(Boolean).join(' · '),
      waiting === null ? '' : `${t('hit.waiting')}: ${whole(waiting.count)}`,
      `${t('handOver.todo')}: ${remedyOf(incident)}`,
    ];
  };
}

/** The blocked senders, each with the scope and the end of its block. */
function Blocks({ view, incident }: Omit<Props, 'isFirst'>) {
  const { t } = useTranslation('health');
  const countryName = useCountryName();
  const blockedSenders = useBlockedSenders(view.senders);
  const { blocks = [] } = incident;
  if (blocks.length === 0) return null;
  const text = blockedSenders(incident);
  return (
    <div>
      {text !== '' && <Text fw={550}>{text}</Text>}
      <List size="sm">
        {blocks.map(({ senderId, number, onlyFor, until }) => (
          <List.Item key={`${senderId} ${onlyFor}`}>
            <Anchor component={Link} to={`/staff/senders/${senderId}`} inherit underline="always">
              {number}
            </Anchor>
            {/^[A-Z]/.test(onlyFor) && ` · ${t('blocked.country', { country: countryName(onlyFor) })}`}
            {/^[a-z]/.test(onlyFor) &&
              ` · ${t('blocked.language', { language: t(`languages.${onlyFor === 'pt-BR' ? 'pt_BR' : 'en'}`) })}`}
            {until !== null && until <= view.at && ` · ${t('blocked.tries')}`}
            {until !== null && until > view.at && (
              <>
                {' '}
                · {t('blocked.until')} <Time at={until} seconds />
              </>
            )}
          </List.Item>
        ))}
      </List>
    </div>
  );
}

function LowQuality({ incident }: Pick<Props, 'incident'>) {
  return incident.lowQuality?.map(({ senderId, number }) => (
    <Anchor key={senderId} component={Link} to={`/staff/senders/${senderId}`} underline="always">
      {number}
    </Anchor>
  ));
}

/** The senders with held messages, each with their number. */
function Holding({ incident }: Pick<Props, 'incident'>) {
  const { t } = useTranslation('health');
  const { whole } = useNumbers();
  return incident.holding?.map(({ senderId, number, messages }) => (
    <Text key={senderId}>
      <Anchor component={Link} to={`/staff/senders/${senderId}`} inherit underline="always">
        {number}
      </Anchor>{' '}
      · {t('heldMessages', { count: messages, number: whole(messages) })}
    </Text>
  ));
}

/** The waiting sends, the time until the first code expires, and the affected accounts. */
function Hit({ view, incident }: Omit<Props, 'isFirst'>) {
  const { t } = useTranslation('health');
  const { whole } = useNumbers();
  const { seconds } = useDurations();
  const waiting = waitingFor(view, incident);
  const accounts = incident.failures?.accounts ?? waiting?.accounts;
  if (accounts === undefined) return null;
  return (
    <SimpleGrid cols={{ base: 2, sm: 3 }} maw={560} spacing="sm" component="dl" m={0}>
      {waiting !== null && (
        <>
          <Fact label={t('hit.waiting')}>{whole(waiting.count)}</Fact>
          {waiting.expirySeconds !== null && (
            <Fact label={t('hit.expiry')}>{t('hit.in', { time: seconds(waiting.expirySeconds) })}</Fact>
          )}
        </>
      )}
      <Fact label={t('hit.accounts')}>{whole(accounts)}</Fact>
    </SimpleGrid>
  );
}

/** Returns the sends that wait because of an incident; null if none can. */
function waitingFor(view: HealthView, { holdsUp, account }: IncidentView) {
  if (holdsUp === undefined) return null;
  if (account === undefined) return view.waiting?.[holdsUp] ?? null;
  return view.ownWaiting?.find((one) => one.account.id === account.id)?.waiting ?? null;
}
