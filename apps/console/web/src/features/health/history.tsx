import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { HealthView } from '../../../../src/features/health/view.js';
import { DataTable } from '../../components/dataTable.js';
import { Small } from '../../components/facts.js';
import { Section } from '../../components/page.js';
import { Acknowledgement } from './acknowledgement.js';
import { useBlockedSenders, useSentence } from './findingText.js';

/** Problems of the last day that have ended, latest first. */
export function History({ view: { at, history, senders } }: { view: HealthView }) {
  const { t, i18n } = useTranslation('health');
  const sentenceOf = useSentence(senders);
  const blockedSenders = useBlockedSenders(senders);
  if (history.length === 0) return null;
  const today = new Date(at).toDateString();
  const range = (beganAt: Date, endedAt: Date): string =>
    new Intl.DateTimeFormat(i18n.language, {
      timeStyle: 'medium',
      // Nearly all entries are from today.
      ...(beganAt.toDateString() !== today && { dateStyle: 'short' }),
    }).formatRange(beganAt, endedAt);
  return (
    <Section title={t('history.title')} description={t('history.text')}>
      <DataTable
        label={t('history.title')}
        rows={history}
        getRowKey={({ id }) => id}
        columns={[
          {
            title: t('history.when'),
            w: '32%',
            render: ({ beganAt, endedAt }) => range(new Date(beganAt), new Date(endedAt)),
          },
          {
            title: t('history.what'),
            render: ({ finding, acknowledged }) => (
              <>
                <Text>{sentenceOf(finding)}</Text>
                <Small>
                  {[
                    t(`owners.${finding.owner}`),
                    t(`states.${finding.severity}`),
                    blockedSenders(finding, true),
                  ]
                    .filter(Boolean)
                    .join(' · ')}
                </Small>
                <Acknowledgement acknowledged={acknowledged} />
              </>
            ),
          },
        ]}
      />
    </Section>
  );
}
