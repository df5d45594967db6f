import { Alert, Anchor, Button, Group, SimpleGrid, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Link, useParams } from 'react-router';
import type { StaffAccountDetailsView } from '../../../../src/features/accounts/view.js';
import { useData } from '../../api/queries.js';
import { useMayOperate } from '../../app/session.js';
import { OwnCosts } from '../costs/costMonths.js';
import { ProtectionSections } from '../protection/protectionSections.js';
import { ExhaustedRecipients } from '../recipients/exhaustedRecipients.js';
import { RecipientRequests } from '../recipients/recipientRequests.js';
import { Statistic } from '../../components/facts.js';
import { Id } from '../../components/copy.js';
import { useNumbers } from '../../hooks/formats.js';
import { Page, Section } from '../../components/page.js';
import { AccountBadge, ReadOnlyBadge } from '../../components/badges.js';
import { Loaded } from '../../components/states.js';
import { Time } from '../../components/times.js';
import { AccountActions } from './accountActions.js';
import { NameSection } from './nameSection.js';
import { ApplicationsSection, MembersSection, RateSection, SendersSection } from './accountSections.js';

/** An account for staff: balance, limits, team, applications, and blocked recipients (their last digits only). */
export function AccountDetails() {
  const { t } = useTranslation(['accounts', 'common']);
  const { target } = useParams();
  const read = useData<StaffAccountDetailsView>(`/staff/accounts/${target}`);
  // While another account loads, the query still holds the previous one.
  const account = read.data?.id === target ? read.data : undefined;
  return (
    <Page
      title={account?.name ?? t('common:words.account')}
      back={{ to: '/staff/accounts', label: t('back') }}
      facts={
        account && (
          <>
            <AccountBadge account={account} />
            <Id id={account.id} what={t('id')} />
            <Text c="dimmed">
              {t('common:words.created')} <Time at={account.createdAt} />
            </Text>
          </>
        )
      }
      actions={
        <>
          <ReadOnlyBadge />
          {account && <AccountActions account={account} />}
        </>
      }
    >
      <Group gap="xs" component="nav" aria-label={t('pages')}>
        {(['overview', 'sends', 'requests', 'ledger'] as const).map((name) => (
          <Button
            key={name}
            component={Link}
            to={`/staff/accounts/${target}/${name}`}
            variant="default"
            size="xs"
          >
            {t(`common:nav.${name}`)}
          </Button>
        ))}
        <Button component={Link} to={`/staff/audit?account=${target}`} variant="default" size="xs">
          {t('common:nav.audit')}
        </Button>
      </Group>
      <Loaded read={{ ...read, data: account }}>{(shown) => <Details account={shown} />}</Loaded>
    </Page>
  );
}

function Details({ account }: { account: StaffAccountDetailsView }) {
  const { t } = useTranslation(['accounts', 'holds', 'recipients', 'common']);
  const mayOperate = useMayOperate();
  const { whole } = useNumbers();
  return (
    <>
      {account.suspendedAt !== null && (
        <Alert color="red" variant="light" title={t('list.state.suspended')}>
          <Text>
            {t('common:words.since')} <Time at={account.suspendedAt} />: {account.suspensionReason}
          </Text>
          <Text>{t('suspended.text')}</Text>
        </Alert>
      )}
      {account.held && (
        <Alert color="orange" variant="light" title={t('held.title')}>
          <Anchor component={Link} to="/staff/holds" c="inherit" underline="always">
            {t('holds:banner.open')}
          </Anchor>
        </Alert>
      )}
      <SimpleGrid cols={3}>
        <Statistic label={t('list.columns.freeQuota')}>{whole(account.freeQuota)}</Statistic>
        <Statistic label={t('list.columns.credits')}>{whole(account.credits)}</Statistic>
        <Statistic label={t('statistics.sends')}>{whole(account.sendsCreated)}</Statistic>
      </SimpleGrid>
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <NameSection account={{ ...account, path: `/staff/accounts/${account.id}` }} mayChange={mayOperate} />
        <RateSection account={account} />
        <SendersSection account={account} />
        <MembersSection account={account} />
      </SimpleGrid>
      <ProtectionSections path={`/staff/accounts/${account.id}`} mayChange={mayOperate} />
      <ApplicationsSection account={account} />
      <OwnCosts path={`/staff/accounts/${account.id}`} />
      <Section id="recipients" title={t('common:nav.recipients')} description={t('recipients:description')}>
        <ExhaustedRecipients
          account={`/staff/accounts/${account.id}`}
          mayReset={mayOperate}
          empty={<Text c="dimmed">{t('recipients:empty.title')}</Text>}
        />
      </Section>
      {mayOperate && (
        <Section title={t('common:nav.personal-data')} description={t('recipients:requests.description')}>
          <RecipientRequests account={`/staff/accounts/${account.id}`} />
        </Section>
      )}
    </>
  );
}
