import { Badge, Button, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useSession } from '../../app/session.js';
import { Section } from '../../components/section.js';
import { RenewBackupCodes } from './renewBackupCodes.js';
import { TurnOff } from './turnOffTwoFactor.js';
import { TurnOn } from './turnOnTwoFactor.js';

/** Turns the second factor on and off. */
export function TwoFactor() {
  const { t } = useTranslation('profile');
  const { user, needsTwoFactor } = useSession();
  const { hasTwoFactor } = user;
  const [open, setOpen] = useState<'on' | 'off' | 'codes' | null>(null);
  const close = (): void => setOpen(null);
  return (
    <Section
      title={t('twoFactor.title')}
      description={t('twoFactor.description')}
      actions={
        hasTwoFactor ? (
          <>
            <Button size="xs" variant="default" onClick={() => setOpen('codes')}>
              {t('twoFactor.newCodes')}
            </Button>
            {!needsTwoFactor && (
              <Button size="xs" variant="default" onClick={() => setOpen('off')}>
                {t('twoFactor.turnOff')}
              </Button>
            )}
          </>
        ) : (
          <Button size="xs" onClick={() => setOpen('on')}>
            {t('twoFactor.turnOn')}
          </Button>
        )
      }
    >
      <Badge color={hasTwoFactor ? 'teal' : 'gray'}>
        {t(hasTwoFactor ? 'twoFactor.on' : 'twoFactor.off')}
      </Badge>
      {needsTwoFactor && (
        <Text size="sm" c="dimmed">
          {t('twoFactor.required')}
        </Text>
      )}
      <TurnOn opened={open === 'on'} onClose={close} />
      <TurnOff opened={open === 'off'} onClose={close} />
      <RenewBackupCodes opened={open === 'codes'} onClose={close} />
    </Section>
  );
}
