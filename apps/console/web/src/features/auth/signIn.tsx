import { Anchor, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useLocation, useNavigate } from 'react-router';
import type { SignUpOfferView } from '../../../../src/features/auth/view.js';
import { useData } from '../../api/queries.js';
import { AuthLayout } from './authLayout.js';
import { SecondStepForm } from './secondStepForm.js';
import { SignInForm } from './signInForm.js';

/** Signs a user in and returns them to the page that sent them here. */
export function SignIn() {
  const { t } = useTranslation('auth');
  const [atSecondStep, setAtSecondStep] = useState(false);
  const client = useQueryClient();
  const { data } = useData<SignUpOfferView>('/sign-up-offer');
  const navigate = useNavigate();
  const { state } = useLocation() as { state: { from?: string } | null };

  const enter = async (): Promise<void> => {
    client.clear();
    await navigate(state?.from ?? '/', { replace: true });
  };
  if (atSecondStep)
    return (
      <AuthLayout title={t('secondStep.title')}>
        <SecondStepForm onDone={enter} onStartOver={() => setAtSecondStep(false)} />
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
          {data?.sendsMail === true && (
            <Anchor
              component={Link}
              to="/forgot-password"
              size="sm"
              underline="always"
              mt="sm"
              display="block"
            >
              {t('forgottenPassword.link')}
            </Anchor>
          )}
          {data?.sendsMail === false && (
            <Text size="xs" c="dimmed" mt="sm">
              {t('signIn.forgotten')}
            </Text>
          )}
        </>
      }
    >
      <SignInForm onDone={async ({ secondStep }) => (secondStep ? setAtSecondStep(true) : enter())} />
    </AuthLayout>
  );
}
