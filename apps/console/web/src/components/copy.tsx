import { ActionIcon, Code, CopyButton, Group, Tooltip } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';

/** A button that copies `text`; `what` names it in the button's label. */
function Copy({ text, what }: { text: string; what: string }) {
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

/** An id with a copy button; `what` names it. */
export function Id({ id, what }: { id: string; what: string }) {
  return (
    <Group gap={2} wrap="nowrap">
      <Code className="breaks-words">{id}</Code>
      <Copy text={id} what={what} />
    </Group>
  );
}

/** Code with a copy button; `what` names it. Long lines scroll unless `wrap` is set. */
export function CodeBlock({ code, what, wrap = false }: { code: string; what: string; wrap?: boolean }) {
  return (
    <Group bg="var(--mantine-color-default-hover)" bdrs="md" gap={4} p={4} wrap="nowrap" align="flex-start">
      <Code
        block
        flex={1}
        miw={0}
        bg="transparent"
        tabIndex={0}
        role="group"
        aria-label={what}
        style={wrap ? { whiteSpace: 'pre-wrap' } : {}}
      >
        {code}
      </Code>
      <Copy text={code} what={what} />
    </Group>
  );
}
