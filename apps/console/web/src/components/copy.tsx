import { ActionIcon, Code, CopyButton, Group, Tooltip } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';

/** Copies a text, and says that it did. `what` names it for those who cannot see it. */
export function Copy({ text, what }: { text: string; what: string }) {
  const { t } = useTranslation();
  return (
    <CopyButton value={text}>
      {({ copied, copy }) => {
        const label = copied ? t('copied') : t('copy', { what });
        return (
          <Tooltip label={label} withArrow>
            <ActionIcon variant="subtle" color={copied ? 'teal' : 'gray'} onClick={copy} aria-label={label}>
              {copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
            </ActionIcon>
          </Tooltip>
        );
      }}
    </CopyButton>
  );
}

/** An id that can be copied; `what` says of what it is. */
export function Id({ id, what }: { id: string; what: string }) {
  return (
    <Group gap={2} wrap="nowrap">
      <Code style={{ overflowWrap: 'anywhere' }}>{id}</Code>
      <Copy text={id} what={what} />
    </Group>
  );
}

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
