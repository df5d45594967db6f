import { Button, Group, Select, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconSend } from '@tabler/icons-react';
import type { UseMutationResult } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ApplicationView } from '../../../../src/features/applications/view.js';
import type { TryoutSendView } from '../../../../src/features/tryout/view.js';
import type { ApiProblem } from '../../api/http.js';
import { Confirm } from '../../components/dialog.js';
import { Section } from '../../components/page.js';
import { Failure } from '../../components/states.js';
import { useFieldErrors, useRequired } from '../../hooks/forms.js';
import { CallResult } from './callResult.js';

/** From the range that Ofcom reserves for fiction: the number belongs to nobody. */
const NOBODY = '+447700900123';

/** What somebody wants to send. */
export interface Wanted {
  to: string;
  code?: string;
  locale?: 'pt-BR' | 'en';
  isLive: boolean;
}

type Creation = UseMutationResult<TryoutSendView, ApiProblem, Wanted>;

/** The first step: a form, and what came of it. A live application asks before it sends. */
export function SendStep({ mode, creation }: { mode: ApplicationView['mode']; creation: Creation }) {
  const { t } = useTranslation('tryout');
  const [asked, ask] = useState<Wanted | null>(null);
  return (
    <Section title={t('send.title')} description={t(`send.description.${mode}`)}>
      <SendForm mode={mode} creation={creation} onSubmit={mode === 'live' ? ask : creation.mutate} />
      {creation.error !== null && <Failure problem={creation.error} />}
      {creation.data !== undefined && <CallResult call={creation.data.call} />}
      <Confirm
        opened={asked !== null}
        onClose={() => ask(null)}
        title={t('confirm.title')}
        action={t('confirm.action')}
        color="brand"
        pending={creation.isPending}
        problem={null}
        onConfirm={() => asked !== null && creation.mutate(asked, { onSettled: () => ask(null) })}
      >
        {t('confirm.text')}
      </Confirm>
    </Section>
  );
}

/** The number is in the field alone, and in no attribute of the page: React writes a changed `defaultValue` there. */
function SendForm({
  mode,
  creation,
  onSubmit,
}: {
  mode: ApplicationView['mode'];
  creation: Creation;
  onSubmit: (wanted: Wanted) => void;
}) {
  const { t } = useTranslation(['tryout', 'common']);
  const isLive = mode === 'live';
  const fieldErrorsOf = useFieldErrors();
  const form = useForm<{ to: string; code: string; locale: 'pt-BR' | 'en' | null }>({
    mode: 'uncontrolled',
    initialValues: { to: isLive ? '' : NOBODY, code: '', locale: null },
    validate: { to: useRequired() },
  });
  const submit = form.onSubmit(({ to, code, locale }) =>
    onSubmit({
      to: to.trim(),
      ...(code.trim() !== '' && { code: code.trim() }),
      ...(locale !== null && { locale }),
      isLive,
    }),
  );
  const refusedByConsole = creation.error === null ? {} : fieldErrorsOf(creation.error);
  const refusedByApi = creation.data?.call.problem?.fields ?? [];
  const inputOf = (field: 'to' | 'code') => {
    const refused = refusedByApi.includes(field) ? t(`send.refused.${field}`) : refusedByConsole[field];
    const { error = refused, ...input } = form.getInputProps(field);
    return { ...input, error };
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        <Group align="flex-start" gap="sm">
          <TextInput
            label={t('send.to')}
            description={t(`send.toHint.${mode}`)}
            required
            type="tel"
            autoComplete="off"
            w={{ base: '100%', sm: 300 }}
            key={form.key('to')}
            {...inputOf('to')}
            defaultValue={isLive ? '' : NOBODY}
          />
          {!isLive && (
            <TextInput
              label={t('send.code')}
              description={t('send.codeHint')}
              inputMode="numeric"
              autoComplete="off"
              maxLength={64}
              w={{ base: '100%', sm: 220 }}
              key={form.key('code')}
              {...inputOf('code')}
              defaultValue=""
            />
          )}
          <Select
            label={t('send.locale')}
            description={t('send.localeHint')}
            placeholder={t('send.localeNone')}
            data={(['pt-BR', 'en'] as const).map((value) => ({
              value,
              label: t(`common:languages.${value}`),
            }))}
            clearable
            w={{ base: '100%', sm: 220 }}
            key={form.key('locale')}
            {...form.getInputProps('locale')}
          />
        </Group>
        <Group>
          <Button type="submit" leftSection={<IconSend size={16} />} loading={creation.isPending}>
            {t(isLive ? 'send.buttonLive' : 'send.button')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
