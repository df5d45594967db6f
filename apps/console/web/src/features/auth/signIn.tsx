import { Anchor, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useLocation, useNavigate } from 'react-router';
import { AuthLayout } from './authLayout.js';
import { SecondStepForm } from './secondStepForm.js';
import { SignInForm } from './signInForm.js';

/** Lets people in who have signed up, and brings them back to where they wanted to be. */
export function SignIn() {
  const { t } = useTranslation('auth');
  const [atSecondStep, setAtSecondStep] = useState(false);
  const client = useQueryClient();
  const navigate = useNavigate();
  const { state } = useLocation() as { state: { from?: string } | null };

  const enter = async (): Promise<void> => {
    client.clear();
    await navigate(state?.from ?? '/', { replace: true });
  };
  if (atSecondStep)
    return (
      <AuthLayout title={t('secondStep.title')}>
        <SecondStepForm onDone={enter} onAgain={() => setAtSecondStep(false)} />
      </AuthLayout>
    );
  return (
    <AuthLayout
      title={t('signIn.title')}
      footer={
        <>
          <div>
            {t('signIn.new')}{' '}
            <Anchor component={Link} to="/sign-up" underline="always">
              {t('signIn.signUp')}
            </Anchor>
          </div>
          <Text size="xs" c="dimmed" mt="sm">
            {t('signIn.forgotten')}
          </Text>
        </>
      }
    >
      <SignInForm onDone={async ({ secondStep }) => (secondStep ? setAtSecondStep(true) : enter())} />
    </AuthLayout>
  );
}
