import { Anchor, Badge, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Link, useParams } from 'react-router';
import type { SenderErrorView, SendersView, SenderView } from '../../../../src/features/senders/view.js';
import { useData } from '../../api/queries.js';
import { SenderBadge } from '../../components/badges.js';
import { Id } from '../../components/copy.js';
import { Fact, Small } from '../../components/facts.js';
import { HandOver } from '../../components/handOver.js';
import { Page, Section } from '../../components/page.js';
import { Failure, Loaded } from '../../components/states.js';
import { Time } from '../../components/times.js';
import { useBlockReason } from '../../hooks/blockReason.js';
import { useCountryName } from '../../hooks/countries.js';
import { useErrorText } from '../../hooks/errorText.js';
import { useNumbers } from '../../hooks/formats.js';
import { useSenders } from '../../hooks/senders.js';
import { useAttention } from './attention.js';
import { SenderActions } from './senderActions.js';
import { SetupSection } from './setupSection.js';
import { SenderProvider } from './senderProvider.js';

const REFRESH_MS = 5_000;
const OUTCOMES = ['accepted', 'retry', 'unknown', 'sender', 'recipient', 'config'] as const;

/** A sender: what needs attention, its facts, Meta's reports, and its calls in the last hour. */
export function SenderPage() {
  const { t } = useTranslation(['senders', 'common']);
  const { sender: id } = useParams();
  const { path, mayControlDelivery } = useSenders();
  const read = useData<SendersView>(path, { refreshMs: REFRESH_MS });
  const sender = read.data?.senders.find((one) => one.id === id);
  const back = { to: path, label: t('common:nav.senders') };
  if (read.data === undefined || sender === undefined)
    return (
      <Page title={t('common:nav.senders')} back={back}>
        <Loaded read={read}>{() => <Text>{t('unknown')}</Text>}</Loaded>
      </Page>
    );
  const { rules, policy, webhookUrl } = read.data;
  const use = policy ?? (sender.accountId === null ? 'all' : 'assigned');
  return (
    <Page
      title={sender.number}
      back={back}
      facts={
        <>
          <SenderBadge {...sender} />
          <Owner sender={sender} />
        </>
      }
      actions={<SenderActions sender={sender} rules={rules} activation={t(`changes.activate.what.${use}`)} />}
    >
      {read.error !== null && <Failure problem={read.error} onRetry={() => void read.refetch()} />}
      <Attention sender={sender} activation={t(`changes.activate.what.${use}`)} />
      {sender.isNew && mayControlDelivery && (
        <SetupSection sender={sender} activation={t(`changes.activate.what.${use}`)} />
      )}
      <SenderProvider sender={sender} />
      <Section title={t('facts.title')}>
        <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} spacing="sm" component="dl" m={0}>
          <Facts sender={sender} />
        </SimpleGrid>
        {sender.hasOwnApp && (
          <dl style={{ margin: 0 }}>
            <Fact label={t('app.reports')}>
              <Id id={`${webhookUrl}/${sender.id}`} what={t('app.url')} />
            </Fact>
          </dl>
        )}
      </Section>
      <Section title={t('lastHour')}>
        <LastHour sender={sender} />
      </Section>
      <Section title={t('deliveries.title')} description={t('deliveries.text')}>
        <SenderDeliveries sender={sender} />
      </Section>
    </Page>
  );
}

/** For staff: the accounts that use it. */
function Owner({ sender }: { sender: SenderView }) {
  const { t } = useTranslation('senders');
  const { whole } = useNumbers();
  const { account } = useSenders();
  if (account !== undefined) return null;
  if (sender.accountId === null) return <Text>{t('list.shared')}</Text>;
  return (
    <Text>
      {t(sender.applicationIds.length === 0 ? 'own.ofAccount' : 'own.ofApplications', {
        count: sender.applicationIds.length,
        number: whole(sender.applicationIds.length),
      })}{' '}
      <Anchor component={Link} to={`/staff/accounts/${sender.accountId}`} inherit underline="always">
        {sender.accountName}
      </Anchor>
    </Text>
  );
}

/** The blocks of the sender and its recent errors, with their remedies; renders nothing if all is well. */
function Attention({ sender, activation }: { sender: SenderView; activation: string }) {
  const { t } = useTranslation(['senders', 'health']);
  const { path, account, mayControlDelivery } = useSenders();
  const attentionOf = useAttention();
  const errorText = useErrorText();
  const { isNew, blocks, errors, provider } = sender;
  // For a new sender, the section about its setup already shows this.
  if (errors.length === 0 && (isNew ? mayControlDelivery : blocks.length === 0)) return null;
  const explanations = [...blocks, ...errors].flatMap(({ explanation }) => explanation ?? []);
  const remedies = [...new Set(explanations.map((explanation) => errorText('remedy', explanation)))];
  const facts = [
    `${sender.number} · ${sender.phoneNumberId}`,
    ...attentionOf(sender),
    ...remedies.map((remedy) => t('errors.remedy', { remedy })),
  ];
  return (
    <Section title={t('list.columns.attention')}>
      {isNew ? (
        <Text>
          {provider.maySend ? `${t('changes.activate.ready')} ${activation}` : t('changes.activate.unready')}
        </Text>
      ) : (
        <Blocks blocks={blocks} />
      )}
      <SenderErrors errors={errors} />
      {account === undefined && remedies.length > 0 && (
        <HandOver facts={facts} path={`${path}/${sender.id}`} />
      )}
    </Section>
  );
}

