import { Button } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { ApplicationView } from '../../../../src/features/applications/view.js';
import { useAccount } from '../../app/session.js';
import { Section } from '../../components/page.js';
import { NextSteps, useHasSends } from '../start/nextSteps.js';

/** What is left to do until an account sends for real, shown until its first verified code. */
export function FirstSteps({ applications }: { applications: readonly ApplicationView[] }) {
  const { t } = useTranslation('start');
  const { path } = useAccount();
  const verified = useHasSends('verification=verified&');
  if (verified !== false) return null;
  return (
    <Section
      title={t('title')}
      {...(applications.some(({ mode }) => mode === 'test') && { description: t('description') })}
      actions={
        <Button component={Link} to={`${path}/start`} size="xs">
          {t('action')}
        </Button>
      }
    >
      <NextSteps applications={applications} />
    </Section>
  );
}
