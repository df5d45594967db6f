import { Button } from '@mantine/core';
import { IconHandStop, IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { IncidentView } from '../../../../src/features/health/view.js';
import { useCountryName } from '../../hooks/countries.js';
import { HoldButton } from '../holds/holdButtons.js';
import { CheckButton } from '../senders/checkButton.js';
import { PauseButton } from '../senders/pauseButton.js';

/** Incidents during which nothing can be sent and codes would only expire. */
const HOLD_ALL: ReadonlySet<string> = new Set([
  'provider_unhealthy errors',
  'sends_failing all',
  'senders_blocked provider',
]);

interface Sender {
  id: string;
  number: string;
}

/** The remedy of an incident as buttons: resume, pause or check a sender, hold or release deliveries. */
export function IncidentActions({ incident }: { incident: IncidentView }) {
  const { t } = useTranslation(['health', 'holds']);
  const nameOf = useCountryName();
  const { name, cause, blocks = [], lowQuality = [], holding = [], failures, deliveries } = incident;
  const { country, senderId } = failures ?? deliveries ?? {};
  // Operators cannot end Meta's block of a template.
  const resumable = blocks.filter(({ cause, onlyFor }) => cause !== 'provider' || onlyFor === '');
  const blocked = new Map(resumable.map(({ senderId, number }) => [senderId, number]));
  const suspect = [...lowQuality, ...holding].map(({ senderId, number }): Sender => ({
    id: senderId,
    number,
  }));
  // What Meta reports may have changed since the last check.
  const checkable = new Map(
    [...blocks.filter(({ cause }) => cause !== 'operator'), ...lowQuality, ...holding].map(
      ({ senderId, number }) => [senderId, number],
    ),
  );
  if (senderId !== undefined) suspect.push({ id: senderId, number: senderId });
  const hold = { leftSection: <IconHandStop size={14} /> };
  return (
    <>
      {[...blocked].map(([id, number]) => (
        <SenderButton key={id} sender={{ id, number }} kind="resume" isNamed={blocked.size > 1} />
      ))}
      {suspect.map((sender) => (
        <SenderButton key={sender.id} sender={sender} kind="pause" isNamed={suspect.length > 1} />
      ))}
      {[...checkable].map(([id, number]) => (
        <CheckButton key={id} id={id} {...(checkable.size > 1 && { number })} />
      ))}
      {country !== undefined && (
        <HoldButton
          hold={{ kind: 'country', target: country }}
          title={t('actions.holdCountry', { country: nameOf(country) })}
          action={t('actions.holdCountry', { country: nameOf(country) })}
          button={hold}
        />
      )}
      {HOLD_ALL.has(`${name} ${cause}`) && incident.severity === 'failing' && (
        <HoldButton
          hold={{ kind: 'live', target: '' }}
          title={t('holds:live.confirm')}
          action={t('holds:live.set')}
          button={hold}
        />
      )}
      {cause === 'hold' && (
        <Button component={Link} to="/staff/holds" size="xs" variant="default">
          {t('holds:banner.open')}
        </Button>
      )}
    </>
  );
}

/** @param isNamed whether the button contains the sender's number */
function SenderButton({
  sender,
  kind,
  isNamed,
}: {
  sender: Sender;
  kind: 'pause' | 'resume';
  isNamed: boolean;
}) {
  const { t } = useTranslation('senders');
  const Icon = kind === 'pause' ? IconPlayerPause : IconPlayerPlay;
  return (
    <PauseButton
      sender={sender}
      kind={kind}
      button={{ leftSection: <Icon size={14} /> }}
      {...(isNamed && { text: `${t(`changes.${kind}.button`)} ${sender.number}` })}
    />
  );
}
