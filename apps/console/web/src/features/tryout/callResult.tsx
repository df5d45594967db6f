import { Alert, Anchor, Button, Code, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconAlertTriangle, IconEye, IconEyeOff } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { ApiProblemView, ExchangeView, MessageView } from '../../../../src/features/tryout/view.js';
import { CodeBlock } from '../../components/copy.js';
import { useDurations } from '../../hooks/formats.js';
import tryout from '../../locales/en/tryout.json';

/** The number that somebody typed, and what the server shows in its place. */
interface HiddenNumber {
  typed: string;
  hidden: string;
}

/** A call to the API: what is wrong with it, if anything, and the request and its answer as they went over the wire. */
export function CallResult({
  call: { exchange, problem },
  title,
  number,
}: {
  call: { exchange: ExchangeView; problem: ApiProblemView | null };
  title?: string;
  number?: HiddenNumber;
}) {
  const { t } = useTranslation('tryout');
  const { milliseconds } = useDurations();
  const [isShown, { toggle }] = useDisclosure();
  const { request, answer, fault, tookMs } = exchange;
  return (
    <Stack gap="xs">
      {fault !== null && (
        <Alert color="red" variant="light" icon={<IconAlertTriangle size={18} />} role="alert">
          {t(`fault.${fault}`)}
        </Alert>
      )}
      {problem !== null && <Problem problem={problem} />}
      <Group gap="sm" justify="space-between">
        <Text size="sm" c="dimmed">
          {title !== undefined && `${title} · `}
          {t('took', { time: milliseconds(tookMs) })}
        </Text>
        {number !== undefined && number.typed !== number.hidden && (
          <Button
            variant="subtle"
            size="xs"
            onClick={toggle}
            leftSection={isShown ? <IconEyeOff size={16} /> : <IconEye size={16} />}
          >
            {t(isShown ? 'hideNumber' : 'showNumber')}
          </Button>
        )}
      </Group>
      <SimpleGrid cols={{ base: 1, md: answer === null ? 1 : 2 }} spacing="sm">
        <Message name={t('request')} message={request} {...(number !== undefined && isShown && { number })} />
        {answer !== null && <Message name={t('answer')} message={answer} />}
      </SimpleGrid>
    </Stack>
  );
}

function Message({ name, message, number }: { name: string; message: MessageView; number?: HiddenNumber }) {
  const { line, headers, body } = message;
  const shown =
    number === undefined || body === null
      ? body
      : // As the body has them: in JSON.
        body.replace(JSON.stringify(number.hidden), () => JSON.stringify(number.typed));
  const text = [line, ...headers.map((header) => `${header.name}: ${header.value}`), '', shown ?? ''];
  return (
    <Stack gap={4} miw={0}>
      <Text size="sm" fw={550}>
        {name}
      </Text>
      <CodeBlock code={text.join('\n').trimEnd()} what={name} wrap />
    </Stack>
  );
}

const isKnown = (code: string): code is keyof typeof tryout.remedies => code in tryout.remedies;

/** An error of the API, with what to do about it. */
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
        {detail !== null && (
          <Text size="sm" lang="en">
            {detail}
          </Text>
        )}
        {isKnown(code) && <Text size="sm">{t(`remedies.${code}`)}</Text>}
        {retryAfterSeconds !== null && (
          <Text size="sm">{t('retryAfter', { time: seconds(retryAfterSeconds) })}</Text>
        )}
        <Anchor href={docs} target="_blank" rel="noreferrer" size="sm">
          {t('docs', { code })}
        </Anchor>
      </Stack>
    </Alert>
  );
}
