import { Alert, Button, CopyButton, Group, Text } from '@mantine/core';
import { IconCheck, IconCopy, IconUserShield } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useMayOperate } from '../app/session.js';

/**
 * Explains to on-call engineers that only an operator can do what a page advises, with a message to copy; renders nothing for operators.
 *
 * @param facts the lines of the message, without the address of the page
 * @param path of the page where the operator can do it
 */
export function HandOver({ facts, path }: { facts: readonly string[]; path: string }) {
  const { t } = useTranslation('health');
  if (useMayOperate()) return null;
  const message = [...facts.filter(Boolean), `${window.location.origin}${path}`].join('\n');
  return (
    <Alert icon={<IconUserShield size={18} />} color="gray" variant="light" p="sm" maw={720}>
      <Group gap="sm" justify="space-between">
        <Text>{t('handOver.text')}</Text>
        <CopyButton value={message}>
          {({ copied, copy }) => (
            <Button
              size="xs"
              variant="default"
              leftSection={copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
              onClick={copy}
            >
              {t(copied ? 'handOver.copied' : 'handOver.copy')}
            </Button>
          )}
        </CopyButton>
      </Group>
    </Alert>
  );
}
