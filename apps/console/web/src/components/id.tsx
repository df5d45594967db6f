import { Code, Group } from '@mantine/core';
import { Copy } from './copy.js';

/** An id that can be copied; `what` says of what it is. */
export function Id({ id, what }: { id: string; what: string }) {
  return (
    <Group gap={2} wrap="nowrap">
      <Code style={{ overflowWrap: 'anywhere' }}>{id}</Code>
      <Copy text={id} what={what} />
    </Group>
  );
}
