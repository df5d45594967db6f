import { Group, PasswordInput, Stack, Text } from '@mantine/core';
import { IconCheck, IconCircle } from '@tabler/icons-react';
import type { ComponentProps } from 'react';
import { useTranslation } from 'react-i18next';
import { Small } from './facts.js';

const LENGTH_MIN = 12;

/** A field for a new password with a live checklist. The server decides. */
export function NewPassword({
  owner,
  ...input
}: ComponentProps<typeof PasswordInput> & {
  value?: string;
  /** Name and email of the user, which the password must not contain. */
  owner: readonly string[];
}) {
  const { t } = useTranslation();
  const typed = (input.value ?? '').toLowerCase();
  const known = owner
    .flatMap((text) => text.toLowerCase().split(/[\s@.]+/))
    .filter((word) => word.length > 3);
  return (
    <Stack gap={6}>
      <PasswordInput
        autoComplete="new-password"
        visibilityToggleButtonProps={{ 'aria-label': t('showPassword') }}
        {...input}
      />
      <div>
        <Requirement met={typed.length >= LENGTH_MIN} text={t('newPassword.length')} />
        <Requirement
          met={typed !== '' && !known.some((word) => typed.includes(word))}
          text={t('newPassword.notYours')}
        />
        <Small>{t('newPassword.hint')}</Small>
      </div>
    </Stack>
  );
}

function Requirement({ met, text }: { met: boolean; text: string }) {
  const Icon = met ? IconCheck : IconCircle;
  return (
    <Group gap={6} wrap="nowrap">
      <Icon size={13} aria-hidden color={`var(--mantine-color-${met ? 'teal-6' : 'dimmed'})`} />
      <Text size="xs" {...(!met && { c: 'dimmed' })}>
        {text}
      </Text>
    </Group>
  );
}
