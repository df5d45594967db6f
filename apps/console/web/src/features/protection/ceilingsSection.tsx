import { NumberInput, Stack, Switch, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { Fragment } from 'react';
import { useTranslation } from 'react-i18next';
import { DialogForm } from '../../components/dialog.js';
import { useRangeRule } from '../../hooks/forms.js';
import { useNumbers } from '../../hooks/formats.js';
import { useAccountChange } from '../../hooks/staffChange.js';
import { EditableSection } from './editableSection.js';
import type { ProtectionProps } from './protectionSections.js';

/** The periods of the ceilings, with the value of the field when one is switched on. */
const PERIODS = { unitsPerDay: 1_000, unitsPerMonth: 20_000 } as const;
type Period = keyof typeof PERIODS;
const NAMES = Object.keys(PERIODS) as Period[];
const BOUNDS = { min: 0, max: 1_000_000_000 };

/** The ceilings of units of the account, and what is used. */
export function CeilingsSection({ path, protection, mayChange }: ProtectionProps) {
  const { t } = useTranslation('protection');
  const { whole } = useNumbers();
  const used = { unitsPerDay: protection.unitsToday, unitsPerMonth: protection.unitsThisMonth };
  const line = (name: Period): string => {
    const [ceiling, units] = [protection[name], whole(used[name])];
    return ceiling === null
      ? t(`ceilings.${name}.off`, { units })
      : t(`ceilings.${name}.on`, { units, ceiling: whole(ceiling) });
  };
  const isUsedUp = (name: Period): boolean => used[name] >= (protection[name] ?? Infinity);
  return (
    <EditableSection
      id="ceilings"
      mayChange={mayChange}
      title={t('ceilings.title')}
      edit={t('ceilings.edit')}
      now={
        <Stack gap={4}>
          {NAMES.map((name) => (
            <Text key={name} size="sm" fw={isUsedUp(name) ? 600 : 400}>
              {line(name)}
              {isUsedUp(name) && ` ${t('ceilings.usedUp')}`}
            </Text>
          ))}
          <Text size="sm" c="dimmed">
            {t('ceilings.what')}
          </Text>
        </Stack>
      }
    >
      {(close) => <CeilingsForm path={path} protection={protection} onClose={close} />}
    </EditableSection>
  );
}

function CeilingsForm({
  path,
  protection: { unitsPerDay, unitsPerMonth },
  onClose,
}: Omit<ProtectionProps, 'mayChange'> & { onClose: () => void }) {
  const { t } = useTranslation(['protection', 'common']);
  const change = useAccountChange(path, onClose);
  const rangeRule = useRangeRule();
  const rule = (value: number | null): string | null =>
    value === null ? null : rangeRule(BOUNDS.min, BOUNDS.max)(value);
  const form = useForm<Record<Period, number | null>>({
    initialValues: { unitsPerDay, unitsPerMonth },
    validate: { unitsPerDay: rule, unitsPerMonth: rule },
  });
  return (
    <DialogForm
      onSubmit={form.onSubmit((body) => change.send({ method: 'PUT', path: '/protection/ceilings', body }))}
      action={t('common:save')}
      onClose={onClose}
      pending={change.pending}
      problem={change.problem}
    >
      {NAMES.map((name, index) => (
        <Fragment key={name}>
          <Switch
            label={t(`ceilings.${name}.switch`)}
            checked={form.values[name] !== null}
            onChange={({ currentTarget: { checked } }) =>
              form.setFieldValue(name, checked ? PERIODS[name] : null)
            }
            {...(index === 0 && { 'data-autofocus': true })}
          />
          {form.values[name] !== null && (
            <NumberInput label={t(`ceilings.${name}.label`)} {...BOUNDS} {...form.getInputProps(name)} />
          )}
        </Fragment>
      ))}
    </DialogForm>
  );
}
