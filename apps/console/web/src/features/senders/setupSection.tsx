import { Button, Checkbox, Group, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import type { SenderView, SetupView } from '../../../../src/features/senders/view.js';
import { useData } from '../../api/queries.js';
import { DialogButton } from '../../components/dialog.js';
import { Section } from '../../components/page.js';
import { Failure, Loaded } from '../../components/states.js';
import { post, useChange } from '../../hooks/change.js';
import { useSenders } from '../../hooks/senders.js';
import { isWell, SetupSteps, type SetupStepView } from './setupSteps.js';
import { TestCodeForm } from './testCodeForm.js';

/** The polling interval while Meta reviews a template. */
const REFRESH_MS = 10_000;

/** Results of the checks of a template that waits for approval, and of one that the setup can change. */
const PENDING = /^preflight:template_pending$/;
const DIFFERS = /^preflight:(?:template_category|template_button|ttl_too_long|footer_differs)$/;

const hasText = (steps: readonly SetupStepView[], wanted: RegExp): boolean =>
  steps.some(({ texts }) => texts.some(({ key }) => wanted.test(key)));

/**
 * The setup of a sender that is not activated: the state of each step at Meta, and the actions that continue the setup. The state is read
 * again when the page is loaded.
 *
 * @param activation describes the effect of activating the sender
 */
export function SetupSection({ sender, activation }: { sender: SenderView; activation: string }) {
  const { t } = useTranslation('senders');
  const { path, audit, mayChange } = useSenders();
  const setup = `${path}/${sender.id}/setup`;
  const read = useData<SetupView>(setup, {
    refreshMs: (data) => data !== undefined && hasText(data.steps, PENDING) && REFRESH_MS,
  });
  const run = useChange<SetupView>([path, audit]);
  return (
    <Section title={t('setup.title')} description={t('setup.description')}>
      <Loaded read={read}>
        {({ steps }) => {
          // Meta's state does not contain a refused registration.
          const shown = steps.map(
            (step) =>
              (step.step === 'registration' &&
                !isWell(step) &&
                run.data?.steps.find((ran) => ran.step === step.step && !isWell(ran))) ||
              step,
          );
          const isDone = shown.every(isWell);
          return (
            <>
              <SetupSteps steps={shown} />
              {run.error !== null && <Failure problem={run.error} />}
              {isDone ? (
                <Stack gap="sm" align="flex-start">
                  <Text>
                    {sender.provider.maySend
                      ? `${t('setup.done')} ${activation}`
                      : `${t('setup.done')} ${t('setup.asked')}`}
                  </Text>
                  {mayChange && (
                    <DialogButton label={t('test.title')} title={t('test.title')}>
                      <TestCodeForm sender={sender} />
                    </DialogButton>
                  )}
                </Stack>
              ) : (
                mayChange && (
                  <ContinueForm
                    needsPin={shown.some((step) => step.step === 'registration' && !isWell(step))}
                    differs={hasText(shown, DIFFERS)}
                    isRunning={run.isPending}
                    onRun={(body) => run.mutate(post(setup, body))}
                  />
                )
              )}
            </>
          );
        }}
      </Loaded>
    </Section>
  );
}

function ContinueForm({
  needsPin,
  differs,
  isRunning,
  onRun,
}: {
  needsPin: boolean;
  /** Whether an existing template differs from the required one. */
  differs: boolean;
  isRunning: boolean;
  onRun: (body: { pin: string | null; mayChangeTemplates: boolean }) => void;
}) {
  const { t } = useTranslation('senders');
  const form = useForm({
    initialValues: { pin: '', mayChangeTemplates: false },
    validate: { pin: (pin) => (!needsPin || /^\d{6}$/.test(pin.trim()) ? null : t('fieldErrors.pin')) },
  });
  return (
    <form
      noValidate
      onSubmit={form.onSubmit(({ pin, mayChangeTemplates }) =>
        onRun({ pin: needsPin ? pin.trim() : null, mayChangeTemplates: differs && mayChangeTemplates }),
      )}
    >
      <Stack gap="sm" maw={420}>
        {needsPin && (
          <TextInput
            label={t('setup.pin')}
            description={t('setup.pinWhat')}
            required
            inputMode="numeric"
            autoComplete="off"
            maxLength={6}
            {...form.getInputProps('pin')}
          />
        )}
        {differs && (
          <Checkbox
            label={t('setup.mayChange')}
            {...form.getInputProps('mayChangeTemplates', { type: 'checkbox' })}
          />
        )}
        <Group>
          <Button type="submit" loading={isRunning}>
            {t('setup.continue')}
          </Button>
        </Group>
        <Text size="sm" role="status">
          {isRunning && t('setup.running')}
        </Text>
      </Stack>
    </form>
  );
}
