import { ActionIcon, Button, Group, Menu } from '@mantine/core';
import {
  IconBuilding,
  IconDots,
  IconPencil,
  IconTrash,
  IconWebhook,
  IconWebhookOff,
} from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { SenderRulesView, SenderView } from '../../../../src/features/senders/view.js';
import { ConfirmChange } from '../../components/confirmChange.js';
import { useSenders } from '../../hooks/senders.js';
import { AssignDialog } from './assignDialog.js';
import { OwnAppDialog } from './ownAppDialog.js';
import { StopDialog } from './stopDialog.js';
import { EditSenderDialog } from './senderForms.js';

type DialogName = 'pause' | 'resume' | 'activate' | 'edit' | 'app' | 'noApp' | 'assign' | 'remove';

/** Actions of staff on a sender; only operators change and remove it. */
export function SenderActions({ sender, rules }: { sender: SenderView; rules: SenderRulesView }) {
  const { t } = useTranslation('senders');
  const [open, setOpen] = useState<DialogName | null>(null);
  const close = (): void => setOpen(null);
  const { path, audit, account, mayStop, mayChange } = useSenders();
  if (!mayStop) return null;

  // Also for a country or a language only.
  const isStopped = sender.stops.length > 0;
  const begin = sender.isNew ? 'activate' : 'resume';
  return (
    <Group gap="xs">
      {sender.isNew && (
        <Button size="xs" disabled={!sender.provider.maySend} onClick={() => setOpen('activate')}>
          {t('changes.activate.button')}
        </Button>
      )}
      {isStopped && !sender.isNew && (
        <Button variant="default" size="xs" onClick={() => setOpen('resume')}>
          {t('changes.resume.button')}
        </Button>
      )}
      {sender.state !== 'paused' && (
        <Button variant="default" size="xs" onClick={() => setOpen('pause')}>
          {t('changes.pause.button')}
        </Button>
      )}
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

      <StopDialog sender={sender} kind={open === 'pause' || open === begin ? open : null} onClose={close} />
      <ConfirmChange
        opened={open === 'remove'}
        onClose={close}
        title={t('remove.title', { number: sender.number })}
        action={t('remove.button')}
        change={{ method: 'DELETE', path: `${path}/${sender.id}` }}
        stale={[path, audit]}
        done={t('remove.done')}
      >
        {t('remove.what')}
      </ConfirmChange>
      <ConfirmChange
        opened={open === 'noApp'}
        onClose={close}
        title={t('app.removeTitle')}
        action={t('app.remove')}
        change={{ method: 'DELETE', path: `${path}/${sender.id}/app` }}
        stale={[path, audit]}
        done={t('app.removed')}
      >
        {t('app.removeWhat')}
      </ConfirmChange>
      <OwnAppDialog opened={open === 'app'} sender={sender} rules={rules} onClose={close} />
      {account === undefined && <AssignDialog opened={open === 'assign'} sender={sender} onClose={close} />}
      <EditSenderDialog opened={open === 'edit'} sender={sender} rules={rules} onClose={close} />
    </Group>
  );
}
