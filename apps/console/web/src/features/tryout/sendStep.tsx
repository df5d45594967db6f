import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconBrandWhatsapp, IconSend } from '@tabler/icons-react';
import { type UseMutationResult } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ApplicationView } from '../../../../src/features/applications/view.js';
import type { TrialView } from '../../../../src/features/ledger/view.js';
import type { TryoutSendView } from '../../../../src/features/tryout/view.js';
import { call, type ApiProblem } from '../../api/http.js';
import { useAside, useMutationOnce } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { Dialog, DialogForm } from '../../components/dialog.js';
import { LanguageSelect } from '../../components/languageSelect.js';
import { Section } from '../../components/page.js';
import { Failure } from '../../components/states.js';
import { useCountryName } from '../../hooks/countries.js';
import { useNumbers } from '../../hooks/formats.js';
import { useFieldErrors, useRequired } from '../../hooks/forms.js';
import { CallResult } from './callResult.js';

/** The values of the form. */
interface Wanted {
  to: string;
  code?: string;
  locale?: 'pt-BR' | 'en';
  isLive: boolean;
}

/** The result, and the path of its application's Try it page, below `/api`. */
type TriedSend = TryoutSendView & { path: string };
type Creation = UseMutationResult<TriedSend, ApiProblem, Wanted>;
type Mode = ApplicationView['mode'];

/** Sends with the application with the Try it page at `pathOf`. `gcTime: 0` deletes number and code with the page. */
export const useTriedSend = (pathOf: (wanted: Wanted) => string | Promise<string>): Creation =>
  useMutationOnce({
    gcTime: 0,
    mutationFn: async (wanted) => {
      const path = await pathOf(wanted);
      return { ...(await call<TryoutSendView>('POST', `${path}/sends`, wanted)), path };
    },
  });

/**
 * The first step: a form and its result. A live send needs a confirmation, after its number has been checked.
 *
 * @param modes one mode on an application's page; both, each with its own button and a short form, on the first screen
 * @param recipient an example, which is filled in if it does no harm
 * @param note an additional effect of a live send
 */
export function SendStep({
  modes,
  recipient,
  creation,
  note = '',
}: {
  modes: readonly Mode[];
  recipient: string;
  creation: Creation;
  note?: string;
}) {
  const { t } = useTranslation('tryout');
  const { path } = useAccount();
  const [asked, ask] = useState<Wanted | null>(null);
  const check = useMutationOnce<void, Wanted>({
    gcTime: 0,
    mutationFn: ({ to }) => call('POST', `${path}/tryout/recipient`, { to }),
    onSuccess: (_, wanted) => ask(wanted),
  });
  const submit = (wanted: Wanted): void => {
    check.reset();
    creation.reset();
    if (wanted.isLive) check.mutate(wanted);
    else creation.mutate(wanted);
  };
  const problem = check.error ?? creation.error;
  const isBrief = modes.length > 1;
  return (
    <Section title={t('send.title')} description={t(`send.description.${isBrief ? 'both' : modes[0]!}`)}>
      <SendForm
        modes={modes}
        recipient={recipient}
        problem={problem}
        refused={creation.data?.call.problem?.fields ?? []}
        pending={check.isPending || creation.isPending ? (check.variables ?? creation.variables) : undefined}
        onSubmit={submit}
      />
      {problem !== null && problem.code !== 'invalid_input' && <Failure problem={problem} />}
      {creation.data !== undefined && <CallResult call={creation.data.call} isBrief={isBrief} />}
      <Dialog
        opened={asked !== null}
        onClose={() => ask(null)}
        title={t('confirm.title', { number: asked?.to })}
      >
        <DialogForm
          onSubmit={(event) => {
            event.preventDefault();
            if (asked !== null) creation.mutate(asked, { onSettled: () => ask(null) });
          }}
          action={t('confirm.action')}
          change={{ isPending: creation.isPending, error: null }}
        >
          <Text>
            {t('confirm.text')} {note}
          </Text>
        </DialogForm>
      </Dialog>
    </Section>
  );
}

/** The number is only in the field, and in no attribute of the page: React writes a changed `defaultValue` there. */
function SendForm({
  modes,
  recipient,
  problem,
  refused,
  pending,
  onSubmit,
}: {
  modes: readonly Mode[];
  recipient: string;
  problem: ApiProblem | null;
  /** The fields that the API refused. */
  refused: readonly string[];
  pending: Wanted | undefined;
  onSubmit: (wanted: Wanted) => void;
}) {
  const { t } = useTranslation(['tryout', 'sends']);
  const isBrief = modes.length > 1;
  const mode = modes[0]!;
  const example = mode === 'test' ? recipient : '';
  const fieldErrorsOf = useFieldErrors();
  const trialText = useTrialText();
  const form = useForm<{ to: string; code: string; locale: 'pt-BR' | 'en' | null }>({
    mode: 'uncontrolled',
    initialValues: { to: example, code: '', locale: null },
    validate: { to: useRequired() },
  });
  const submitAs = (isLive: boolean) =>
    form.onSubmit(({ to, code, locale }) =>
      onSubmit({
        to: to.trim(),
        ...(code.trim() !== '' && { code: code.trim() }),
        ...(locale !== null && { locale }),
        isLive,
      }),
    );
  const refusedByConsole = problem === null ? {} : fieldErrorsOf(problem);
  const inputOf = (field: 'to' | 'code') => {
    const message = refused.includes(field) ? t(`send.refused.${field}`) : refusedByConsole[field];
    const { error = message, ...input } = form.getInputProps(field);
    return { ...input, error };
  };
  return (
    <form onSubmit={submitAs(mode === 'live')} noValidate>
      <Stack gap="sm">
        <Group align="flex-start" gap="sm">
          <TextInput
            label={t('send.to')}
            description={[t(`send.toHint.${isBrief ? 'both' : mode}`), modes.includes('live') && trialText]
              .filter(Boolean)
              .join(' ')}
            required
            type="tel"
            autoComplete="off"
            w={{ base: '100%', sm: isBrief ? '100%' : 300 }}
            key={form.key('to')}
            {...inputOf('to')}
            defaultValue={example}
          />
          {mode === 'test' && !isBrief && (
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
          {!isBrief && (
            <LanguageSelect
              label={t('sends:details.locale')}
              description={t('send.localeHint')}
              placeholder={t('send.localeNone')}
              clearable
              w={{ base: '100%', sm: 220 }}
              key={form.key('locale')}
              {...form.getInputProps('locale')}
            />
          )}
        </Group>
        <Group gap="sm">
          <Button
            type="submit"
            leftSection={<IconSend size={16} />}
            loading={pending?.isLive === (mode === 'live')}
          >
            {t(mode === 'live' ? 'send.buttonLive' : 'send.button')}
          </Button>
          {isBrief && (
            <Button
              variant="default"
              leftSection={<IconBrandWhatsapp size={16} />}
              loading={pending?.isLive === true}
              onClick={() => submitAs(true)()}
            >
              {t('send.buttonReal')}
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  );
}

/** The limits of an account's trial in a sentence; null when it is not on trial, and while that is unknown. */
function useTrialText(): string | null {
  const { t, i18n } = useTranslation('start');
  const { path } = useAccount();
  const nameOf = useCountryName();
  const { whole } = useNumbers();
  const data = useAside<TrialView>(`${path}/trial`);
  if (data === undefined || data.countries === null) return null;
  return t('trial', {
    countries: new Intl.ListFormat(i18n.language).format(data.countries.map(nameOf)),
    formatted: whole(data.sendsPerDay),
  });
}
