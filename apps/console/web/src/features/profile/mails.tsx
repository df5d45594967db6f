import { Checkbox, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { MailChoicesView } from '../../../../src/features/profile/view.js';
import { useData } from '../../api/queries.js';
import { useSession } from '../../app/session.js';
import { Section } from '../../components/page.js';
import { Failure } from '../../components/states.js';
import { put, useChange } from '../../hooks/change.js';

export function Mails() {
  const { t } = useTranslation('profile');
  const { sendsMail } = useSession();
  const { data, error, refetch } = useData<MailChoicesView>('/profile/mails');
  const change = useChange(['/profile/mails'], { done: t('mails.saved') });
  const mails = data?.mails ?? [];
  const choose = (kind: string, isWanted: boolean): void => {
    const muted = mails.filter((mail) => (mail.kind === kind ? !isWanted : !mail.isWanted));
    change.mutate(put('/profile/mails', { muted: muted.map((mail) => mail.kind) }));
  };
  return (
    <Section title={t('mails.title')} description={t(sendsMail ? 'mails.description' : 'mails.none')}>
      {error !== null && data === undefined && <Failure problem={error} onRetry={() => void refetch()} />}
      {change.error !== null && <Failure problem={change.error} />}
      {sendsMail && (
        <Stack gap="sm">
          {mails.map(({ kind, isWanted }) => (
            <Checkbox
              key={kind}
              label={<Text>{t(`mails.kinds.${kind}`)}</Text>}
              checked={isWanted}
              disabled={change.isPending}
              onChange={({ currentTarget }) => choose(kind, currentTarget.checked)}
            />
          ))}
        </Stack>
      )}
    </Section>
  );
}
