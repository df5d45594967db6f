import { Alert, Stack } from '@mantine/core';
import { IconLock } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useParams } from 'react-router';
import type { ApplicationView } from '../../../../src/features/applications/view.js';
import { useData } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { ModeBadge } from '../../components/badges.js';
import { Page } from '../../components/page.js';
import { Failure, Loading } from '../../components/states.js';
import { Samples } from './samples.js';
import { SendStep } from './sendStep.js';
import { useCreation, useTriedSend, useVerification } from './tryoutCalls.js';
import { VerifyStep } from './verifyStep.js';

/** The page on which a developer tries an application: sends a code, follows it, verifies it, and sees each request and answer. */
export function Tryout() {
  const { t } = useTranslation('tryout');
  const { path, mayChange } = useAccount();
  const { application: id = '' } = useParams();
  const application = `${path}/applications/${encodeURIComponent(id)}`;
  const { data, error, refetch } = useData<ApplicationView>(application);
  const back = { to: application, label: data?.name ?? t('back') };
  if (data === undefined)
    return (
      <Page title={t('title')} back={back}>
        {error === null ? <Loading /> : <Failure problem={error} onRetry={() => void refetch()} />}
      </Page>
    );
  return (
    <Page
      title={t('titleOf', { name: data.name })}
      back={back}
      description={t(`description.${data.mode}`)}
      facts={<ModeBadge mode={data.mode} />}
    >
      {mayChange ? (
        <Steps key={data.id} application={data} path={`${application}/tryout`} />
      ) : (
        <Alert icon={<IconLock size={18} />}>{t('viewer')}</Alert>
      )}
    </Page>
  );
}

function Steps({ application, path }: { application: ApplicationView; path: string }) {
  const creation = useCreation(path);
  const send = creation.data?.send ?? null;
  const followed = useTriedSend(path, send);
  const verification = useVerification(path, send);
  return (
    <Stack gap="lg">
      <SendStep
        application={application}
        creation={creation}
        // What was said of the send before is no longer about this one.
        onNew={() => verification.reset()}
      />
      {send !== null && (
        <VerifyStep key={send.id} send={send} followed={followed} verification={verification} />
      )}
      <Samples
        path={path}
        made={{
          createSend: creation.data?.samples,
          getSendStatus: followed.data?.samples,
          verifyCode: verification.data?.samples,
        }}
      />
    </Stack>
  );
}
