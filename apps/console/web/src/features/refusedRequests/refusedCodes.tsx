import { Badge, Box, Button, Code, Group, Stack, Text, Title } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { RefusedCodeView } from '../../../../src/features/refusedRequests/view.js';
import { Fact } from '../../components/facts.js';
import { Section } from '../../components/page.js';
import { Ago } from '../../components/times.js';
import { useNumbers } from '../../hooks/formats.js';
import en from '../../locales/en/refusedRequests.json';
import { RefusedRequestList } from './refusedRequestList.js';

type KnownCode = keyof typeof en.problems;

const isKnown = (code: string): code is KnownCode => code in en.problems;

/** Codes with how often requests were refused with them, why, and what to do; each opens its requests. */
export function RefusedCodes({
  codes,
  open,
  onOpen,
  path,
}: {
  codes: readonly RefusedCodeView[];
  /** The code whose requests are shown. */
  open: string | null;
  onOpen: (code: string | null) => void;
  /** The list of all their requests, with its query. */
  path: string;
}) {
  return codes.map((group) => (
    <RefusedCode
      key={group.code}
      group={group}
      isOpen={open === group.code}
      onOpen={(isOpen) => onOpen(isOpen ? group.code : null)}
      path={`${path}&code=${group.code}`}
    />
  ));
}

function RefusedCode({
  group: { code, status, count, kept, lastRefusedAt },
  isOpen,
  onOpen,
  path,
}: {
  group: RefusedCodeView;
  isOpen: boolean;
  onOpen: (isOpen: boolean) => void;
  path: string;
}) {
  const { t } = useTranslation('refusedRequests');
  const { whole } = useNumbers();
  return (
    <Section title={isKnown(code) ? t(`problems.${code}.meaning`) : code}>
      <Group gap="xs">
        {status !== null && (
          <Badge color={status >= 500 ? 'red' : 'orange'} variant="light">
            {status}
          </Badge>
        )}
        <Code>{code}</Code>
      </Group>
      {isKnown(code) && (
        <Stack gap="xs">
          <Explained title={t('cause')} text={t(`problems.${code}.cause`)} />
          <Explained title={t('remedy')} text={t(`problems.${code}.remedy`)} />
        </Stack>
      )}
      <Group justify="space-between" align="flex-end">
        <Group gap="xl" align="flex-start" component="dl" m={0}>
          <Fact label={t('count')}>{whole(count)}</Fact>
          <Fact label={t('last')}>
            <Ago at={lastRefusedAt} />
          </Fact>
        </Group>
        <Button size="xs" variant="default" aria-expanded={isOpen} onClick={() => onOpen(!isOpen)}>
          {t(isOpen ? 'hide' : 'show')}
        </Button>
      </Group>
      {isOpen && (
        <Box>
          {kept < count && (
            <Text size="sm" c="dimmed" mb="xs">
              {t('flood', { kept: whole(kept), all: whole(count) })}
            </Text>
          )}
          <RefusedRequestList path={path} />
        </Box>
      )}
    </Section>
  );
}

function Explained({ title, text }: { title: string; text: string }) {
  return (
    <div>
      <Title order={3} size="xs" c="dimmed" fw={550}>
        {title}
      </Title>
      <Text size="sm">{text}</Text>
    </div>
  );
}
