import { Text } from '@mantine/core';
import { useInterval } from '@mantine/hooks';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useTimes } from '../hooks/formats.js';
import { Small } from './facts.js';

/** A time (RFC 3339) in the user's language and time zone, on one line unless `wraps`; the tooltip shows it in UTC. */
export function Time({
  at,
  seconds = false,
  wraps = false,
}: {
  at: string;
  seconds?: boolean;
  wraps?: boolean;
}) {
  const time = useTimes();
  return (
    // Not Mantine's tooltip: in lists, thousands of them would take most of the page's time.
    <Text
      component="time"
      dateTime={at}
      title={new Date(at).toISOString()}
      inherit
      style={wraps ? {} : { whiteSpace: 'nowrap' }}
    >
      {time(at, { seconds })}
    </Text>
  );
}

const UNITS = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

/** How long ago a time (RFC 3339) was, in the user's language, with the time itself below. */
export function Ago({ at }: { at: string }) {
  const { i18n } = useTranslation();
  const [now, setNow] = useState(() => Date.now());
  useInterval(() => setNow(Date.now()), 30_000, { autoInvoke: true });
  const seconds = Math.min(0, (Date.parse(at) - now) / 1000);
  const [unit, length] = UNITS.find(([, length]) => -seconds >= length) ?? ['second', 1];
  // Less than a minute ago is "now": the times shown here are stored to the minute.
  const count = unit === 'second' ? 0 : Math.trunc(seconds / length);
  const text = new Intl.RelativeTimeFormat(i18n.language, { numeric: 'auto' }).format(count, unit);
  return (
    <>
      <Text inherit style={{ whiteSpace: 'nowrap' }}>
        {text}
      </Text>
      <Small>
        <Time at={at} />
      </Small>
    </>
  );
}
