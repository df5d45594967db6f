import { Button, Code, CopyButton, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { IconCheck, IconCopy, IconDownload } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { saveFile } from '../../components/download.js';
import { useClose, useKeepOpen } from '../../components/dialog.js';
import { focusOnMount } from '../../hooks/forms.js';

export function BackupCodes({ codes }: { codes: readonly string[] }) {
  const { t } = useTranslation(['profile', 'common']);
  const close = useClose();
  useKeepOpen(t('backupCodes.title'));
  const text = `${codes.join('\n')}\n`;
  return (
    <Stack>
      <Text>{t('backupCodes.text')}</Text>
      <SimpleGrid cols={2} spacing="xs" role="list" aria-label={t('backupCodes.list')}>
        {codes.map((code) => (
          <Code key={code} role="listitem" fz="sm" ta="center" py={6}>
            {code}
          </Code>
        ))}
      </SimpleGrid>
      <Group justify="space-between">
        <Group gap="xs">
          <CopyButton value={text}>
            {({ copied, copy }) => (
              <Button
                variant="default"
                onClick={copy}
                leftSection={copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
              >
                {copied ? t('common:copied') : t('common:copy', { what: t('backupCodes.list') })}
              </Button>
            )}
          </CopyButton>
          <Button
            variant="default"
            leftSection={<IconDownload size={16} />}
            onClick={() => saveFile('onecode-backup-codes.txt', text, 'text/plain')}
          >
            {t('backupCodes.download')}
          </Button>
        </Group>
        <Button ref={focusOnMount} onClick={close}>
          {t('backupCodes.done')}
        </Button>
      </Group>
    </Stack>
  );
}
