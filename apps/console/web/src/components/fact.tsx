import { Text } from '@mantine/core';
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
