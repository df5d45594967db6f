import { Anchor, Code, Paper, Stack, Text, Title } from '@mantine/core';
import { createElement, Fragment, type ReactNode, useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useLocation } from 'react-router';
import source from '../../../../../../docs/runbooks.md?raw';
import { Page } from '../../components/page.js';

/** The runbooks of this release: a heading for each finding and each alert. */
const [, ...RUNBOOKS] = source.split(/^## /m).map((text) => {
  const [name = '', ...rest] = text.split('\n');
  return {
    name,
    blocks: rest
      .join('\n')
      .trim()
      .split(/\n{2,}/),
  };
});

/** The runbooks for on-call engineers; the URL fragment selects a heading. */
export function Runbooks() {
  const { t } = useTranslation(['health', 'common']);
  const { hash } = useLocation();
  useEffect(() => {
    document.getElementById(hash.slice(1))?.scrollIntoView();
  }, [hash]);
  return (
    <Page
      title={t('runbooks.title')}
      back={{ to: '/staff/health', label: t('common:nav.health') }}
      description={t('runbooks.description')}
    >
      <Stack gap="sm" lang="en">
        {RUNBOOKS.map(({ name, blocks }) => (
          <Paper
            key={name}
            id={name.toLowerCase()}
            className="anchored"
            withBorder
            p="md"
            component="section"
            aria-label={name}
          >
            <Stack gap="xs" maw={760}>
              <Title order={2} size="h5">
                {name}
              </Title>
              {blocks.map((text) => (
                <Block key={text} text={text} />
              ))}
            </Stack>
          </Paper>
        ))}
      </Stack>
    </Page>
  );
}

function Block({ text }: { text: string }) {
  if (!text.startsWith('1. '))
    return (
      <Text>
        <Inline text={text} />
      </Text>
    );
  return (
    <Text component="ol" m={0} ps="lg">
      {text
        .split(/^\d+\. /m)
        .slice(1)
        .map((item) => (
          <li key={item}>
            <Inline text={item} />
          </li>
        ))}
    </Text>
  );
}

function Inline({ text }: { text: string }): ReactNode {
  const parts = text.replaceAll(/\s+/g, ' ').split(/(`[^`]+`|\[[^\][]+\]\([^()]+\))/);
  return createElement(Fragment, null, ...parts.map(inline));
}

/** Code, a link to another runbook, or the name of a section with the file that has it: the console has no other documents. */
function inline(part: string): ReactNode {
  if (part.startsWith('`')) return <Code>{part.slice(1, -1)}</Code>;
  const [, label, address = ''] = /^\[([^\][]+)\]\(([^()]+)\)$/.exec(part) ?? [];
  if (label === undefined) return part;
  if (!address.startsWith('#'))
    return (
      <>
        <Inline text={label} /> (docs/{address.replace(/#.*/, '')})
      </>
    );
  return (
    <Anchor component={Link} to={address} inherit underline="always">
      {label}
    </Anchor>
  );
}
