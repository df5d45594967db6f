import { Anchor, Button, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useNavigate } from 'react-router';
import type { SessionView } from '../../../../src/features/session/view.js';
import type { InvitationOfferView } from '../../../../src/features/auth/view.js';
import { call, type ApiProblem } from '../../api/http.js';
import { readSession, signOut } from '../../api/auth.js';
import { Failure, Loading } from '../../components/states.js';
import { AuthLayout } from './authLayout.js';
import { SecondStepForm } from './secondStepForm.js';
import { SignInForm } from './signInForm.js';
import { SignUpForm } from './signUpForm.js';

interface Found {
  offer: InvitationOfferView;
  /** Null for somebody who is not signed in. */
  signedIn: SessionView['user'] | null;
}

/** Lets an invited person join an account, whether they are signed in, have signed up before, or are new. */
export function AcceptInvitation() {
  const { t } = useTranslation('auth');
  const client = useQueryClient();
  const [token] = useState(() => window.location.hash.slice(1));
  const { data, error, refetch } = useQuery<Found, ApiProblem>({
    queryKey: ['invitation', token],
    queryFn: async () => {
      // First of all: the token of a session goes with every change, and with this question too.
      const session = await readSession(client).catch((problem: ApiProblem) => {
        if (problem.code === 'not_signed_in') return null;
        throw problem;
      });
      const offer = await call<InvitationOfferView>('POST', '/invitations/look-up', { token });
      return { offer, signedIn: session?.user ?? null };
    },
    // Who is signed in changes while this page is open.
    refetchOnWindowFocus: false,
  });
  if (error?.code === 'not_found' || error?.code === 'invalid_input') return <Gone />;
  if (error !== null)
    return (
      <AuthLayout title={t('invitation.accept')}>
        <Failure problem={error} onRetry={() => void refetch()} />
      </AuthLayout>
    );
  if (data === undefined) return <Loading />;
  return <Offer token={token} {...data} onSignedOut={() => void refetch()} />;
}

function Offer({ token, offer, signedIn, onSignedOut }: Found & { token: string; onSignedOut: () => void }) {
  const { t } = useTranslation(['auth', 'team']);
  const [step, setStep] = useState<'new' | 'known' | 'second'>('new');
  const client = useQueryClient();
  const navigate = useNavigate();
  const { accountName, email, role } = offer;

  const join = useMutation<void, ApiProblem>({
    mutationFn: async () => {
      await readSession(client);
      const { id } = await call<{ id: string }>('POST', '/invitations/accept', { token });
      client.clear();
      await navigate(`/accounts/${id}/overview`, { replace: true });
      notifications.show({ message: t('invitation.joined', { account: accountName }) });
    },
  });
  const description = t('invitation.text', { role: t(`team:roles.${role}`), email });
  const title = t('invitation.title', { account: accountName });
  const joinNow = (): Promise<void> => join.mutateAsync();
  return (
    <AuthLayout title={title} description={description}>
      {join.error !== null && <Failure problem={join.error} />}
      {signedIn !== null && signedIn.email === email && (
        <Button fullWidth loading={join.isPending} onClick={() => join.mutate()}>
          {t('invitation.accept')}
        </Button>
      )}
      {signedIn !== null && signedIn.email !== email && (
        <OtherPerson signedIn={signedIn.email} email={email} onSignedOut={onSignedOut} />
      )}
      {signedIn === null && step === 'new' && (
        <>
          <SignUpForm email={email} onDone={joinNow} />
          <Anchor component="button" type="button" size="sm" onClick={() => setStep('known')}>
            {t('invitation.haveAccount')}
          </Anchor>
        </>
      )}
      {signedIn === null && step === 'known' && (
        <>
          <SignInForm
            email={email}
            onDone={async ({ secondStep }) => (secondStep ? setStep('second') : joinNow())}
          />
          <Anchor component="button" type="button" size="sm" onClick={() => setStep('new')}>
            {t('invitation.isNew')}
          </Anchor>
        </>
      )}
      {signedIn === null && step === 'second' && (
        <SecondStepForm onDone={joinNow} onAgain={() => setStep('known')} />
      )}
    </AuthLayout>
  );
}

function OtherPerson({
  signedIn,
  email,
  onSignedOut,
}: {
  signedIn: string;
  email: string;
  onSignedOut: () => void;
}) {
  const { t } = useTranslation('auth');
  const leave = useMutation<void, ApiProblem>({ mutationFn: signOut, onSuccess: onSignedOut });
  return (
    <Stack>
      <Text size="sm">{t('invitation.otherPerson', { signedIn, email })}</Text>
      {leave.error !== null && <Failure problem={leave.error} />}
      <Button variant="default" loading={leave.isPending} onClick={() => leave.mutate()}>
        {t('invitation.signOut')}
      </Button>
    </Stack>
  );
}

function Gone() {
  const { t } = useTranslation('auth');
  return (
    <AuthLayout title={t('invitation.gone')} description={t('invitation.goneText')}>
      <Button component={Link} to="/" variant="default">
        {t('invitation.home')}
      </Button>
    </AuthLayout>
  );
}
