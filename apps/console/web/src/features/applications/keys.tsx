import { Button, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ApplicationView, KeyView } from '../../../../src/features/applications/view.js';
import { useData } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { Section } from '../../components/section.js';
import { Failure, Loading } from '../../components/states.js';
import { KeyTable } from './keyTable.js';
import { NewKey } from './newKey.js';
import { RevokeKey } from './revokeKey.js';

/** An application's keys: those in use and those that were. */
export function Keys({ application }: { application: ApplicationView }) {
  const { t } = useTranslation('account');
  const { path, mayChange } = useAccount();
  const [creating, { open, close }] = useDisclosure();
  const [asking, question] = useDisclosure();
  const [asked, setAsked] = useState<KeyView | null>(null);
  const ask = (key: KeyView): void => {
    setAsked(key);
    question.open();
  };
  const { data, error, refetch } = useData<{ keys: KeyView[] }>(
    `${path}/applications/${application.id}/keys`,
  );
  return (
    <Section
      title={t('keys.title')}
      description={t('keys.description')}
      actions={
        mayChange && (
          <Button size="xs" leftSection={<IconPlus size={16} />} onClick={open}>
            {t('keys.create')}
          </Button>
        )
      }
    >
      {data === undefined &&
        (error === null ? <Loading /> : <Failure problem={error} onRetry={() => void refetch()} />)}
      {data?.keys.length === 0 && (
        <Text size="sm" ta="center" py="lg">
          {t(mayChange ? 'keys.empty' : 'keys.emptyViewer')}
        </Text>
      )}
      {data !== undefined && data.keys.length > 0 && (
        <KeyTable keys={data.keys} onRevoke={mayChange ? ask : null} />
      )}
      <NewKey application={application} opened={creating} onClose={close} />
      {asked !== null && (
        <RevokeKey
          application={application}
          apiKey={asked}
          opened={asking}
          isLast={application.keysInUse === 1}
          onClose={question.close}
        />
      )}
    </Section>
  );
}
