import { Anchor, Button, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import type { SessionView } from '../../../../src/features/session/view.js';
import type { InvitationOfferView } from '../../../../src/features/auth/view.js';
import { call, type ApiProblem } from '../../api/http.js';
import { useMutationOnce } from '../../api/queries.js';
import { readSession, signOut } from '../../api/auth.js';
import { Failure, Loading } from '../../components/states.js';
import { AuthLayout } from './authLayout.js';
import { LinkOver } from './mailedLink.js';
import { SecondStepForm } from './secondStepForm.js';
import { SignInForm } from './signInForm.js';
import { SignUpForm } from './signUpForm.js';

interface InvitationState {
  offer: InvitationOfferView;
  /** The signed-in user, or null. */
  signedIn: SessionView['user'] | null;
}

/** Lets an invited person join an account: signed in, signed up before, or new. */
export function AcceptInvitation() {
  const { t } = useTranslation('auth');
  const client = useQueryClient();
  const [token] = useState(() => window.location.hash.slice(1));
  const { data, error, refetch } = useQuery<InvitationState, ApiProblem>({
    queryKey: ['invitation', token],
    queryFn: async () => {
      // First, because the look-up is a POST, which needs the CSRF token of a session.
      const session = await readSession(client).catch((problem: ApiProblem) => {
        if (problem.code === 'not_signed_in') return null;
        throw problem;
      });
      const offer = await call<InvitationOfferView>('POST', '/invitations/look-up', { token });
      return { offer, signedIn: session?.user ?? null };
    },
    // The forms below change the session; a refetch would replace them midway.
    refetchOnWindowFocus: false,
  });
  if (error?.code === 'not_found' || error?.code === 'invalid_input') return <LinkOver isInvitation />;
  if (error !== null)
    return (
      <AuthLayout title={t('invitation.accept')}>
        <Failure problem={error} onRetry={() => void refetch()} />
      </AuthLayout>
    );
  if (data === undefined) return <Loading />;
  return <InvitationCard token={token} {...data} onSignedOut={() => void refetch()} />;
}

function InvitationCard({
  token,
  offer,
  signedIn,
  onSignedOut,
}: InvitationState & { token: string; onSignedOut: () => void }) {
  const { t } = useTranslation(['auth', 'team']);
  const [step, setStep] = useState<'new' | 'known' | 'second'>('new');
  const client = useQueryClient();
  const navigate = useNavigate();
  const { accountName, email, role } = offer;

  const join = useMutationOnce<void>({
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
        <OtherUser signedIn={signedIn.email} email={email} onSignedOut={onSignedOut} />
      )}
      {signedIn === null && step === 'new' && (
        <>
          <SignUpForm email={email} invitation={token} onDone={joinNow} />
          <Anchor component="button" type="button" onClick={() => setStep('known')}>
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
          <Anchor component="button" type="button" onClick={() => setStep('new')}>
            {t('invitation.isNew')}
          </Anchor>
        </>
      )}
      {signedIn === null && step === 'second' && (
        <SecondStepForm onDone={joinNow} onStartOver={() => setStep('known')} />
      )}
    </AuthLayout>
  );
}

function OtherUser({
  signedIn,
  email,
  onSignedOut,
}: {
  signedIn: string;
  email: string;
  onSignedOut: () => void;
}) {
  const { t } = useTranslation('auth');
  const endSession = useMutationOnce<void>({ mutationFn: signOut, onSuccess: onSignedOut });
  return (
    <Stack>
      <Text>{t('invitation.otherPerson', { signedIn, email })}</Text>
      {endSession.error !== null && <Failure problem={endSession.error} />}
      <Button variant="default" loading={endSession.isPending} onClick={() => endSession.mutate()}>
        {t('invitation.signOut')}
      </Button>
    </Stack>
  );
}
