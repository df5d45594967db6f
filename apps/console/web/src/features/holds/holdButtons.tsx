import type { ButtonProps } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { HoldView } from '../../../../src/features/holds/view.js';
import { ChangeButton } from '../../components/changeDialog.js';
import { post } from '../../hooks/change.js';

interface Props {
  hold: Pick<HoldView, 'kind' | 'target'>;
  button?: ButtonProps;
}

/** The paths that a hold changes. */
export const HELD_PATHS = ['/staff/holds', '/staff/accounts', '/staff/health', '/staff/audit'];

/** A button that puts something on hold, with a reason. */
export function HoldButton({ hold: { kind, target }, ...texts }: Props & { title: string; action: string }) {
  const { t } = useTranslation('holds');
  return (
    <ChangeButton
      {...texts}
      change={post('/staff/holds', { kind, target })}
      asksReason
      stale={HELD_PATHS}
      done={t(kind === 'live' ? 'live.held' : 'set')}
    >
      {t(kind === 'live' ? 'live.what' : `target.${kind}.what`)}
    </ChangeButton>
  );
}

/** A button that releases a hold, with a reason. */
export function ReleaseButton({ hold: { kind, target }, ...rest }: Props) {
  const { t } = useTranslation('holds');
  return (
    <ChangeButton
      {...rest}
      title={t(`release.${kind}`)}
      action={t('release.button')}
      color="brand"
      change={post('/staff/holds/release', { kind, target })}
      asksReason
      stale={HELD_PATHS}
      done={t('release.done')}
    >
      {t('release.what')}
    </ChangeButton>
  );
}
