import { Paper, Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** A label and its value, inside a `dl`. */
export function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <Text size="xs" c="dimmed" component="dt">
        {label}
      </Text>
      <Text size="sm" component="dd" m={0} className="tabular" style={{ overflowWrap: 'anywhere' }}>
        {children}
      </Text>
    </div>
  );
}

/** A number in a card, with its label above it. */
export function Statistic({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Paper withBorder p="md">
      <Text size="xs" c="dimmed" fw={550}>
        {label}
      </Text>
      <Text size="xl" fw={650} className="tabular" component="div">
        {children}
      </Text>
    </Paper>
  );
}
