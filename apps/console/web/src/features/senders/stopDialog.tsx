import { useTranslation } from 'react-i18next';
import { ReasonDialog } from '../../components/reasonDialog.js';
import { useSenderChange } from '../../hooks/staffChange.js';

/** Asks why a sender is to be stopped or to go on; closed while `kind` is null. */
export function StopDialog({
  sender: { id, number },
  kind,
  onClose,
}: {
  sender: { id: string; number: string };
  kind: 'pause' | 'resume' | 'activate' | null;
  onClose: () => void;
}) {
  const { t } = useTranslation('senders');
  const { pending, problem, reset, send } = useSenderChange(onClose);
  const shown = kind ?? 'pause';
  const path = `/${id}/${shown === 'pause' ? 'pause' : 'resume'}`;
  return (
    <ReasonDialog
      opened={kind !== null}
      onClose={() => {
        reset();
        onClose();
      }}
      title={t(`changes.${shown}.title`, { number })}
      action={t(`changes.${shown}.button`)}
      color={shown === 'pause' ? 'red.9' : 'brand'}
      pending={pending}
      problem={problem}
      onConfirm={(reason) => send({ method: 'POST', path, body: { reason } }, t(`changes.${shown}.done`))}
    >
      {t(`changes.${shown}.what`)}
    </ReasonDialog>
  );
}
