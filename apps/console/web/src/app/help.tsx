import { ActionIcon } from '@mantine/core';
import { IconHelp } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useLocation } from 'react-router';
import { useDocs } from '../hooks/docs.js';

/** The documentation page for pages of the console: the first pattern that matches their path wins. */
const PAGES: readonly [path: RegExp, docs: string][] = [
  [/\/start$/, 'quick-start'],
  [/\/overview$|\/sends\b/, 'polling'],
  [/\/requests$/, 'errors'],
  [/\/applications\b/, 'testing'],
  [/\/protection$/, 'security#pumping'],
  [/\/recipients$/, 'security#guesses'],
  [/\/ledger$/, 'going-live#refunds'],
  [/\/webhook$/, 'events'],
  [/\/senders\b/, 'going-live'],
  [/\/personal-data$|\/team$|^\/profile$/, 'security'],
  [/^\/staff\//, '#audience'],
];

/** A link to the documentation page for the current page, in a new window. */
export function Help() {
  const { t } = useTranslation();
  const { pathname } = useLocation();
  const docs = useDocs();
  const page = PAGES.find(([path]) => path.test(pathname))?.[1] ?? '';
  return (
    <ActionIcon
      component="a"
      href={docs(page)}
      target="_blank"
      rel="noreferrer"
      variant="subtle"
      color="gray"
      size="lg"
      aria-label={t('nav.help')}
      title={t('nav.help')}
    >
      <IconHelp size={20} />
    </ActionIcon>
  );
}
