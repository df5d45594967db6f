import { Button } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { AuthLayout } from './authLayout.js';

/** The token of the link that opened the page, and what follows it. It stands behind `#`, which no server sees. */
export function useLinkToken(): { token: string; suffix: string } {
  const [hash] = useState(() => window.location.hash.slice(1));
  const [token = '', suffix = ''] = hash.split('.');
  return { token, suffix };
}

/** A link that was used, or has expired: of a mail, or of an invitation. @param again the page to ask for another one at */
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
