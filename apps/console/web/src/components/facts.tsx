import { Paper, Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** One fact of a list of facts (`dl`). */
export function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <Text size="xs" c="dimmed" component="dt">
        {label}
      </Text>
      <Text size="sm" component="dd" m={0} className="figures" style={{ overflowWrap: 'anywhere' }}>
        {children}
      </Text>
    </div>
  );
}

/** One figure with what it counts above it. */
export function Statistic({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Paper withBorder p="md">
      <Text size="xs" c="dimmed" fw={550}>
        {label}
      </Text>
      <Text size="xl" fw={650} className="figures" component="div">
        {children}
      </Text>
    </Paper>
  );
}
