import { Anchor, Box, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { IconArrowLeft } from '@tabler/icons-react';
import { type ReactNode, useEffect } from 'react';
import { Link } from 'react-router';

/** A page: back link, title (also of the window), description, actions and content. */
export function Page({
  title,
  back,
  description,
  facts,
  actions,
  children,
}: {
  title: string;
  /** A link to the list that the page belongs to. */
  back?: { to: string; label: string };
  description?: ReactNode;
  /** The state and the id of the shown object. */
  facts?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · Onecode`;
  }, [title]);
  return (
    <Stack gap="lg">
      <Group justify="space-between" align="flex-end" gap="sm">
        <Stack gap={6} maw={720}>
          {back !== undefined && (
            <Anchor component={Link} to={back.to} w="fit-content">
              <Group gap={4} wrap="nowrap" component="span">
                <IconArrowLeft size={16} aria-hidden />
                {back.label}
              </Group>
            </Anchor>
          )}
          <Title order={1} size="h2">
            {title}
          </Title>
          {description !== undefined && (
            <Text c="dimmed" component="div">
              {description}
            </Text>
          )}
          {facts !== undefined && <Group gap="xs">{facts}</Group>}
        </Stack>
        {actions !== undefined && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  );
}

/** A section of a page: heading, description, actions and content. A URL fragment can link to a section with an id. */
export function Section({
  title,
  id,
  description,
  actions,
  children,
}: {
  title: string;
  id?: string | undefined;
  description?: ReactNode;
  actions?: ReactNode;
  children?: ReactNode;
}) {
  return (
    <Paper id={id} className="anchored" withBorder p="md" component="section" aria-label={title}>
      <Stack gap="sm">
        <Group justify="space-between" align="flex-start" gap="xs">
          <Box maw={680}>
            <Title order={2} size="h5">
              {title}
            </Title>
            {description !== undefined && (
              <Text c="dimmed" component="div">
                {description}
              </Text>
            )}
          </Box>
          {actions !== undefined && <Group gap="xs">{actions}</Group>}
        </Group>
        {children}
      </Stack>
    </Paper>
  );
}
