import { Button, Group, Radio, Stack } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ApplicationView } from '../../../../src/features/applications/view.js';
import { useAccount } from '../../app/session.js';
import { ReadOnlySetting } from '../../components/facts.js';
import { Section } from '../../components/page.js';
import { Failure } from '../../components/states.js';
import { put, useChange } from '../../hooks/change.js';

const CHECKS = ['off', 'observe', 'enforce'] as const;
const checkOf = (value: string) => CHECKS.find((check) => check === value) ?? 'off';

/** What the application does when a number may have changed hands. */
export function IdentityCheck({ application }: { application: ApplicationView }) {
  const { t } = useTranslation('applications');
  const { path, mayChange } = useAccount();
  const list = `${path}/applications`;
  const save = useChange([list], { done: t('identity.saved') });
  const [chosen, choose] = useState(application.identityCheck);
  const submit = (): void =>
    save.mutate(put(`${list}/${application.id}/identity-check`, { identityCheck: chosen }));
  if (!mayChange)
    return (
      <Section title={t('identity.title')} description={t('identity.description')}>
        <dl style={{ margin: 0 }}>
          <ReadOnlySetting
            label={t('identity.label')}
            description={t(`identity.${application.identityCheck}Hint`)}
          >
            {t(`identity.${application.identityCheck}`)}
          </ReadOnlySetting>
        </dl>
      </Section>
    );
  return (
    <Section title={t('identity.title')} description={t('identity.description')}>
      <Stack>
        {save.error !== null && <Failure problem={save.error} />}
        <Radio.Group value={chosen} onChange={(value) => choose(checkOf(value))} label={t('identity.label')}>
          <Stack gap="xs" mt="xs">
            {CHECKS.map((check) => (
              <Radio
                key={check}
                value={check}
                label={t(`identity.${check}`)}
                description={t(`identity.${check}Hint`)}
              />
            ))}
          </Stack>
        </Radio.Group>
        <Group>
          <Button onClick={submit} disabled={chosen === application.identityCheck} loading={save.isPending}>
            {t('identity.save')}
          </Button>
        </Group>
      </Stack>
    </Section>
  );
}
