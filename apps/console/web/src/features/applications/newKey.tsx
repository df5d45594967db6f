import { Alert, Anchor, Button, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { ApplicationView, NewKeyView } from '../../../../src/features/applications/view.js';
import type { TryoutView } from '../../../../src/features/tryout/view.js';
import { useData } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { CodeSamples } from '../../components/codeSamples.js';
import { CodeBlock } from '../../components/copy.js';
import { DialogForm, useClose, useKeepOpen } from '../../components/dialog.js';
import { Loaded } from '../../components/states.js';
import { post, useChange } from '../../hooks/change.js';
import { useDocs } from '../../hooks/docs.js';
import { midnight } from '../sends/sendQuery.js';
import { focusOnMount, useNameRule } from '../../hooks/forms.js';

const EXPIRIES = ['never', 'days30', 'days90', 'days365', 'date'] as const;
type Expiry = (typeof EXPIRIES)[number];
const DAYS: Readonly<Partial<Record<Expiry, number>>> = { days30: 30, days90: 90, days365: 365 };
const DAY_MS = 86_400_000;

/** Returns when a key expires: after a number of days, or at the end of the last day; null if it does not. */
function expiryTime(expiry: Expiry, lastDay: string): Date | null {
  const days = DAYS[expiry];
  if (days !== undefined) return new Date(Date.now() + days * DAY_MS);
  return expiry === 'date' ? midnight(lastDay, 1) : null;
}

/** Asks for the label and the end of a new key, and shows the key once. */
export function NewKey({ application }: { application: ApplicationView }) {
  const { t } = useTranslation('applications');
  const list = `${useAccount().path}/applications`;
  const form = useForm<{ label: string; expiry: Expiry; expiresAt: string }>({
    initialValues: { label: '', expiry: 'never', expiresAt: '' },
    validate: {
      label: useNameRule(100, { optional: true }),
      expiresAt: (lastDay, { expiry }) =>
        expiry === 'date' && !isAfterToday(lastDay) ? t('newKey.lastDayInvalid') : null,
    },
  });
  const create = useChange<NewKeyView>([list], { form, gcTime: 0 });
  useKeepOpen(create.data === undefined ? create.isPending : t('newKey.readyTitle'));
  if (create.data !== undefined) return <Ready apiKey={create.data.key} application={application} />;
  return (
    <DialogForm
      onSubmit={form.onSubmit(({ label, expiry, expiresAt: lastDay }) => {
        const expiresAt = expiryTime(expiry, lastDay);
        create.mutate(
          post(`${list}/${application.id}/keys`, {
            ...(label.trim() !== '' && { label: label.trim() }),
            ...(expiresAt !== null && { expiresAt }),
          }),
        );
      })}
      action={t('keys.create')}
      change={create}
    >
      <TextInput
        label={t('newKey.label')}
        description={t('newKey.labelHint')}
        placeholder={t('newKey.labelPlaceholder')}
        data-autofocus
        autoComplete="off"
        {...form.getInputProps('label')}
      />
      <Select
        label={t('newKey.expiry')}
        description={t('newKey.expiryHint')}
        data={EXPIRIES.map((value) => ({ value, label: t(`newKey.expiries.${value}`) }))}
        allowDeselect={false}
        {...form.getInputProps('expiry')}
      />
      {form.values.expiry === 'date' && (
        <TextInput type="date" label={t('newKey.lastDay')} required {...form.getInputProps('expiresAt')} />
      )}
    </DialogForm>
  );
}

const isAfterToday = (day: string): boolean => (midnight(day, 0) ?? new Date(0)) > new Date();

function Ready({ apiKey, application }: { apiKey: string; application: ApplicationView }) {
  const { t } = useTranslation('applications');
  const docs = useDocs();
  return (
    <Stack>
      <Alert color="orange" icon={<IconAlertTriangle size={18} />} title={t('newKey.once')}>
        {t('newKey.onceText')}
      </Alert>
      <CodeBlock code={apiKey} what={t('newKey.key')} wrap />
      <FirstSend application={application} apiKey={apiKey} />
      <Group justify="space-between">
        <Anchor href={docs('quick-start')} target="_blank" rel="noreferrer">
          {t('newKey.docs')}
        </Anchor>
        <Button ref={focusOnMount} onClick={useClose()}>
          {t('newKey.done')}
        </Button>
      </Group>
    </Stack>
  );
}

/** A first send with this key, in several languages, ready to run. The samples read the key from the environment, and so do not hold it. */
function FirstSend({ application: { id, mode }, apiKey }: { application: ApplicationView; apiKey: string }) {
  const { t } = useTranslation('applications');
  const { path } = useAccount();
  return (
    <>
      <div>
        <Text fw={550}>{t('newKey.try')}</Text>
        <Text c="dimmed">{t(mode === 'test' ? 'newKey.tryTest' : 'newKey.tryLive')}</Text>
      </div>
      <CodeBlock code={`export ONECODE_API_KEY='${apiKey}'`} what={t('newKey.variable')} wrap />
      <Loaded read={useData<TryoutView>(`${path}/applications/${id}/tryout`)}>
        {({ samples }) => <CodeSamples samples={samples[0]?.samples ?? []} />}
      </Loaded>
    </>
  );
}
