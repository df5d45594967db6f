import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import { useChange } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { Confirm } from '../../components/dialog.js';

/** Takes whoever presses it out of the account. */
export function Leave() {
  const { t } = useTranslation('team');
  const { path, name } = useAccount();
  const navigate = useNavigate();
  const [opened, { open, close }] = useDisclosure();
  const client = useQueryClient();
  const { mutate, isPending, error, reset } = useChange();
  const leave = (): void =>
    mutate(
      { method: 'DELETE', path: `${path}/membership` },
      {
        onSuccess: () => {
          notifications.show({ message: t('leaving.done') });
          // Another page first: this one has no account any longer once the session is read anew.
          void Promise.resolve(navigate('/profile')).then(() =>
            client.invalidateQueries({ queryKey: ['session'] }),
          );
        },
      },
    );
  return (
    <>
      <Button variant="default" onClick={open}>
        {t('leave')}
      </Button>
      <Confirm
        opened={opened}
        onClose={() => {
          reset();
          close();
        }}
        title={t('leaving.title', { account: name })}
        action={t('leaving.action')}
        pending={isPending}
        problem={error}
        onConfirm={leave}
      >
        {t('leaving.text')}
      </Confirm>
    </>
  );
}
