import { Paper, Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** One figure with what it counts above it. */
export function Figure({ label, children }: { label: string; children: ReactNode }) {
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
