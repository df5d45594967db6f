import { Button, Stack } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import { confirmAddress, readSession } from '../../api/auth.js';
import type { ApiProblem } from '../../api/http.js';
import { useMutationOnce } from '../../api/queries.js';
import { Failure } from '../../components/states.js';
import { AuthLayout } from './authLayout.js';
import { LinkOver, useLinkToken } from './mailedLink.js';

/** Changes the user's address to the one that got the link. Needs a click, because mail programs open links by themselves. */
export function ConfirmAddress() {
  const { t } = useTranslation('auth');
  const { token } = useLinkToken();
  const client = useQueryClient();
  const navigate = useNavigate();
  const confirm = useMutationOnce<void>({
    mutationFn: async () => {
      const session = await readSession(client).catch((problem: ApiProblem) => {
        if (problem.code === 'not_signed_in') return null;
        throw problem;
      });
      // The sign-in returns here.
      if (session === null)
        return void (await navigate('/sign-in', { state: { from: `/confirm-address#${token}` } }));
      await confirmAddress(token);
      client.clear();
      await navigate('/', { replace: true });
      notifications.show({ message: t('confirmAddress.done') });
    },
  });
  if (token === '' || confirm.error?.code === 'not_found' || confirm.error?.code === 'invalid_input')
    return <LinkOver />;
  return (
    <AuthLayout title={t('confirmAddress.title')} description={t('confirmAddress.text')}>
      <Stack>
        {confirm.error !== null && <Failure problem={confirm.error} />}
        <Button fullWidth loading={confirm.isPending} onClick={() => confirm.mutate()}>
          {t('confirmAddress.action')}
        </Button>
      </Stack>
    </AuthLayout>
  );
}
