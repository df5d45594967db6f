import { Alert, Anchor, Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useLocation, useNavigate } from 'react-router';
import type { SignUpOfferView } from '../../../../src/features/auth/view.js';
import { useAside, useMutationOnce } from '../../api/queries.js';
import { Failure } from '../../components/states.js';
import { Small } from '../../components/facts.js';
import { signInWithPasskey, signInWithProvider } from '../../api/auth.js';
import { AuthLayout } from './authLayout.js';
import { PasskeyButton } from './passkeyButton.js';
import { SecondStepForm } from './secondStepForm.js';
import { SignInForm } from './signInForm.js';

/** Signs a user in and returns them to the page that sent them here. */
export function SignIn() {
  const { t } = useTranslation('auth');
  const [atSecondStep, setAtSecondStep] = useState(false);
  const client = useQueryClient();
  const data = useAside<SignUpOfferView>('/sign-up-offer');
  const navigate = useNavigate();
  const { state, search } = useLocation() as {
    state: { from?: string; isPasswordNew?: boolean } | null;
    search: string;
  };
  const leave = useMutationOnce({ mutationFn: signInWithProvider });

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
      description={state?.isPasswordNew === true && t('resetPassword.done')}
      footer={
        <>
          <div>
            {t('signIn.new')}{' '}
            <Anchor component={Link} to="/sign-up" underline="always">
              {t('signIn.signUp')}
            </Anchor>
          </div>
          {data?.sendsMail === true && (
            <Anchor component={Link} to="/forgot-password" underline="always" mt="sm" display="block">
              {t('forgottenPassword.title')}
            </Anchor>
          )}
          {data?.sendsMail === false && <Small mt="sm">{t('signIn.forgotten')}</Small>}
        </>
      }
    >
      {search === '?refused' && <Alert color="red">{t('provider.refused')}</Alert>}
      {search === '?failed' && <Alert color="red">{t('provider.failed')}</Alert>}
      <SignInForm onDone={async ({ secondStep }) => (secondStep ? setAtSecondStep(true) : enter())} />
      <PasskeyButton present={signInWithPasskey} onDone={enter} />
      {leave.error !== null && <Failure problem={leave.error} />}
      {data?.hasProvider === true && (
        <Button fullWidth variant="default" loading={leave.isPending} onClick={() => leave.mutate()}>
          {t('provider.action')}
        </Button>
      )}
    </AuthLayout>
  );
}
