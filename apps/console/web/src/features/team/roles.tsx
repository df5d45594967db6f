import { Text, type ComboboxItem } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

const ROLES = ['admin', 'developer', 'viewer'] as const;
type Role = (typeof ROLES)[number];

/** What a `Select` of a role needs: the roles, each with what it allows. */
export function useRoleOptions(): {
  data: ComboboxItem[];
  allowDeselect: false;
  comboboxProps: { width: number; position: 'bottom-start' };
  renderOption: (item: { option: ComboboxItem }) => ReactNode;
} {
  const { t } = useTranslation('team');
  return {
    data: ROLES.map((value) => ({ value, label: t(`roles.${value}`) })),
    allowDeselect: false,
    comboboxProps: { width: 280, position: 'bottom-start' },
    renderOption: ({ option }) => (
      <div>
        <Text size="sm">{option.label}</Text>
        <Text size="xs" c="dimmed">
          {t(`roleTexts.${option.value as Role}`)}
        </Text>
      </div>
    ),
  };
}
