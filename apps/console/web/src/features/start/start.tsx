import { Alert, Anchor, Button, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { IconAlertTriangle, IconLock } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { ApplicationView } from '../../../../src/features/applications/view.js';
import type { TryoutView } from '../../../../src/features/tryout/view.js';
import { call } from '../../api/http.js';
import { useData } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { CodeBlock } from '../../components/copy.js';
import { DialogButton } from '../../components/dialog.js';
import { Page, Section } from '../../components/page.js';
import { Loaded } from '../../components/states.js';
import { useDocs } from '../../hooks/docs.js';
import { NewKey } from '../applications/newKey.js';
import { SendStep, useTriedSend } from '../tryout/sendStep.js';
import { VerifyStep } from '../tryout/verifyStep.js';
import { useFirstKey } from './firstKey.js';
import { NextSteps } from './nextSteps.js';

/** The first screen of a new account: its test key, one call with it, Try it next to them, and the next steps. */
export function Start() {
  const { t } = useTranslation('start');
  const { path, mayChange } = useAccount();
  const read = useData<{ applications: ApplicationView[] }>(`${path}/applications`);
  const test = read.data?.applications.find(({ mode }) => mode === 'test');
  return (
    <Page title={t('title')} {...(test !== undefined && { description: t('description') })}>
      <Loaded read={read}>
        {({ applications }) => (
          <>
            {!mayChange && <Alert icon={<IconLock size={18} />}>{t('viewer')}</Alert>}
            {mayChange && test === undefined && <NoApplication />}
            {mayChange && test !== undefined && <FirstCalls test={test} applications={applications} />}
            <Section title={t('next')}>
              <NextSteps applications={applications} />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** The first screen of an account that an operator created. */
function NoApplication() {
  const { t } = useTranslation('start');
  const { path } = useAccount();
  return (
    <Section title={t('none.title')} description={t('none.text')}>
      <Button component={Link} to={`${path}/applications`} w="fit-content">
        {t('none.action')}
      </Button>
    </Section>
  );
}

function FirstCalls({
  test,
  applications,
}: {
  test: ApplicationView;
  applications: readonly ApplicationView[];
}) {
  const { path } = useAccount();
  const page = `${path}/applications/${test.id}`;
  return (
    <Loaded read={useData<TryoutView>(`${page}/tryout`)}>
      {(tryout) => (
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
          <FirstKey test={test} page={page} tryout={tryout} />
          <TryIt
            test={test}
            recipient={tryout.recipient}
            hasLive={applications.some(({ mode }) => mode === 'live')}
          />
        </SimpleGrid>
      )}
    </Loaded>
  );
}

/** The key, which is shown once, and a call with it. */
function FirstKey({
  test,
  page,
  tryout: { samples },
}: {
  test: ApplicationView;
  page: string;
  tryout: TryoutView;
}) {
  const { t } = useTranslation(['start', 'applications']);
  const docs = useDocs();
  const key = useFirstKey(useAccount().id);
  const curl = samples[0]?.samples[0]?.code ?? '';
  return (
    <Section title={t('key.title')} description={t('key.text')}>
      {key === undefined ? (
        <>
          <Text>{t('key.gone')}</Text>
          <Group>
            <DialogButton label={t('key.another')} title={t('applications:keys.create')} dialogSize="lg">
              <NewKey application={test} />
            </DialogButton>
          </Group>
        </>
      ) : (
        <>
          <Alert
            variant="light"
            color="orange"
            icon={<IconAlertTriangle size={18} />}
            title={t('applications:newKey.once')}
          >
            {t('applications:newKey.onceText')}
          </Alert>
          <CodeBlock code={key} what={t('applications:newKey.key')} wrap />
        </>
      )}
      <Text fw={550}>{t('call.title')}</Text>
      <CodeBlock code={key === undefined ? curl : withKey(curl, key)} what={t('call.name')} wrap />
      <Text>
        <Anchor component={Link} to={`${page}/tryout`}>
          {t('call.languages')}
        </Anchor>
        {' · '}
        <Anchor href={docs('quick-start')} target="_blank" rel="noreferrer">
          {t('call.docs')}
        </Anchor>
      </Text>
    </Section>
  );
}

/** The sample with the key in place of its first line, which explains the variable. */
const withKey = (curl: string, key: string): string =>
  curl.replace(/^#.*\n/, '').replace('$ONECODE_API_KEY', key);

/** Sends with the test application; or sends a real message with a live application, which the first such send creates. */
function TryIt({ test, recipient, hasLive }: { test: ApplicationView; recipient: string; hasLive: boolean }) {
  const { t } = useTranslation(['start', 'common']);
  const { path } = useAccount();
  const client = useQueryClient();
  const list = `${path}/applications`;
  const live = async (): Promise<string> => {
    // Read again, so that a second attempt does not create a second application.
    const { applications } = await call<{ applications: ApplicationView[] }>('GET', list);
    const known = applications.find(({ mode }) => mode === 'live');
    if (known !== undefined) return known.id;
    const made = await call<{ id: string }>('POST', list, { name: t('common:mode.live'), mode: 'live' });
    await client.invalidateQueries({ queryKey: list.split('/').filter(Boolean) });
    return made.id;
  };
  const creation = useTriedSend(async ({ isLive }) => `${list}/${isLive ? await live() : test.id}/tryout`);
  const { send = null, path: tried } = creation.data ?? {};
  return (
    <Stack gap="lg">
      <SendStep
        modes={['test', 'live']}
        recipient={recipient}
        creation={creation}
        note={hasLive ? '' : t('live.note', { name: t('common:mode.live') })}
      />
      {send !== null && <VerifyStep key={send.id} send={send} path={`${tried}/sends/${send.id}`} isBrief />}
    </Stack>
  );
}
