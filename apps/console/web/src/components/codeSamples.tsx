import { Tabs } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { SampleView } from '../../../src/features/tryout/view.js';
import { CodeBlock } from './copy.js';

/** One call of the API in several languages, each behind a tab. */
export function CodeSamples({ samples }: { samples: readonly SampleView[] }) {
  const { t } = useTranslation();
  return (
    <Tabs defaultValue={samples[0]?.label ?? null} keepMounted={false}>
      <Tabs.List mb="xs">
        {samples.map(({ label }) => (
          <Tabs.Tab key={label} value={label} px={{ base: 'xs', sm: 'md' }}>
            {label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {samples.map(({ label, code }) => (
        <Tabs.Panel key={label} value={label}>
          <CodeBlock code={code} what={t('sampleIn', { language: label })} />
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
