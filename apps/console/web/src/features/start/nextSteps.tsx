import { Anchor, Button, List, Text, ThemeIcon, VisuallyHidden } from '@mantine/core';
import { IconCheck, IconCircle } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { ApplicationView } from '../../../../src/features/applications/view.js';
import type { BalanceView, TrialView } from '../../../../src/features/ledger/view.js';
import type { SendsView } from '../../../../src/features/sends/view.js';
import { useAside } from '../../api/queries.js';
import { useAccount, useSession } from '../../app/session.js';
import { Section } from '../../components/page.js';
import { useDocs } from '../../hooks/docs.js';

const REFRESH_MS = 5_000;

/** The remaining steps until an account sends real messages, shown until its first verified code. */
export function FirstSteps({ applications }: { applications: readonly ApplicationView[] }) {
  const { t } = useTranslation('start');
  const { path } = useAccount();
  const verified = useHasSends('verification=verified&');
  if (verified !== false) return null;
  return (
    <Section
      title={t('title')}
      {...(applications.some(({ mode }) => mode === 'test') && { description: t('description') })}
      actions={
        <Button component={Link} to={`${path}/start`} size="xs">
          {t('action')}
        </Button>
      }
    >
      <NextSteps applications={applications} />
    </Section>
  );
}

/** The remaining steps until an account sends real messages: three links. */
export function NextSteps({ applications }: { applications: readonly ApplicationView[] }) {
  const { t } = useTranslation('start');
  const { path } = useAccount();
  const docs = useDocs();
  const { supportUrl } = useSession();
  const balance = useAside<BalanceView>(`${path}/balance`);
  const trial = useAside<TrialView>(`${path}/trial`);
  const live = applications.filter(({ mode }) => mode === 'live');
  const hasCredits = (balance?.credits ?? 0) > 0 || trial?.countries === null;
  return (
    <List spacing="sm" listStyleType="none" center={false}>
      <Step isDone={useHasSends('verification=verified&') === true} text={t('verify.text')}>
        <Anchor href={docs('quick-start#verify')} target="_blank" rel="noreferrer" fw={550}>
          {t('verify.title')}
        </Anchor>
      </Step>
      <Step isDone={live.some(({ keysInUse }) => keysInUse > 0)} text={t('live.text')}>
        <Anchor
          component={Link}
          to={`${path}/applications${live[0] === undefined ? '?create=live' : `/${live[0].id}`}`}
          fw={550}
        >
          {t('live.title')}
        </Anchor>
      </Step>
      <Step
        isDone={hasCredits}
        text={
          supportUrl === null ? (
            t('credits.text')
          ) : (
            <Anchor href={supportUrl} underline="always">
              {t('credits.ask')}
            </Anchor>
          )
        }
      >
        <Anchor component={Link} to={`${path}/ledger`} fw={550}>
          {t('credits.title')}
        </Anchor>
      </Step>
    </List>
  );
}

function Step({ isDone, text, children }: { isDone: boolean; text: ReactNode; children: ReactNode }) {
  const { t } = useTranslation('start');
  return (
    <List.Item
      icon={
        <ThemeIcon size={22} radius="xl" variant={isDone ? 'filled' : 'default'}>
          {isDone ? <IconCheck size={14} /> : <IconCircle size={10} />}
        </ThemeIcon>
      }
    >
      {children} <VisuallyHidden>{t(isDone ? 'done' : 'open')}</VisuallyHidden>
      {!isDone && <Text c="dimmed">{text}</Text>}
    </List.Item>
  );
}

/** Whether a send matches the filter; undefined while unknown. Polls until one does. */
export function useHasSends(filter: string): boolean | undefined {
  const account = useAccount();
  const data = useAside<SendsView>(`${account.path}/sends?${filter}limit=1`, {
    refreshMs: (known) => known?.sends.length !== 1 && REFRESH_MS,
  });
  return data && data.sends.length > 0;
}
