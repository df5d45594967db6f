import { Group, SegmentedControl, Tabs } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { SampleView, TryoutView } from '../../../../src/features/tryout/view.js';
import { useData } from '../../api/queries.js';
import { CodeBlock } from '../../components/copy.js';
import { Section } from '../../components/page.js';
import { Failure, Loading } from '../../components/states.js';

const CALLS = ['createSend', 'getSendStatus', 'verifyCode'] as const;
type CallName = (typeof CALLS)[number];

/** The calls of this page in six languages: the creation from the beginning, each other one once it was made. */
export function Samples({
  path,
  made,
}: {
  path: string;
  made: Readonly<Record<CallName, readonly SampleView[] | undefined>>;
}) {
  const { t } = useTranslation('tryout');
  const { data, error, refetch } = useData<TryoutView>(path);
  const [chosen, choose] = useState<CallName>('createSend');
  const available = CALLS.filter((name) => name === 'createSend' || made[name] !== undefined);
  const shown = available.includes(chosen) ? chosen : 'createSend';
  const samples = made[shown] ?? data?.samples;
  return (
    <Section title={t('samples.title')} description={t('samples.description')}>
      {available.length > 1 && (
        <Group>
          <SegmentedControl
            size="xs"
            aria-label={t('samples.call')}
            value={shown}
            onChange={(value) => choose(value)}
            data={available.map((value) => ({ value, label: t(`samples.${value}`) }))}
          />
        </Group>
      )}
      {samples === undefined &&
        (error === null ? <Loading /> : <Failure problem={error} onRetry={() => void refetch()} />)}
      {samples !== undefined && <Languages samples={samples} />}
    </Section>
  );
}

function Languages({ samples }: { samples: readonly SampleView[] }) {
  const { t } = useTranslation('tryout');
  return (
    <Tabs defaultValue={samples[0]?.label ?? null} keepMounted={false}>
      <Tabs.List mb="xs">
        {samples.map(({ label }) => (
          <Tabs.Tab key={label} value={label}>
            {label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {samples.map(({ label, code }) => (
        <Tabs.Panel key={label} value={label}>
          <CodeBlock code={code} what={t('samples.in', { language: label })} />
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
