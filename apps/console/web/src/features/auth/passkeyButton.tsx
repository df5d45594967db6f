import { Button, Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useMutationOnce } from '../../api/queries.js';
import { Failure } from '../../components/states.js';

/** Asks for a passkey, if the browser supports them. */
export function PasskeyButton({
  present,
  onDone,
}: {
  present: () => Promise<void>;
  onDone: () => Promise<void> | void;
}) {
  const { t } = useTranslation('auth');
  const { mutate, isPending, error } = useMutationOnce({
    mutationFn: async () => {
      await present();
      await onDone();
    },
  });
  if (!('PublicKeyCredential' in window)) return null;
  return (
    <Stack gap="sm">
      {error !== null && <Failure problem={error} />}
      <Button fullWidth variant="default" loading={isPending} onClick={() => mutate()}>
        {t('passkey.action')}
      </Button>
    </Stack>
  );
}
