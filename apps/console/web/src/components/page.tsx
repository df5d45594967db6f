import { Anchor, Group, Stack, Text, Title } from '@mantine/core';
import { IconArrowLeft } from '@tabler/icons-react';
import { useEffect, type ReactNode } from 'react';
import { Link } from 'react-router';

/** A page: where it belongs, its title (also the window's), what it is for, what can be done on it, and its content. */
export function Page({
  title,
  back,
  description,
  facts,
  actions,
  children,
}: {
  title: string;
  /** The list that it is out of. */
  back?: { to: string; label: string };
  description?: ReactNode;
  /** What there is to know first of the one thing that it is about: its state, its id. */
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
            <Anchor component={Link} to={back.to} size="sm" w="fit-content">
              <Group gap={4} wrap="nowrap" component="span">
                <IconArrowLeft size={16} aria-hidden />
                {back.label}
              </Group>
            </Anchor>
          )}
          <Title order={1} size="h2" style={{ overflowWrap: 'anywhere' }}>
            {title}
          </Title>
          {description !== undefined && (
            <Text c="dimmed" size="sm" component="div">
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
