import { Button } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { AuthLayout } from './authLayout.js';

/** The token of the link that opened the page, and the values after it. It follows `#`, which browsers do not send to servers. */
export function useLinkToken(): { token: string; suffix: string } {
  const [hash] = useState(() => window.location.hash.slice(1));
  const [token = '', suffix = ''] = hash.split('.');
  return { token, suffix };
}

/** The page for a used or expired link of a mail or an invitation. @param again the page on which to request a new one */
export function LinkOver({ isInvitation = false, again }: { isInvitation?: boolean; again?: string }) {
  const { t } = useTranslation(['auth', 'common']);
  return (
    <AuthLayout
      title={t(isInvitation ? 'invitation.gone' : 'mailedLink.over')}
      description={t(isInvitation ? 'invitation.goneText' : 'mailedLink.overText')}
    >
      <Button component={Link} to={again ?? '/'} variant="default">
        {t(again === undefined ? 'common:unknownPage.home' : 'mailedLink.again')}
      </Button>
    </AuthLayout>
  );
}
