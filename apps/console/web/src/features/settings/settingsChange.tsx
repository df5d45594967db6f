import { List, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { SettingEffectsView, SettingsView } from '../../../../src/features/settings/view.js';
import { useData } from '../../api/queries.js';
import { ChangeDialog } from '../../components/changeDialog.js';
import { Loaded } from '../../components/states.js';
import { put } from '../../hooks/change.js';
import { useDurations, useNumbers } from '../../hooks/formats.js';
import { useAuditTexts } from '../audit/auditTexts.js';

/** The numeric settings; two-factor authentication for staff has its own section. */
export type NumericSettings = Omit<SettingsView['settings'], 'staffTwoFactor'>;
type Name = keyof NumericSettings;

/** Asks for confirmation before settings change: shows the changes and their effects on templates and stored sends, and asks for a reason. */
export function SettingsChange({
  before,
  after,
  onClose,
}: {
  before: NumericSettings;
  after: NumericSettings;
  onClose: () => void;
}) {
  const { t } = useTranslation(['settings', 'common']);
  const { field, value } = useAuditTexts();
  const changed = (Object.keys(after) as Name[]).filter((name) => after[name] !== before[name]);
  const body = Object.fromEntries(changed.map((name) => [name, after[name]]));
  return (
    <ChangeDialog
      opened
      onClose={onClose}
      title={t('change.title')}
      action={t('common:save')}
      color="brand"
      change={put('/staff/settings', body)}
      asksReason
      stale={['/staff/settings', '/staff/audit', '/staff/accounts']}
      done={t('saved')}
    >
      <Stack gap="sm">
        <List size="sm">
          {changed.map((name) => (
            <List.Item key={name}>
              {field(name)}: {value(before[name], name)} → <strong>{value(after[name], name)}</strong>
            </List.Item>
          ))}
        </List>
        <Effects before={before} after={after} changed={changed} />
      </Stack>
    </ChangeDialog>
  );
}

/** The settings that affect stored data, for which the server counts the effects. */
const COUNTED = ['codeValiditySeconds', 'retainNumbersDays', 'retainSendsDays'] as const;

function Effects({
  before,
  after,
  changed,
}: {
  before: NumericSettings;
  after: NumericSettings;
  changed: readonly Name[];
}) {
  const { t } = useTranslation('settings');
  const counted = COUNTED.filter((name) => changed.includes(name) && after[name] !== null);
  const query = new URLSearchParams(counted.map((name) => [name, String(after[name])]));
  const read = useData<SettingEffectsView>(
    counted.length === 0 ? null : `/staff/settings/effects?${query.toString()}`,
  );
  const loosens =
    changed.includes('guessBudget') && (after.guessBudget ?? Infinity) > (before.guessBudget ?? Infinity);
  return (
    <>
      {loosens && <Text>{t('change.guesses')}</Text>}
      {counted.length > 0 && (
        <Loaded read={read}>{(effects) => <CountedEffects counted={counted} effects={effects} />}</Loaded>
      )}
    </>
  );
}

function CountedEffects({
  counted,
  effects: { activeCodes, numbersToMask, sendsToDelete, templates, countMax },
}: {
  counted: readonly Name[];
  effects: SettingEffectsView;
}) {
  const { t } = useTranslation('settings');
  const { whole } = useNumbers();
  const { seconds: durationText } = useDurations();
  const count = (number: number) => ({
    count: number,
    number: number < countMax ? whole(number) : t('change.atLeast', { number: whole(number) }),
  });
  return (
    <>
      {counted.includes('codeValiditySeconds') && (
        <>
          <Text>{t('change.activeCodes', count(activeCodes))}</Text>
          {templates.length > 0 && (
            <div>
              <Text fw={550}>{t('change.templates')}</Text>
              <List size="sm">
                {templates.map(({ number, name, language, footerMinutes, ttlSeconds }) => (
                  <List.Item key={`${number} ${name} ${language}`}>
                    {number}, {name} ({language}):{' '}
                    {[
                      footerMinutes === null && t('change.noFooter'),
                      typeof footerMinutes === 'number' &&
                        t('change.footer', { duration: durationText(footerMinutes * 60) }),
                      ttlSeconds !== undefined && t('change.ttl', { duration: durationText(ttlSeconds) }),
                    ]
                      .filter(Boolean)
                      .join(', ')}
                  </List.Item>
                ))}
              </List>
            </div>
          )}
        </>
      )}
      {counted.includes('retainNumbersDays') && <Text>{t('change.numbers', count(numbersToMask))}</Text>}
      {counted.includes('retainSendsDays') && <Text>{t('change.sends', count(sendsToDelete))}</Text>}
    </>
  );
}
