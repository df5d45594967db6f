import { Button } from '@mantine/core';
import { IconHandStop, IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { IncidentView } from '../../../../src/features/health/view.js';
import { ReasonDialog } from '../../components/reasonDialog.js';
import { useCountryName } from '../../hooks/countries.js';
import { useHoldChange } from '../holds/holdChange.js';
import { CheckButton } from '../senders/checkButton.js';
import { StopDialog } from '../senders/stopDialog.js';

/** Where nothing can be sent and codes would only expire. */
const HOLD_ALL: ReadonlySet<string> = new Set(['provider_failing', 'sends_failing', 'senders_stopped']);

interface Sender {
  id: string;
  number: string;
}

/** What an incident's advice says, as buttons: resume, pause or check a sender, hold or release deliveries. */
export function IncidentActions({ incident }: { incident: IncidentView }) {
  const { t } = useTranslation('health');
  const { name, stops = [], flagged = [], failures } = incident;
  // Nobody here can end what Meta says of a template.
  const ours = stops.filter(({ cause, onlyFor }) => cause !== 'provider' || onlyFor === '');
  const stopped = new Map(ours.map(({ senderId, number }) => [senderId, number]));
  const suspect = flagged.map(({ senderId, number }): Sender => ({ id: senderId, number }));
  // What Meta says may have changed since it was asked.
  const told = new Map(
    [...stops.filter(({ cause }) => cause !== 'operator'), ...flagged].map(({ senderId, number }) => [
      senderId,
      number,
    ]),
  );
  if (failures?.senderId !== undefined) suspect.push({ id: failures.senderId, number: failures.senderId });
  return (
    <>
      {[...stopped].map(([id, number]) => (
        <SenderButton key={id} sender={{ id, number }} kind="resume" isNamed={stopped.size > 1} />
      ))}
      {suspect.map((sender) => (
        <SenderButton key={sender.id} sender={sender} kind="pause" isNamed={suspect.length > 1} />
      ))}
      {[...told].map(([id, number]) => (
        <CheckButton key={id} id={id} {...(told.size > 1 && { number })} />
      ))}
      {name === 'country_failing' && failures?.country !== undefined && (
        <HoldButton hold={{ kind: 'country', target: failures.country }} />
      )}
      {HOLD_ALL.has(name) && incident.severity === 'failing' && (
        <HoldButton hold={{ kind: 'live', target: '' }} />
      )}
      {name === 'sends_held' && (
        <Button component={Link} to="/staff/holds" size="xs" variant="default">
          {t('actions.holds')}
        </Button>
      )}
    </>
  );
}

function SenderButton({
  sender,
  kind,
  isNamed,
}: {
  sender: Sender;
  kind: 'pause' | 'resume';
  /** Whether the button says which sender. */
  isNamed: boolean;
}) {
  const { t } = useTranslation(['health', 'senders']);
  const [opened, setOpened] = useState(false);
  const Icon = kind === 'pause' ? IconPlayerPause : IconPlayerPlay;
  return (
    <>
      <Button size="xs" variant="default" leftSection={<Icon size={14} />} onClick={() => setOpened(true)}>
        {isNamed
          ? `${t(`senders:changes.${kind}.button`)} ${sender.number}`
          : t(`senders:changes.${kind}.button`)}
      </Button>
      <StopDialog sender={sender} kind={opened ? kind : null} onClose={() => setOpened(false)} />
    </>
  );
}

function HoldButton({ hold }: { hold: { kind: 'live' | 'country'; target: string } }) {
  const { t } = useTranslation(['health', 'holds']);
  const nameOf = useCountryName();
  const [opened, setOpened] = useState(false);
  const { set, pending, problem } = useHoldChange(() => setOpened(false));
  const isLive = hold.kind === 'live';
  const action = isLive ? t('holds:live.set') : t('actions.holdCountry', { country: nameOf(hold.target) });
  return (
    <>
      <Button
        size="xs"
        variant="default"
        leftSection={<IconHandStop size={14} />}
        onClick={() => setOpened(true)}
      >
        {action}
      </Button>
      <ReasonDialog
        opened={opened}
        onClose={() => setOpened(false)}
        title={isLive ? t('holds:live.confirm') : action}
        action={action}
        pending={pending}
        problem={problem}
        onConfirm={(reason) => set(hold, reason)}
      >
        {isLive ? t('holds:live.what') : t('holds:target.country.what')}
      </ReasonDialog>
    </>
  );
}
