import { TextInput } from '@mantine/core';
import { type ComponentProps, useState } from 'react';

/** A year that is typed digit by digit begins with `000`. */
const COMPLETE = /^20\d\d-|^$/;

/**
 * A field for a day (`2026-11-20`, or empty) that the URL of the page holds. It keeps the typed text itself, because the URL changes after
 * the render that would reset the field.
 */
export function DayField({
  value,
  onChange,
  ...input
}: Omit<ComponentProps<typeof TextInput>, 'value' | 'onChange' | 'type'> & {
  value: string | null;
  onChange: (day: string | null) => void;
}) {
  const [typed, setTyped] = useState(value ?? '');
  const [known, setKnown] = useState(value);
  // The URL can also change without this field, for example by a link to the page.
  if (value !== known) {
    setKnown(value);
    setTyped(value ?? '');
  }
  return (
    <TextInput
      {...input}
      type="date"
      value={typed}
      onChange={({ currentTarget: { value: day } }) => {
        setTyped(day);
        if (COMPLETE.test(day)) onChange(day || null);
      }}
    />
  );
}
