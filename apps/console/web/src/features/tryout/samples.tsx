import { Group, SegmentedControl } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { SampleView, TryoutView } from '../../../../src/features/tryout/view.js';
import { useData } from '../../api/queries.js';
import { CodeSamples } from '../../components/codeSamples.js';
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
            onChange={choose}
            data={available.map((value) => ({ value, label: t(`samples.${value}`) }))}
          />
        </Group>
      )}
      {samples === undefined &&
        (error === null ? <Loading /> : <Failure problem={error} onRetry={() => void refetch()} />)}
      {samples !== undefined && <CodeSamples samples={samples} />}
    </Section>
  );
}
