import { Button, Container } from '@mantine/core';
import { IconMapOff } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { EmptyState } from '../components/states.js';

/** The page for unknown URLs, and the fallback for pages that fail to render. */
export function UnknownPage() {
  const { t } = useTranslation();
  return (
    <Container component="main" py="xl">
      <EmptyState
        icon={IconMapOff}
        order={1}
        title={t('unknownPage.title')}
        action={
          <Button component={Link} to="/" variant="light">
            {t('unknownPage.home')}
          </Button>
        }
      >
        {t('unknownPage.text')}
      </EmptyState>
    </Container>
  );
}
