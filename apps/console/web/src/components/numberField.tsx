import { ActionIcon, Stack, TextInput } from '@mantine/core';
import { IconChevronDown, IconChevronUp } from '@tabler/icons-react';
import { type ClipboardEvent, type ComponentProps, type DragEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useNumberRule, type NumberBounds } from '../hooks/forms.js';
import { readNumber } from './readNumber.js';

/** A number, or the text in the field while it is not a number. */
type Value = number | string;

interface Props
  extends NumberBounds, Omit<ComponentProps<typeof TextInput>, 'value' | 'onChange' | 'min' | 'max'> {
  value?: Value;
  onChange: (value: Value) => void;
}

/**
 * A field for a number in the format of the page's language. It never changes the entered number: `useNumberRule` reports
 * errors on submit and when the user leaves the field.
 */
export function NumberField({
  value = '',
  onChange,
  min,
  max,
  decimals = 0,
  error,
  onBlur,
  ...input
}: Props) {
  const { language } = useTranslation().i18n;
  const faultOf = useNumberRule()({ min, max, decimals });
  // How the user wrote the value.
  const [typed, setTyped] = useState({ text: '', value: '' as Value, language });
  const [isLeft, setIsLeft] = useState(false);
  const isTyped = typed.value === value && typed.language === language;
  // Without thousands separators, which the next digit would make wrong.
  const format = { useGrouping: false, maximumFractionDigits: decimals };
  const written = typeof value === 'number' ? value.toLocaleString(language, format) : value;
  const text = isTyped ? typed.text : written;

  const enter = (entered: string): void => {
    const read = readNumber(entered, language, decimals);
    const next = typeof read === 'number' ? read : entered;
    setTyped({ text: entered, value: next, language });
    setIsLeft(false);
    onChange(next);
  };
  /** Browsers join lines, which would turn two cells of a spreadsheet into one number. */
  const enterSeveral = (event: ClipboardEvent | DragEvent, data: DataTransfer): void => {
    const cells = data
      .getData('text')
      .trim()
      .split(/[\t\r\n]+/);
    if (cells.length === 1) return;
    event.preventDefault();
    enter(cells.join('; '));
  };
  const canStep = (by: 1 | -1): boolean =>
    typeof value === 'number' ? (by > 0 ? value < max : value > min) : value === '';
  const step = (by: 1 | -1): void => {
    if (canStep(by)) onChange(typeof value === 'number' ? value + by : min);
  };
  const isStepped = decimals === 0 && input.disabled !== true;
  return (
    <TextInput
      inputMode={decimals === 0 ? 'numeric' : 'decimal'}
      autoComplete="off"
      rightSection={isStepped && <Steppers canStep={canStep} step={step} />}
      {...input}
      value={text}
      onChange={({ currentTarget }) => enter(currentTarget.value)}
      onPaste={(event) => enterSeveral(event, event.clipboardData)}
      onDrop={(event) => enterSeveral(event, event.dataTransfer)}
      onKeyDown={(event) => {
        if (!isStepped || (event.key !== 'ArrowUp' && event.key !== 'ArrowDown')) return;
        event.preventDefault();
        step(event.key === 'ArrowUp' ? 1 : -1);
      }}
      onBlur={(event) => {
        onBlur?.(event);
        // A message that appears here would move the button away from the pointer.
        setIsLeft(!(event.relatedTarget instanceof HTMLButtonElement));
      }}
      error={error ?? (isLeft && text !== '' ? faultOf(value) : null)}
    />
  );
}

function Steppers({ canStep, step }: { canStep: (by: 1 | -1) => boolean; step: (by: 1 | -1) => void }) {
  const steppers = [
    [1, IconChevronUp],
    [-1, IconChevronDown],
  ] as const;
  return (
    <Stack gap={0}>
      {steppers.map(([by, Icon]) => (
        <ActionIcon
          key={by}
          variant="subtle"
          color="gray"
          bg="transparent"
          size={16}
          tabIndex={-1}
          aria-hidden
          disabled={!canStep(by)}
          // The focus stays in the field.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => step(by)}
        >
          <Icon size={12} stroke={2} />
        </ActionIcon>
      ))}
    </Stack>
  );
}
