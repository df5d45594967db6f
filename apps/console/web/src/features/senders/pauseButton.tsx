import type { ButtonProps } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { ChangeButton } from '../../components/changeDialog.js';
import { useSenders } from '../../hooks/senders.js';
import { post } from '../../hooks/change.js';

/** A button that pauses or resumes a sender, with a reason. */
export function PauseButton({
  sender: { id, number },
  kind,
  what,
  ...rest
}: {
  sender: { id: string; number: string };
  kind: 'pause' | 'resume' | 'activate';
  /** Describes the effect, if the usual text does not apply. */
  what?: string;
  text?: string;
  button?: ButtonProps;
}) {
  const { t } = useTranslation('senders');
  const { path, audit } = useSenders();
  return (
    <ChangeButton
      {...rest}
      title={t(`changes.${kind}.title`, { number })}
      action={t(`changes.${kind}.button`)}
      color={kind === 'pause' ? 'red.9' : 'brand'}
      change={post(`${path}/${id}/${kind === 'pause' ? 'pause' : 'resume'}`)}
      asksReason
      stale={[path, audit, '/staff/health']}
      done={t(`changes.${kind}.done`)}
    >
      {what ?? (kind !== 'activate' && t(`changes.${kind}.what`))}
    </ChangeButton>
  );
}
