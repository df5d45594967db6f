import { Button } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';

export function Download({ path }: { path: string }) {
  const { t } = useTranslation();
  return (
    <Button
      component="a"
      href={`/api${path}`}
      download
      variant="default"
      leftSection={<IconDownload size={16} aria-hidden />}
    >
      {t('download')}
    </Button>
  );
}

/** Makes the browser save a file. */
export function saveFile(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  Object.assign(document.createElement('a'), { href: url, download: name }).click();
  URL.revokeObjectURL(url);
}
