import { Alert, Anchor, List } from '@mantine/core';
import { IconKey } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { KeyNoticeView } from '../../../../src/features/applications/view.js';
import { useData } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { useNumbers } from '../../hooks/formats.js';
import { Time } from '../../components/times.js';

const SHOWN_MAX = 5;

/** Keys of the account that expire soon or are not used. */
export function KeyNotices() {
  const { t } = useTranslation('overview');
  const { whole } = useNumbers();
  const account = useAccount();
  const { data } = useData<{ keys: KeyNoticeView[] }>(`${account.path}/key-notices`);
  if (data === undefined || data.keys.length === 0) return null;
  const more = data.keys.length - SHOWN_MAX;
  return (
    <Alert variant="light" color="yellow" icon={<IconKey size={18} />} title={t('keys.title')}>
      <List spacing={4} size="sm" listStyleType="none">
        {data.keys.slice(0, SHOWN_MAX).map((key) => (
          <List.Item key={key.id}>
            <KeyNotice apiKey={key} />
          </List.Item>
        ))}
        {more > 0 && <List.Item>{t('keys.more', { formatted: whole(more) })}</List.Item>}
      </List>
    </Alert>
  );
}

function KeyNotice({ apiKey }: { apiKey: KeyNoticeView }) {
  const { t } = useTranslation('overview');
  const account = useAccount();
  const { label, hint, applicationId, applicationName, notice, expiresAt } = apiKey;
  const name = `${applicationName}: ${label ?? hint}`;
  return (
    <>
      {account.isForStaff ? (
        name
      ) : (
        <Anchor
          component={Link}
          to={`${account.path}/applications/${applicationId}`}
          underline="always"
          inherit
        >
          {name}
        </Anchor>
      )}{' '}
      {notice === 'expires_soon' && expiresAt !== null ? (
        <>
          {t('keys.expires')} <Time at={expiresAt} />
        </>
      ) : (
        t('keys.unused')
      )}
    </>
  );
}
