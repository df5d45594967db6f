import { Alert, SegmentedControl, Stack } from '@mantine/core';
import { IconLock } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useParams } from 'react-router';
import type { ApplicationView } from '../../../../src/features/applications/view.js';
import type { TryoutView } from '../../../../src/features/tryout/view.js';
import { useData } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { ModeBadge } from '../../components/badges.js';
import { CodeSamples } from '../../components/codeSamples.js';
import { Page, Section } from '../../components/page.js';
import { Loaded } from '../../components/states.js';
import { SendStep, useTriedSend } from './sendStep.js';
import { VerifyStep } from './verifyStep.js';

/** The page on which a developer tries an application: sends a code, follows it, verifies it, and sees each request and answer. */
export function Tryout() {
  const { t } = useTranslation(['tryout', 'common']);
  const { path, mayChange } = useAccount();
  const { application: id = '' } = useParams();
  const application = `${path}/applications/${encodeURIComponent(id)}`;
  const read = useData<ApplicationView>(application);
  const { data } = read;
  return (
    <Page
      title={data === undefined ? t('title') : t('titleOf', { name: data.name })}
      back={{ to: application, label: data?.name ?? t('common:words.application') }}
      description={data && t(`description.${data.mode}`)}
      facts={data && <ModeBadge mode={data.mode} />}
    >
      <Loaded read={read}>
        {({ id: key, mode }) =>
          mayChange ? (
            <Steps key={key} mode={mode} path={`${application}/tryout`} />
          ) : (
            <Alert icon={<IconLock size={18} />}>{t('viewer')}</Alert>
          )
        }
      </Loaded>
    </Page>
  );
}

function Steps({ mode, path }: { mode: ApplicationView['mode']; path: string }) {
  const creation = useTriedSend(() => path);
  const send = creation.data?.send ?? null;
  return (
    <Stack gap="lg">
      <Loaded read={useData<TryoutView>(path)}>
        {({ recipient }) => <SendStep modes={[mode]} recipient={recipient} creation={creation} />}
      </Loaded>
      {send !== null && <VerifyStep key={send.id} send={send} path={`${path}/sends/${send.id}`} />}
      <Samples path={send === null ? path : `${path}?send=${send.id}`} />
    </Stack>
  );
}

/** The calls of this page in six languages: the creation from the beginning, the others when there is a send. */
function Samples({ path }: { path: string }) {
  const { t } = useTranslation('tryout');
  const [chosen, choose] = useState<string>('createSend');
  return (
    <Section title={t('samples.title')} description={t('samples.description')}>
      <Loaded read={useData<TryoutView>(path)}>
        {({ samples }) => (
          <>
            {samples.length > 1 && (
              <SegmentedControl
                size="xs"
                w="fit-content"
                aria-label={t('samples.call')}
                value={chosen}
                onChange={choose}
                data={samples.map((one) => ({ value: one.call, label: t(`samples.${one.call}`) }))}
              />
            )}
            <CodeSamples
              samples={(samples.find((one) => one.call === chosen) ?? samples[0])?.samples ?? []}
            />
          </>
        )}
      </Loaded>
    </Section>
  );
}
