import { Paper, Text, type TextProps } from '@mantine/core';
import type { ReactNode } from 'react';

/** A secondary text below a main text. */
export function Small(props: TextProps & { children: ReactNode }) {
  return <Text size="xs" c="dimmed" component="div" {...props} />;
}

/** A label and its value, inside a `dl`. */
export function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <Text size="xs" c="dimmed" component="dt">
        {label}
      </Text>
      <Text component="dd" m={0} className="tabular">
        {children}
      </Text>
    </div>
  );
}

/** A setting for people who may not change it: its label, value and description, inside a `dl`. */
export function ReadOnlySetting({
  label,
  description,
  children,
}: {
  label: ReactNode;
  description: ReactNode;
  children: ReactNode;
}) {
  return (
    <div>
      <Text component="dt" fw={550}>
        {label}
      </Text>
      <Text component="dd" m={0} className="tabular">
        {children}
        <Small maw={480}>{description}</Small>
      </Text>
    </div>
  );
}

/** A number in a card, with its label above it. */
export function Statistic({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Paper withBorder p="md">
      <Small fw={550}>{label}</Small>
      <Text size="xl" fw={650} className="tabular" component="div">
        {children}
      </Text>
    </Paper>
  );
}
