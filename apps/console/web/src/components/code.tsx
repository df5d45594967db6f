import { Code, Group } from '@mantine/core';
import { Copy } from './copy.js';

/** Lines of code with a button that copies them; `what` names them. Long lines are scrolled, unless they `wrap`. */
export function CodeBlock({ code, what, wrap = false }: { code: string; what: string; wrap?: boolean }) {
  return (
    <Group bg="var(--mantine-color-default-hover)" bdrs="md" gap={4} p={4} wrap="nowrap" align="flex-start">
      <Code
        block
        flex={1}
        miw={0}
        bg="transparent"
        tabIndex={0}
        role="region"
        aria-label={what}
        style={wrap ? { whiteSpace: 'pre-wrap', wordBreak: 'break-all' } : {}}
      >
        {code}
      </Code>
      <Copy text={code} what={what} />
    </Group>
  );
}
