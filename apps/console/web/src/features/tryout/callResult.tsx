import { Alert, Anchor, Code, SimpleGrid, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { ApiProblemView, CallView } from '../../../../src/features/tryout/view.js';
import { CodeBlock } from '../../components/copy.js';
import { useDurations } from '../../hooks/formats.js';

/** A call to the API: its error, if any, and, unless `isBrief`, the request and its response. */
export function CallResult({
  call: { request, answer, fault, tookMs, problem },
  title,
  isBrief = false,
}: {
  call: CallView;
  title?: string;
  isBrief?: boolean;
}) {
  const { t } = useTranslation(['tryout', 'common']);
  const { milliseconds } = useDurations();
  return (
    <Stack gap="xs">
      {fault !== null && (
        <Alert color="red" variant="light" icon={<IconAlertTriangle size={18} />} role="alert">
          {t(`fault.${fault}`)}
        </Alert>
      )}
      {problem !== null && <Problem problem={problem} />}
      {!isBrief && (
        <>
          <Text c="dimmed">
            {title !== undefined && `${title} · `}
            {t('took', { time: milliseconds(tookMs) })}
          </Text>
          <SimpleGrid cols={{ base: 1, md: answer === null ? 1 : 2 }} spacing="sm">
            <Message name={t('common:words.request')} text={request} />
            {answer !== null && <Message name={t('answer')} text={answer} />}
          </SimpleGrid>
        </>
      )}
    </Stack>
  );
}

function Message({ name, text }: { name: string; text: string }) {
  return (
    <Stack gap={4} miw={0}>
      <Text fw={550}>{name}</Text>
      <CodeBlock code={text} what={name} wrap />
    </Stack>
  );
}

/** An error of the API, with a link to its documentation. */
function Problem({ problem: { code, detail, retryAfterSeconds, docs } }: { problem: ApiProblemView }) {
  const { t } = useTranslation('tryout');
  const { seconds } = useDurations();
  return (
    <Alert
      color="orange"
      variant="light"
      icon={<IconAlertTriangle size={18} />}
      role="alert"
      title={
        <>
          {t('problem')} <Code>{code}</Code>
        </>
      }
    >
      <Stack gap={6}>
        {detail !== null && <Text lang="en">{detail}</Text>}
        {retryAfterSeconds !== null && <Text>{t('retryAfter', { time: seconds(retryAfterSeconds) })}</Text>}
        {docs !== null && (
          <Anchor href={docs} target="_blank" rel="noreferrer">
            {t('docs', { code })}
          </Anchor>
        )}
      </Stack>
    </Alert>
  );
}
