import { Button, Group, Stack, Switch } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import type { ApplicationView, LimitsView } from '../../../../src/features/applications/view.js';
import { useAccount } from '../../app/session.js';
import { put, useChange } from '../../hooks/change.js';
import { useNumbers } from '../../hooks/formats.js';
import { useNumberRule } from '../../hooks/forms.js';
import { ReadOnlySetting } from '../../components/facts.js';
import { NumberField } from '../../components/numberField.js';
import { Section } from '../../components/page.js';
import { Failure } from '../../components/states.js';

const BOUNDS = { min: 1, max: 1_000_000 };
/** The values of the fields when a limit is switched on (specification, section 8). */
const DEFAULTS = { perMinute: 60, perRecipientHour: 5 } as const;
const LIMITS = ['perMinute', 'perRecipientHour'] as const;

/** The input: a number, text that is not a number yet, or null while the limit is off. */
type Typed = Record<keyof LimitsView, number | string | null>;

/** The creation limits of an application, each switched on and off on its own. */
export function Limits({ application }: { application: ApplicationView }) {
  const { t } = useTranslation('applications');
  const { mayChange } = useAccount();
  const { whole } = useNumbers();
  return (
    <Section title={t('list.columns.limits')} description={t('limits.description')}>
      {mayChange ? (
        <LimitsForm application={application} />
      ) : (
        <Stack component="dl" m={0}>
          {LIMITS.map((limit) => (
            <ReadOnlySetting
              key={limit}
              label={t(`limits.${limit}Field`)}
              description={t(`limits.${limit}Hint`)}
            >
              {application.limits[limit] === null ? t('limits.off') : whole(application.limits[limit])}
            </ReadOnlySetting>
          ))}
        </Stack>
      )}
    </Section>
  );
}

function LimitsForm({ application }: { application: ApplicationView }) {
  const { t } = useTranslation('applications');
  const { path } = useAccount();
  const list = `${path}/applications`;
  const rule = useNumberRule()(BOUNDS);
  const form = useForm<Typed>({
    initialValues: { ...application.limits },
    validate: { perMinute: rule, perRecipientHour: rule },
  });
  const save = useChange([list], { done: t('limits.saved') });
  const submit = form.onSubmit((body) =>
    save.mutate(put(`${list}/${application.id}/limits`, body), { onSuccess: () => form.resetDirty(body) }),
  );
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        {save.error !== null && <Failure problem={save.error} />}
        {LIMITS.map((limit) => (
          <Group key={limit} justify="space-between" align="flex-start">
            <Switch
              label={t(`limits.${limit}`)}
              description={t(`limits.${limit}Hint`)}
              checked={form.values[limit] !== null}
              onChange={({ currentTarget: { checked } }) => {
                form.setFieldValue(limit, checked ? (application.limits[limit] ?? DEFAULTS[limit]) : null);
                form.clearFieldError(limit);
              }}
            />
            {form.values[limit] !== null && (
              <NumberField
                w={220}
                label={t(`limits.${limit}Field`)}
                {...BOUNDS}
                value={form.values[limit]}
                onChange={(value) => form.setFieldValue(limit, value)}
                error={form.errors[limit]}
              />
            )}
          </Group>
        ))}
        <Group>
          <Button type="submit" disabled={!form.isDirty()} loading={save.isPending}>
            {t('limits.save')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
