import { ActionIcon, Group, Menu } from '@mantine/core';
import {
  IconBuilding,
  IconDots,
  IconMessageCheck,
  IconPencil,
  IconTrash,
  IconWebhook,
  IconWebhookOff,
} from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import type { SenderRulesView, SenderView } from '../../../../src/features/senders/view.js';
import { ChangeDialog } from '../../components/changeDialog.js';
import { Dialog } from '../../components/dialog.js';
import { useSenders } from '../../hooks/senders.js';
import { AssignForm } from './assignForm.js';
import { OwnAppForm } from './ownAppForm.js';
import { SenderForm } from './senderForms.js';
import { TestCodeForm } from './testCodeForm.js';
import { PauseButton } from './pauseButton.js';
import { remove } from '../../hooks/change.js';

/** Actions of staff on a sender; only operators change and remove it. */
export function SenderActions({
  sender,
  rules,
  activation,
}: {
  sender: SenderView;
  rules: SenderRulesView;
  /** The effect of its activation. */
  activation: string;
}) {
  const { t } = useTranslation('senders');
  const navigate = useNavigate();
  const [open, setOpen] = useState<'edit' | 'test' | 'app' | 'noApp' | 'assign' | 'remove' | null>(null);
  const close = (): void => setOpen(null);
  const { path, audit, account, mayControlDelivery, mayChange } = useSenders();
  if (!mayControlDelivery) return null;

  return (
    <Group gap="xs">
      {sender.isNew && (
        <PauseButton
          sender={sender}
          kind="activate"
          what={activation}
          button={{ variant: 'filled', disabled: !sender.provider.maySend }}
        />
      )}
      {/* This includes blocks of only a country or a language. */}
      {sender.blocks.length > 0 && !sender.isNew && <PauseButton sender={sender} kind="resume" />}
      {sender.state !== 'paused' && <PauseButton sender={sender} kind="pause" />}
      {mayChange && (
        <Menu position="bottom-end">
          <Menu.Target>
            <ActionIcon variant="default" size={30} aria-label={t('more', { number: sender.number })}>
              <IconDots size={16} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item leftSection={<IconPencil size={16} />} onClick={() => setOpen('edit')}>
              {t('edit.title')}
            </Menu.Item>
            <Menu.Item leftSection={<IconMessageCheck size={16} />} onClick={() => setOpen('test')}>
              {t('test.title')}
            </Menu.Item>
            {account === undefined && (
              <Menu.Item leftSection={<IconBuilding size={16} />} onClick={() => setOpen('assign')}>
                {t('assign.title')}
              </Menu.Item>
            )}
            <Menu.Item leftSection={<IconWebhook size={16} />} onClick={() => setOpen('app')}>
              {t('app.title')}
            </Menu.Item>
            {sender.hasOwnApp && (
              <Menu.Item leftSection={<IconWebhookOff size={16} />} onClick={() => setOpen('noApp')}>
                {t('app.remove')}
              </Menu.Item>
            )}
            <Menu.Item color="red" leftSection={<IconTrash size={16} />} onClick={() => setOpen('remove')}>
              {t('remove.button')}
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      )}

      <ChangeDialog
        opened={open === 'remove'}
        onClose={close}
        title={t('remove.title', { number: sender.number })}
        action={t('remove.button')}
        change={remove(`${path}/${sender.id}`)}
        stale={[path, audit]}
        done={t('remove.done')}
        onDone={() => void navigate(path)}
      >
        {t('remove.what')}
      </ChangeDialog>
      <ChangeDialog
        opened={open === 'noApp'}
        onClose={close}
        title={t('app.removeTitle')}
        action={t('app.remove')}
        change={remove(`${path}/${sender.id}/app`)}
        stale={[path, audit]}
        done={t('app.removed')}
      >
        {t('app.removeWhat')}
      </ChangeDialog>
      <Dialog opened={open === 'test'} onClose={close} title={t('test.title')}>
        <TestCodeForm sender={sender} />
      </Dialog>
      <Dialog opened={open === 'app'} onClose={close} title={t('app.title')}>
        <OwnAppForm sender={sender} rules={rules} />
      </Dialog>
      <Dialog opened={open === 'assign'} onClose={close} title={t('assign.title')}>
        <AssignForm sender={sender} />
      </Dialog>
      <Dialog opened={open === 'edit'} onClose={close} title={t('edit.title')}>
        <SenderForm sender={sender} rules={rules} />
      </Dialog>
    </Group>
  );
}
