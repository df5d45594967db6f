import { Button } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';

/** Downloads a list as CSV. @param path of the download, below `/api` */
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
