import { Alert, Anchor, Button, Code, Group, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconCheck, IconX } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type {
  SendStateView,
  TriedSendView,
  TryoutStatusView,
  TryoutVerifyView,
} from '../../../../src/features/tryout/view.js';
import { call } from '../../api/http.js';
import { useData, useMutationOnce } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { StatusBadge, VerificationBadge } from '../../components/badges.js';
import { Id } from '../../components/copy.js';
import { Section } from '../../components/page.js';
import { Failure } from '../../components/states.js';
import { useRequired } from '../../hooks/forms.js';
import { CallResult } from './callResult.js';

const REFRESH_MS = 2_000;

/** The second step: the state of the send, and its code. Nothing is filled in, because the recipient would type the code. */
export function VerifyStep({
  send,
  path,
  isBrief = false,
}: {
  send: TriedSendView;
  path: string;
  /** Without the calls, their requests and responses. */
  isBrief?: boolean;
}) {
  const { t } = useTranslation(['tryout', 'sends']);
  const account = useAccount();
  const followed = useData<TryoutStatusView>(path, {
    refreshMs: (data) => !isOver(data?.state ?? send.state) && REFRESH_MS,
  });
  const verification = useMutationOnce<TryoutVerifyView, string>({
    gcTime: 0,
    mutationFn: (code) => call('POST', `${path}/verify`, { code }),
  });
  const state = followed.data?.state ?? send.state;
  return (
    <Section title={t('verify.title')} description={t('verify.description')}>
      <Group gap="xs" role="status" aria-label={t('verify.state')}>
        <StatusBadge status={state.status} />
        <VerificationBadge verification={verification.data?.result?.verification ?? state.verification} />
        <Anchor component={Link} to={`${account.path}/sends/${send.id}`}>
          {t('verify.timeline')}
        </Anchor>
      </Group>
      <Id id={send.id} what={t('sends:details.id')} />
      {followed.error !== null && <Failure problem={followed.error} />}
      <Text>
        {send.code === null ? t('verify.liveCode') : t('verify.testCode')}{' '}
        {send.code !== null && <Code fz="md">{send.code}</Code>}
      </Text>
      <VerifyForm onSubmit={verification.mutate} pending={verification.isPending} />
      {verification.error !== null && <Failure problem={verification.error} />}
      {verification.data !== undefined && (
        <>
          <Result {...verification.data} />
          <CallResult call={verification.data.call} isBrief={isBrief} />
        </>
      )}
      {followed.data !== undefined && (
        <CallResult call={followed.data.call} title={t('verify.lastLook')} isBrief={isBrief} />
      )}
    </Section>
  );
}

/** Whether the send is final: it was read or failed, or its code has expired. */
const isOver = ({ status, expiresAt }: SendStateView): boolean =>
  status === 'read' || status === 'failed' || Date.parse(expiresAt) < Date.now();

/** As with the number, the code is in no attribute of the page. */
function VerifyForm({ onSubmit, pending }: { onSubmit: (code: string) => void; pending: boolean }) {
  const { t } = useTranslation('tryout');
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { code: '' },
    validate: { code: useRequired() },
  });
  const submit = form.onSubmit(({ code }) => onSubmit(code.trim()));
  return (
    <form onSubmit={submit} noValidate>
      <Group align="flex-start" gap="sm">
        <TextInput
          label={t('verify.code')}
          inputMode="numeric"
          autoComplete="off"
          maxLength={64}
          w={{ base: '100%', sm: 220 }}
          key={form.key('code')}
          {...form.getInputProps('code')}
          defaultValue=""
        />
        <Button type="submit" mt={{ base: 0, sm: 25 }} loading={pending}>
          {t('verify.button')}
        </Button>
      </Group>
    </form>
  );
}

/** What a backend would do with the response. */
function Result({ result, call: { problem } }: TryoutVerifyView) {
  const { t } = useTranslation('tryout');
  if (problem !== null) return null;
  if (result === null)
    return (
      <Alert color="orange" variant="light">
        {t('verify.unknown')}
      </Alert>
    );
  const { valid, verification, attemptsLeft } = result;
  return (
    <Alert
      color={valid ? 'teal' : 'orange'}
      variant="light"
      icon={valid ? <IconCheck size={18} /> : <IconX size={18} />}
      role="status"
    >
      <Stack gap={4}>
        <Code w="fit-content">{`valid: ${valid}`}</Code>
        <Text>
          {valid
            ? t('verify.valid')
            : t(`verify.invalid.${verification}`, { count: attemptsLeft, formatted: attemptsLeft })}
        </Text>
      </Stack>
    </Alert>
  );
}
