import { Alert, Button, Center, Group, Loader, Stack, Text, ThemeIcon, Title } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { ComponentType, ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { ApiProblem } from '../api/http.js';
import { useMissingPart } from '../api/queries.js';
import { useTimes } from '../hooks/formats.js';

export function Loading() {
  const { t } = useTranslation();
  return (
    <Center mih={240} role="status" aria-busy aria-label={t('loading')}>
      <Loader size="sm" />
    </Center>
  );
}

/** The message for an error response. */
export function useProblemText(): (problem: ApiProblem) => string {
  const { t } = useTranslation();
  const time = useTimes();
  return ({ code, retryAt }) =>
    t([`problems.${code}` as 'problems.too_many_mails', 'problems.internal_error'], {
      at: retryAt === null ? '' : time(retryAt),
    });
}

/** Statuses that a retry does not change. */
const FINAL = new Set([403, 404]);

/** The error of a read or a change, with a retry button if a retry can help. */
export function Failure({ problem, onRetry }: { problem: ApiProblem; onRetry?: () => void }) {
  const { t } = useTranslation();
  const text = useProblemText();
  // The first sentence is the problem, the other sentences are the remedy.
  const [sentence = '', ...others] = text(problem).split(/(?<=\.) /);
  const mayRetry = onRetry && !FINAL.has(problem.status);
  return (
    <Alert
      color="red"
      variant="light"
      icon={<IconAlertTriangle size={18} />}
      title={sentence.replace(/\.$/, '')}
      role="alert"
    >
      {(others.length > 0 || mayRetry) && (
        <Group justify="space-between">
          <Text>{others.join(' ')}</Text>
          {mayRetry && (
            <Button size="xs" variant="default" onClick={onRetry}>
              {t('retry')}
            </Button>
          )}
        </Group>
      )}
    </Alert>
  );
}

/** Shows that a part of the page could not be read, with a retry button; renders nothing otherwise. */
export function MissingPart() {
  const { t } = useTranslation();
  const text = useProblemText();
  const { problem, retry } = useMissingPart();
  if (problem === null) return null;
  return (
    <Alert
      color="orange"
      variant="light"
      icon={<IconAlertTriangle size={18} />}
      title={t('missingPart')}
      role="alert"
      mb="md"
    >
      <Group justify="space-between">
        <Text>{text(problem)}</Text>
        {!FINAL.has(problem.status) && (
          <Button size="xs" variant="default" onClick={retry}>
            {t('retry')}
          </Button>
        )}
      </Group>
    </Alert>
  );
}

/** The data of a page: a loader, the error, and `children` with the data, also if a later read fails. */
export function Loaded<T>({
  read: { data, error, refetch },
  children,
}: {
  read: { data: T | undefined; error: ApiProblem | null; refetch: () => Promise<unknown> };
  children: (data: T) => ReactNode;
}) {
  return (
    <>
      {error !== null && <Failure problem={error} onRetry={() => void refetch()} />}
      {data === undefined ? error === null && <Loading /> : children(data)}
    </>
  );
}

/** Replaces an empty list: what will appear here, and how to get there. */
export function EmptyState({
  icon: Icon,
  title,
  children,
  action,
  order = 2,
}: {
  icon: ComponentType<{ size?: number }>;
  title: string;
  children: ReactNode;
  action?: ReactNode;
  /** 1 if the page has no other heading. */
  order?: 1 | 2;
}) {
  return (
    <Center mih={280} p="md">
      <Stack align="center" gap="xs" maw={440} ta="center">
        <ThemeIcon size={48} radius="xl" variant="light">
          <Icon size={24} />
        </ThemeIcon>
        <Title order={order} size="h4">
          {title}
        </Title>
        <Text c="dimmed" component="div">
          {children}
        </Text>
        {action}
      </Stack>
    </Center>
  );
}

/** A button that loads the next page of a list, while there is one. */
export function LoadMore({
  list: { hasNextPage, isFetchingNextPage, fetchNextPage },
}: {
  list: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => Promise<unknown> };
}) {
  const { t } = useTranslation();
  if (!hasNextPage) return null;
  return (
    <Center>
      <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
        {t('more')}
      </Button>
    </Center>
  );
}