function Facts({ sender }: { sender: SenderView }) {
  const { t } = useTranslation('senders');
  const { whole } = useNumbers();
  return (
    <>
      <Fact label={t('facts.phoneNumberId')}>
        <Id id={sender.phoneNumberId} what={t('facts.phoneNumberId')} />
      </Fact>
      {(['businessAccountId', 'portfolioId'] as const).map((name) => (
        <Fact key={name} label={t(`facts.${name}`)}>
          {sender[name] === null ? t('facts.unknown') : <Id id={sender[name]} what={t(`facts.${name}`)} />}
        </Fact>
      ))}
      <Fact label={t('facts.throughput')}>
        {t('facts.perSecond', { count: sender.throughput, number: whole(sender.throughput) })}
      </Fact>
      <Fact label={t('facts.template')}>
        <Text>
          {sender.template} · pt_BR, {sender.englishTemplateLanguage}
        </Text>
      </Fact>
    </>
  );
}

type Block = SenderView['blocks'][number];

/** A block: its scope, start, end, reason and remedy. */
function Blocks({ blocks }: Pick<SenderView, 'blocks'>) {
  const { t } = useTranslation(['senders', 'health']);
  const reasonOf = useBlockReason();
  const errorText = useErrorText();
  const scopeOf = useBlockScope();
  return blocks.map(({ scope, onlyFor, source, errorCode, since, until, isBlocking, ...why }) => (
    <div key={`${scope} ${onlyFor} ${why.reason}`}>
      <Text>
        {isBlocking ? scopeOf(scope, onlyFor) : t('blocks.tries')}{' '}
        <Time at={isBlocking ? since : (until ?? since)} seconds />: {reasonOf(why)}
        {errorCode !== null && ` (${errorCode})`} · {t(`sources.${source}`)}
        {isBlocking && until !== null && (
          <>
            {' '}
            · {t('blocks.until')} <Time at={until} seconds />
          </>
        )}
      </Text>
      {why.explanation !== null && (
        <Text c="dimmed">{t('errors.remedy', { remedy: errorText('remedy', why.explanation) })}</Text>
      )}
    </div>
  ));
}

/** Returns the function that gives the scope of a block, as a text that ends before its start time. */
function useBlockScope(): (scope: Block['scope'], onlyFor: string) => string {
  const { t } = useTranslation(['senders', 'health']);
  const nameOf = useCountryName();
  return (scope, onlyFor) => {
    if (onlyFor === '') return t(`blocks.${scope}`);
    if (/^[A-Z]{2}$/.test(onlyFor)) return t('blocks.country', { country: nameOf(onlyFor) });
    const language = t(`health:languages.${onlyFor === 'pt-BR' ? 'pt_BR' : 'en'}`);
    return t('blocks.language', { language });
  };
}

function LastHour({ sender: { outcomes } }: { sender: SenderView }) {
  const { t } = useTranslation(['senders', 'health']);
  const { whole } = useNumbers();
  const counted = OUTCOMES.filter((outcome) => (outcomes[outcome] ?? 0) > 0);
  return (
    <Group gap="xs">
      {counted.length === 0 && <Text>{t('health:none')}</Text>}
      {counted.map((outcome) => (
        <Badge key={outcome} color={outcome === 'accepted' ? 'teal' : 'orange'} size="lg">
          {t(`outcomes.${outcome}`)} · {whole(outcomes[outcome] ?? 0)}
        </Badge>
      ))}
    </Group>
  );
}

/** The share of the sender's messages that never arrived, of the last day and of the week before. */
function SenderDeliveries({ sender: { deliveries } }: { sender: SenderView }) {
  const { t } = useTranslation(['senders', 'health']);
  const { share, whole } = useNumbers();
  if (deliveries === null) return <Text>{t('health:none')}</Text>;
  const shareOf = ({ accepted, undelivered }: NonNullable<typeof deliveries>['lastDay']): string =>
    accepted === 0
      ? '–'
      : t('deliveries.share', {
          count: accepted,
          share: share(undelivered / accepted),
          accepted: whole(accepted),
        });
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm" component="dl" m={0}>
      <Fact label={t('deliveries.lastDay')}>{shareOf(deliveries.lastDay)}</Fact>
      <Fact label={t('deliveries.weekBefore')}>{shareOf(deliveries.weekBefore)}</Fact>
    </SimpleGrid>
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
            <Text>{errorText('meaning', explanation)}</Text>
            <Text c="dimmed">{t('errors.remedy', { remedy: errorText('remedy', explanation) })}</Text>
          </Stack>
        ))}
      </Stack>
    </div>
  );
}
