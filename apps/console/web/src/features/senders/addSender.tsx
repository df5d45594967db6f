import { Alert, Button, Group, PasswordInput, Radio, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconLock } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import type {
  AddedView,
  FoundNumberView,
  NumbersView,
  SenderRulesView,
  SendersView,
} from '../../../../src/features/senders/view.js';
import { useData } from '../../api/queries.js';
import { DialogButton } from '../../components/dialog.js';
import { Page, Section } from '../../components/page.js';
import { PageForm } from '../../components/pageForm.js';
import { Failure, Loaded } from '../../components/states.js';
import { post, useChange } from '../../hooks/change.js';
import { focusOnMount } from '../../hooks/forms.js';
import { useSenders } from '../../hooks/senders.js';
import { SenderForm } from './senderForms.js';
import { SetupSteps } from './setupSteps.js';

/** The data with which the server reads a business account. Only this page holds the token, until it is stored with a sender. */
interface Connection {
  businessAccountId: string;
  token: string;
  template: string;
}

/** The first steps of a sender's setup: the business account, and its number. The sender's page continues with the others. */
export function AddSender() {
  const { t } = useTranslation(['senders', 'common']);
  const { path, mayChange } = useSenders();
  const read = useData<SendersView>(path);
  return (
    <Page
      title={t('add.button')}
      back={{ to: path, label: t('common:nav.senders') }}
      description={t('add.description')}
    >
      <Loaded read={read}>
        {({ rules }) =>
          mayChange ? <Steps rules={rules} /> : <Alert icon={<IconLock size={18} />}>{t('add.viewer')}</Alert>
        }
      </Loaded>
    </Page>
  );
}

function Steps({ rules }: { rules: SenderRulesView }) {
  const { t } = useTranslation('senders');
  const { path } = useSenders();
  const [connection, setConnection] = useState<Connection | null>(null);
  const find = useChange<NumbersView>([], { gcTime: 0 });
  const forget = (): void => {
    setConnection(null);
    find.reset();
  };
  const { data } = find;
  return (
    <Stack gap="lg">
      <Section
        title={t('add.steps.connect')}
        description={t('add.steps.connectWhat')}
        actions={
          <DialogButton label={t('add.byHand')} title={t('add.byHand')}>
            <SenderForm rules={rules} />
          </DialogButton>
        }
      >
        <ConnectForm
          rules={rules}
          change={find}
          onEdit={forget}
          onSubmit={(wanted) => {
            setConnection(wanted);
            find.mutate(post(`${path}/numbers`, wanted));
          }}
        />
        {data?.step != null && <SetupSteps steps={[data.step]} />}
      </Section>
      <Section title={t('add.steps.choose')} description={t('add.steps.chooseWhat')}>
        {connection !== null && data !== undefined && data.numbers.length > 0 && (
          <ChooseForm connection={connection} numbers={data.numbers} />
        )}
      </Section>
      <Section title={t('add.steps.setUp')} description={t('add.steps.setUpWhat')} />
    </Stack>
  );
}

function ConnectForm({
  rules: { patterns, templateInitial },
  change,
  onEdit,
  onSubmit,
}: {
  rules: SenderRulesView;
  change: Parameters<typeof PageForm>[0]['change'];
  /** Called when a field changes, because the found numbers may then belong to another business account. */
  onEdit: () => void;
  onSubmit: (connection: Connection) => void;
}) {
  const { t } = useTranslation('senders');
  const matches = (pattern: string, message: string) => (value: string) =>
    new RegExp(pattern).test(value.trim()) ? null : message;
  const form = useForm({
    initialValues: { businessAccountId: '', token: '', template: templateInitial },
    validate: {
      businessAccountId: matches(patterns.businessAccountId, t('fieldErrors.phoneNumberId')),
      token: matches(patterns.token, t('fieldErrors.token')),
      template: matches(patterns.template, t('fieldErrors.template')),
    },
    onValuesChange: onEdit,
  });
  return (
    <PageForm
      isInSection
      action={t('add.find')}
      change={change}
      onSubmit={form.onSubmit(({ businessAccountId, token, template }) =>
        onSubmit({
          businessAccountId: businessAccountId.trim(),
          token: token.trim(),
          template: template.trim(),
        }),
      )}
    >
      <TextInput
        ref={focusOnMount}
        label={t('facts.businessAccountId')}
        description={t('add.businessAccountWhere')}
        required
        inputMode="numeric"
        autoComplete="off"
        {...form.getInputProps('businessAccountId')}
      />
      <PasswordInput
        label={t('token.label')}
        description={t('add.tokenWhere')}
        required
        autoComplete="off"
        visibilityToggleButtonProps={{ 'aria-label': t('token.show') }}
        {...form.getInputProps('token')}
      />
      <TextInput
        label={t('add.template')}
        description={t('add.templateWhat')}
        required
        autoComplete="off"
        {...form.getInputProps('template')}
      />
    </PageForm>
  );
}

function ChooseForm({
  connection,
  numbers,
}: {
  connection: Connection;
  numbers: readonly FoundNumberView[];
}) {
  const { t } = useTranslation('senders');
  const { path, audit } = useSenders();
  const navigate = useNavigate();
  const free = numbers.filter(({ isTaken }) => !isTaken);
  const [chosen, choose] = useState(free.length === 1 ? (free[0]?.phoneNumberId ?? '') : '');
  const add = useChange<AddedView>([path, audit], {
    gcTime: 0,
    onDone: ({ id }) => {
      if (id !== null) void navigate(`${path}/${id}`);
    },
  });
  const why = add.error?.errors['phoneNumberId'];
  return (
    <Stack gap="sm">
      <Radio.Group
        aria-label={t('add.steps.choose')}
        value={chosen}
        onChange={choose}
        error={why !== undefined && t(`fieldErrors.${why === 'full' ? why : 'taken'}`)}
      >
        <Stack gap="xs">
          {numbers.map(({ phoneNumberId, number, verifiedName, status, isTaken }) => (
            <Radio
              key={phoneNumberId}
              value={phoneNumberId}
              disabled={isTaken}
              label={[number, verifiedName].filter(Boolean).join(' · ')}
              description={isTaken ? t('add.taken') : status}
            />
          ))}
        </Stack>
      </Radio.Group>
      {add.data?.step != null && <SetupSteps steps={[add.data.step]} />}
      {add.error !== null && why === undefined && <Failure problem={add.error} />}
      <Group>
        <Button
          disabled={chosen === ''}
          loading={add.isPending}
          onClick={() => add.mutate(post(`${path}/setup`, { ...connection, phoneNumberId: chosen }))}
        >
          {t('add.continue')}
        </Button>
      </Group>
    </Stack>
  );
}
