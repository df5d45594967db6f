import { Button, Code, CopyButton, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { IconCheck, IconCopy, IconDownload } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { PasswordForm } from './passwordForm.js';
import { replaceBackupCodes } from '../../api/auth.js';
import { Dialog } from '../../components/dialog.js';
import { focusOnMount } from '../../hooks/forms.js';

/** Backup codes, shown once, to copy or download. */
export function BackupCodes({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
  const { t } = useTranslation(['profile', 'common']);
  const text = `${codes.join('\n')}\n`;
  const download = (): void => {
    const url = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
    const link = Object.assign(document.createElement('a'), {
      href: url,
      download: 'onecode-backup-codes.txt',
    });
    link.click();
    URL.revokeObjectURL(url);
  };
  return (
    <Stack>
      <Text size="sm">{t('backupCodes.text')}</Text>
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
          <Button variant="default" leftSection={<IconDownload size={16} />} onClick={download}>
            {t('backupCodes.download')}
          </Button>
        </Group>
        <Button ref={focusOnMount} onClick={onClose}>
          {t('backupCodes.done')}
        </Button>
      </Group>
    </Stack>
  );
}

/** Replaces the backup codes and shows the new ones once. */
export function RenewBackupCodes({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useTranslation('profile');
  const [codes, setCodes] = useState<string[] | null>(null);
  const close = (): void => {
    setCodes(null);
    onClose();
  };
  return (
    <Dialog
      opened={opened}
      onClose={close}
      title={t(codes === null ? 'twoFactor.newCodes' : 'backupCodes.title')}
      persistent={codes !== null}
    >
      {codes === null ? (
        <PasswordForm
          action={t('backupCodes.renewAction')}
          onSubmit={async (password) => setCodes((await replaceBackupCodes(password)).backupCodes)}
          onClose={close}
        >
          {t('backupCodes.renew')}
        </PasswordForm>
      ) : (
        <BackupCodes codes={codes} onClose={close} />
      )}
    </Dialog>
  );
}
