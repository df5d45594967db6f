import { Anchor } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Link, useNavigate } from 'react-router';
import type { NewAccountView, SignUpOfferView } from '../../../../src/features/auth/view.js';
import { call } from '../../api/http.js';
import { readSession } from '../../api/auth.js';
import { useAside } from '../../api/queries.js';
import { useNumbers } from '../../hooks/formats.js';
import { keepFirstKey, newAccountPath } from '../start/firstKey.js';
import { AuthLayout } from './authLayout.js';
import { SignUpForm, type NewAccountInput } from './signUpForm.js';

export function SignUp() {
  const { t } = useTranslation('auth');
  const client = useQueryClient();
  const navigate = useNavigate();

  const finish = async ({ account: name, language, countries }: NewAccountInput): Promise<void> => {
    client.clear();
    // On failure, the start page offers to create the account again.
    const made = await readSession(client)
      .then(() => call<NewAccountView>('POST', '/accounts', { name, language, countries }))
      .catch(() => null);
    client.clear();
    if (made !== null) keepFirstKey(client, made);
    await navigate(made === null ? '/' : newAccountPath(client, made.id), { replace: true });
  };
  return (
    <AuthLayout
      title={t('signUp.title')}
      description={<Offer />}
      footer={
        <>
          {t('signUp.existing')}{' '}
          <Anchor component={Link} to="/sign-in" underline="always">
            {t('signIn.title')}
          </Anchor>
        </>
      }
    >
      <SignUpForm onDone={finish} />
    </AuthLayout>
  );
}

function Offer() {
  const { t } = useTranslation('auth');
  const { whole } = useNumbers();
  const data = useAside<SignUpOfferView>('/sign-up-offer');
  if (data === undefined) return <>&nbsp;</>;
  return data.freeSends === 0
    ? t('signUp.offerNone')
    : t('signUp.offer', { count: data.freeSends, formatted: whole(data.freeSends) });
}
