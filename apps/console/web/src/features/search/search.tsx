import { ActionIcon, Button, Kbd, NavLink, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedValue, useDisclosure, useHotkeys } from '@mantine/hooks';
import {
  IconBuilding,
  IconCircleX,
  IconDeviceMobileMessage,
  IconKey,
  IconSearch,
  IconSend,
} from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState, type KeyboardEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { FoundView, SearchView } from '../../../../src/features/search/view.js';
import { call, type ApiProblem } from '../../api/http.js';
import { Dialog } from '../../components/dialog.js';
import { Small } from '../../components/facts.js';
import { Failure } from '../../components/states.js';
import { Time } from '../../components/times.js';

/** The delay between the last key and the search. */
const PAUSE_MS = 250;
const ICONS = {
  send: IconSend,
  request: IconCircleX,
  key: IconKey,
  account: IconBuilding,
  sender: IconDeviceMobileMessage,
} as const;

/** The one search, opened by its button, `/` and Ctrl-K. @param account the account to search; undefined for all accounts, for staff */
export function Search({ account }: { account: string | undefined }) {
  const { t } = useTranslation('search');
  const [opened, { open: show, close }] = useDisclosure();
  // The content of another dialog, such as a new key, would be lost with the page.
  const open = (): void => {
    if (document.querySelector('[role=dialog]') === null) show();
  };
  useHotkeys([
    ['/', open],
    ['mod+K', open],
  ]);
  return (
    <>
      <Button
        variant="default"
        c="dimmed"
        fw={400}
        size="xs"
        visibleFrom="sm"
        leftSection={<IconSearch size={16} />}
        rightSection={<Kbd size="xs">/</Kbd>}
        onClick={open}
      >
        {t('title')}
      </Button>
      <ActionIcon
        hiddenFrom="sm"
        variant="subtle"
        color="gray"
        size="lg"
        aria-label={t('title')}
        onClick={open}
      >
        <IconSearch size={20} />
      </ActionIcon>
      <Dialog opened={opened} onClose={close} title={t('title')} size="lg" centered={false}>
        <Find account={account} onClose={close} />
      </Dialog>
    </>
  );
}

function Find({ account, onClose }: { account: string | undefined; onClose: () => void }) {
  const { t } = useTranslation('search');
  const [typed, type] = useState('');
  const [text] = useDebouncedValue(typed.trim(), PAUSE_MS);
  const path = account === undefined ? '/staff/search' : `/accounts/${account}/search`;
  // `gcTime: 0`: the text may be a phone number or a key.
  const { data, error, isFetching } = useQuery<SearchView, ApiProblem>({
    queryKey: ['search', path, text],
    queryFn: () => call('POST', path, { text }),
    enabled: text !== '',
    gcTime: 0,
  });
  const move = (event: KeyboardEvent<HTMLElement>): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const places = [...event.currentTarget.querySelectorAll<HTMLElement>('input, a')];
    const at = places.findIndex((place) => place === document.activeElement);
    if (step !== undefined) {
      event.preventDefault();
      places[at + step]?.focus();
    } else if (event.key === 'Enter' && at === 0) places[1]?.click();
  };
  const found = text === '' ? [] : (data?.found ?? []);
  return (
    <Stack gap="sm" onKeyDown={move}>
      <TextInput
        aria-label={t('title')}
        placeholder={t(account === undefined ? 'placeholder.staff' : 'placeholder.account')}
        value={typed}
        onChange={({ currentTarget }) => type(currentTarget.value)}
        leftSection={<IconSearch size={16} />}
        maxLength={255}
        autoComplete="off"
        spellCheck={false}
        data-autofocus
      />
      {error !== null && <Failure problem={error} />}
      <Stack gap={2} role="status" aria-busy={isFetching}>
        {found.map((one) => (
          <Result key={`${one.kind} ${one.id}`} found={one} account={account} onClose={onClose} />
        ))}
        {text !== '' && !isFetching && error === null && found.length === 0 && (
          <Text c="dimmed">{t('nothing')}</Text>
        )}
      </Stack>
      <Small>{t(account === undefined ? 'hint.staff' : 'hint.account')}</Small>
    </Stack>
  );
}

function Result({
  found,
  account,
  onClose,
}: {
  found: FoundView;
  account: string | undefined;
  onClose: () => void;
}) {
  const { t } = useTranslation(['search', 'sends']);
  const Icon = ICONS[found.kind];
  const label = labelOf(found);
  return (
    <NavLink
      component={Link}
      to={addressOf(found, account)}
      onClick={onClose}
      leftSection={<Icon size={18} stroke={1.6} />}
      label={label === null ? t(`kinds.${found.kind}`) : `${t(`kinds.${found.kind}`)} · ${label}`}
      description={
        'at' in found && (
          <>
            {found.kind === 'send' && `${t(`sends:status.${found.status}`)} · `}
            {account === undefined && `${found.accountName} · `}
            <Time at={found.at} seconds />
          </>
        )
      }
      className="nav"
    />
  );
}

function labelOf(found: FoundView): string | null {
  switch (found.kind) {
    case 'send':
      return found.recipientMasked;
    case 'request':
      return found.code;
    case 'key':
      return found.name === null ? found.hint : `${found.name} (${found.hint})`;
    case 'account':
      return found.email === null ? found.name : `${found.name} (${found.email})`;
    case 'sender':
      return found.number;
  }
}

function addressOf(found: FoundView, account: string | undefined): string {
  if (found.kind === 'sender') return `/staff/senders/${found.id}`;
  if (found.kind === 'account') return `/staff/accounts/${found.id}`;
  if (found.kind === 'send')
    return account === undefined ? `/staff/sends/${found.id}` : `/accounts/${account}/sends/${found.id}`;
  const path = account === undefined ? `/staff/accounts/${found.accountId}` : `/accounts/${account}`;
  if (found.kind === 'request') return `${path}/requests?request=${found.id}`;
  return account === undefined ? path : `${path}/applications/${found.applicationId}`;
}
