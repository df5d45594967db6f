import { Badge, Box, Button, Code, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { DeliveryView } from '../../../../src/features/webhook/view.js';
import { useAccount } from '../../app/session.js';
import { DataTable } from '../../components/dataTable.js';
import { Small } from '../../components/facts.js';
import { useProblemText } from '../../components/states.js';
import { Time } from '../../components/times.js';
import { post, useChange } from '../../hooks/change.js';
import { useNumbers } from '../../hooks/formats.js';

/** The latest events, the newest first. */
export function Deliveries({
  deliveries,
  mayRepeat,
}: {
  deliveries: readonly DeliveryView[];
  mayRepeat: boolean;
}) {
  const { t } = useTranslation('webhook');
  const { whole } = useNumbers();
  return (
    <DataTable
      label={t('deliveries.title')}
      empty={
        <Text ta="center" py="lg">
          {t('deliveries.empty')}
        </Text>
      }
      verticalSpacing="sm"
      rows={deliveries}
      getRowKey={({ id }) => id}
      columns={[
        {
          title: t('deliveries.event'),
          render: (delivery) => (
            <>
              <Code>{delivery.type}</Code>
              <Small mt={4}>
                <Time at={delivery.createdAt} seconds />
              </Small>
              <Box hiddenFrom="sm" mt={4}>
                <State delivery={delivery} />
                <Text size="xs" mt={4}>
                  <Answer delivery={delivery} />
                </Text>
                {mayRepeat && <Again delivery={delivery} />}
              </Box>
            </>
          ),
        },
        {
          title: t('deliveries.state'),
          visibleFrom: 'sm',
          render: (delivery) => <State delivery={delivery} />,
        },
        {
          title: t('deliveries.tries'),
          visibleFrom: 'sm',
          ta: 'end',
          render: ({ tries }) => whole(tries),
        },
        {
          title: t('deliveries.answer'),
          visibleFrom: 'sm',
          render: (delivery) => <Answer delivery={delivery} />,
        },
        mayRepeat && {
          title: t('deliveries.again'),
          isTitleHidden: true,
          visibleFrom: 'sm',
          ta: 'end',
          render: (delivery) => <Again delivery={delivery} />,
        },
      ]}
    />
  );
}

const COLORS = { waiting: 'blue', sent: 'teal', given_up: 'red' } as const;

function State({ delivery: { state, dueAt, endedAt, tries } }: { delivery: DeliveryView }) {
  const { t } = useTranslation('webhook');
  return (
    <>
      <Badge color={COLORS[state]}>{t(`states.${state}`)}</Badge>
      {state === 'waiting' && tries > 0 && dueAt !== null && (
        <Small mt={2}>
          {t('deliveries.next')} <Time at={dueAt} seconds />
        </Small>
      )}
      {endedAt !== null && (
        <Small mt={2}>
          <Time at={endedAt} seconds />
        </Small>
      )}
    </>
  );
}

/** The errors that have a text; all other errors are shown as they are. */
const EXPLAINED = ['private_address', 'timeout', 'ENOTFOUND', 'ECONNREFUSED'] as const;

function Answer({ delivery: { answer, error } }: { delivery: DeliveryView }) {
  const { t } = useTranslation('webhook');
  if (answer !== null) return `HTTP ${answer}`;
  if (error === null) return '–';
  const explained = EXPLAINED.find((one) => one === error);
  return explained === undefined ? error : t(`errors.${explained}`);
}

function Again({ delivery: { id, type } }: { delivery: DeliveryView }) {
  const { t } = useTranslation('webhook');
  const { path } = useAccount();
  const { mutate, isPending } = useChange([`${path}/webhook`], {
    done: t('deliveries.repeated'),
    failed: useProblemText(),
  });
  return (
    <Button
      size="xs"
      mt={{ base: 4, sm: 0 }}
      variant="default"
      loading={isPending}
      aria-label={t('deliveries.againNamed', { type })}
      onClick={() => mutate(post(`${path}/webhook/deliveries/${id}/again`))}
    >
      {t('deliveries.again')}
    </Button>
  );
}
