import { List, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { ConflictingTemplate, SettingsView } from '../../../../src/features/settings/view.js';
import { useData } from '../../api/queries.js';
import { ChangeDialog } from '../../components/changeDialog.js';
import { Loaded } from '../../components/states.js';
import { put } from '../../hooks/change.js';
import { useDurations } from '../../hooks/formats.js';
import { useAuditTexts } from '../audit/auditTexts.js';

/** The numeric settings; two-factor authentication for staff has its own section. */
export type NumericSettings = Omit<SettingsView['settings'], 'staffTwoFactor'>;
type Name = keyof NumericSettings;

/** Asks for confirmation before settings change: shows the changes and their effects on templates and sends, and asks for a reason. */
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
  const loosens =
    changed.includes('guessBudget') && (after.guessBudget ?? Infinity) > (before.guessBudget ?? Infinity);
  const isSet = (name: Name): boolean => changed.includes(name) && after[name] !== null;
  return (
    <>
      {loosens && <Text>{t('change.guesses')}</Text>}
      {changed.includes('codeValiditySeconds') && <ValidityEffects seconds={after.codeValiditySeconds} />}
      {isSet('retainNumbersDays') && <Text>{t('change.numbers')}</Text>}
      {isSet('retainSendsDays') && <Text>{t('change.sends')}</Text>}
    </>
  );
}

/** The effects of another code validity, with the templates that do not fit it. */
function ValidityEffects({ seconds }: { seconds: number }) {
  const { t } = useTranslation('settings');
  const { seconds: durationText } = useDurations();
  const read = useData<{ templates: ConflictingTemplate[] }>(
    `/staff/settings/conflicting-templates?codeValiditySeconds=${seconds}`,
  );
  return (
    <>
      <Text>{t('change.activeCodes')}</Text>
      <Loaded read={read}>
        {({ templates }) =>
          templates.length > 0 && (
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
          )
        }
      </Loaded>
    </>
  );
}
