import { Button, Group, Text } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { AskedView, SendersView } from '../../../../src/features/senders/view.js';
import { useData } from '../../api/queries.js';
import { post, useChange } from '../../hooks/change.js';
import { useNumbers } from '../../hooks/formats.js';
import { useSenders } from '../../hooks/senders.js';

const REFRESH_MS = 1_000;
/** Longer than the longest check of a worker. */
const ANSWER_MS_MAX = 45_000;

/** Makes a worker check a sender with Meta, and shows the result. @param number shown on the button if there are several */
export function CheckButton({ id, number }: { id: string; number?: string }) {
  const { t } = useTranslation('senders');
  const { whole } = useNumbers();
  const { path, mayControlDelivery } = useSenders();
  const [since, setSince] = useState<string | null>(null);
  const [isLate, setIsLate] = useState(false);
  const { mutate, isPending, error } = useChange<AskedView>([path], {
    onDone: (asked) => setSince(asked.since),
  });
  const isAnsweredBy = ({ senders }: SendersView): boolean => {
    const triedAt = senders.find((sender) => sender.id === id)?.provider.triedAt ?? null;
    return since !== null && triedAt !== null && triedAt >= since;
  };
  // Read only after a click: pages other than the senders pages do not need them.
  const { data } = useData<SendersView>(since === null ? null : path, {
    refreshMs: (read) => !isLate && (read === undefined || !isAnsweredBy(read)) && REFRESH_MS,
  });
  const isAnswered = data !== undefined && isAnsweredBy(data);
  const isAsking = isPending || (since !== null && !isAnswered && !isLate);
  useEffect(() => {
    if (since === null) return undefined;
    const timer = setTimeout(() => setIsLate(true), ANSWER_MS_MAX);
    return () => clearTimeout(timer);
  }, [since]);
  if (!mayControlDelivery) return null;

  const ask = (): void => {
    setIsLate(false);
    mutate(post(`${path}/${id}/check`));
  };
  const checks = data?.senders.find((sender) => sender.id === id)?.provider.checks ?? [];
  const bad = checks.filter(({ ok }) => !ok).length;
  const result = (): string => {
    if (error !== null) return t('provider.result.failed');
    if (isAsking) return t('provider.result.asking');
    if (since === null) return '';
    if (!isAnswered) return t('provider.result.late');
    return bad === 0 ? t('provider.result.ok') : t('provider.result.bad', { count: bad, number: whole(bad) });
  };
  const text = result();
  return (
    <Group gap={text === '' ? 0 : 'xs'}>
      <Text size="xs" role="status">
        {text}
      </Text>
      <Button
        variant="default"
        size="xs"
        leftSection={<IconRefresh size={14} />}
        loading={isAsking}
        onClick={ask}
      >
        {[t('provider.check'), number].filter(Boolean).join(' ')}
      </Button>
    </Group>
  );
}
