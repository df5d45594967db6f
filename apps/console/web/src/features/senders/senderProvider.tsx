import { Badge, List, SimpleGrid, Stack, Text, ThemeIcon } from '@mantine/core';
import { IconAlertTriangle, IconCheck } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { SenderView } from '../../../../src/features/senders/view.js';
import { DataTable } from '../../components/dataTable.js';
import { Fact, Small } from '../../components/facts.js';
import { Section } from '../../components/page.js';
import { Time } from '../../components/times.js';
import { useDurations, useNumbers } from '../../hooks/formats.js';
import { CheckButton } from './checkButton.js';

type ProviderView = SenderView['provider'];
type TemplateView = ProviderView['templates'][number];

/** Meta's reports about a sender: facts with their times, templates by language, and the preflight. */
export function SenderProvider({ sender }: { sender: SenderView }) {
  const { t } = useTranslation(['senders', 'common']);
  const { provider } = sender;
  return (
    <Section
      title={t('provider.title')}
      description={
        provider.readAt === null ? (
          t('provider.never')
        ) : (
          <>
            {t('common:words.asOf')} <Time at={provider.readAt} seconds />
          </>
        )
      }
      actions={<CheckButton id={sender.id} />}
    >
      {(provider.facts.length > 0 || sender.held24h > 0) && <ProviderFacts sender={sender} />}
      {provider.templates.length > 0 && <Templates name={sender.template} templates={provider.templates} />}
      {provider.checks.length > 0 && <Preflight provider={provider} />}
    </Section>
  );
}

function ProviderFacts({
  sender: {
    provider: { facts, recipients24h, recipientsMax, recipientsLeft },
    held24h,
  },
}: {
  sender: SenderView;
}) {
  const { t } = useTranslation('senders');
  const { whole } = useNumbers();
  return (
    <SimpleGrid cols={{ base: 2, sm: 4 }} spacing="sm" component="dl" m={0}>
      {facts.map((fact) => (
        <Fact key={`${fact.name} ${fact.at} ${fact.value}`} label={t(`provider.facts.${fact.name}`)}>
          {fact.sentence === null ? fact.value : t(`provider.alerts.${fact.sentence}`)}
          {fact.sentence !== null && fact.value !== '' && <Small>{fact.value}</Small>}
          <FactTime {...fact} />
        </Fact>
      ))}
      {recipients24h !== null && (
        <Fact label={t('provider.facts.recipients24h')}>
          {recipientsMax === null
            ? whole(recipients24h)
            : t('list.of', { used: whole(recipients24h), most: whole(recipientsMax) })}
          {recipientsLeft !== null && (
            <Small>{t('provider.left', { count: recipientsLeft, number: whole(recipientsLeft) })}</Small>
          )}
        </Fact>
      )}
      <Fact label={t('provider.facts.held24h')}>
        {whole(held24h)}
        {held24h > 0 && <Small>{t('provider.held')}</Small>}
      </Fact>
    </SimpleGrid>
  );
}

/** When a fact began or an alert arrived. */
function FactTime({ at, since }: Pick<ProviderView['facts'][number], 'at' | 'since'>) {
  const { t } = useTranslation('health');
  return (
    <Small>
      {since !== null && `${t('since')} `}
      <Time at={since ?? at} wraps />
    </Small>
  );
}

function Templates({ name, templates }: { name: string; templates: readonly TemplateView[] }) {
  const { t } = useTranslation(['senders', 'common']);
  const { seconds: durationText } = useDurations();
  const column = (
    name: 'category' | 'quality' | 'ttl' | 'footer',
    render: (one: TemplateView) => ReactNode,
  ) => ({ title: t(`provider.columns.${name}`), render: (one: TemplateView) => render(one) ?? '–' });
  return (
    <DataTable
      label={t('provider.templates', { name })}
      minWidth={560}
      fz="sm"
      rows={templates}
      getRowKey={({ language }) => language}
      columns={[
        { title: t('common:language'), render: ({ language }) => language },
        {
          title: t('common:words.status'),
          render: ({ isUsable, status, reason }) => (
            <>
              <Badge color={isUsable ? 'teal' : 'red'}>{status ?? '–'}</Badge>
              {reason !== null && <Small>{reason}</Small>}
            </>
          ),
        },
        column('category', ({ category }) => category),
        column('quality', ({ quality }) => quality),
        column('ttl', ({ ttlSeconds }) => ttlSeconds && durationText(ttlSeconds)),
        column(
          'footer',
          ({ codeExpirationMinutes }) => codeExpirationMinutes && durationText(codeExpirationMinutes * 60),
        ),
        {
          title: t('common:words.since'),
          render: ({ since }) => (since === null ? '–' : <Time at={since} />),
        },
      ]}
    />
  );
}

/** The checks that need attention, and the number of the others, which expands them. */
function Preflight({ provider: { checks, triedAt } }: { provider: ProviderView }) {
  const { t } = useTranslation('senders');
  const { whole } = useNumbers();
  const passed = checks.filter(({ ok }) => ok);
  return (
    <Stack gap={6}>
      <Small>
        {t('provider.preflight')} {triedAt !== null && <Time at={triedAt} seconds />}
      </Small>
      <Checks checks={checks.filter(({ ok }) => !ok)} />
      {passed.length > 0 && (
        <details>
          <Text component="summary">
            {t('provider.passed', { count: passed.length, number: whole(passed.length) })}
          </Text>
          <Checks checks={passed} />
        </details>
      )}
    </Stack>
  );
}

function Checks({ checks }: { checks: ProviderView['checks'] }) {
  const { t } = useTranslation(['senders', 'preflight']);
  if (checks.length === 0) return null;
  return (
    <List size="sm" spacing={6} center lh={1.4} listStyleType="none" ps={0} pt={4}>
      {checks.map(({ check, ok, name, facts, text }) => (
        <List.Item
          key={check}
          icon={
            <ThemeIcon
              size={18}
              radius="xl"
              color={ok ? 'teal.9' : 'orange.9'}
              aria-label={t(`provider.is.${ok ? 'ok' : 'bad'}`)}
            >
              {ok ? <IconCheck size={12} /> : <IconAlertTriangle size={12} />}
            </ThemeIcon>
          }
        >
          <Text lh={1.4}>{t(`preflight:${name}`, { ...facts, defaultValue: text })}</Text>
        </List.Item>
      ))}
    </List>
  );
}
