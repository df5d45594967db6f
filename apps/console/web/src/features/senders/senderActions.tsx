import { ActionIcon, Button, Group, Menu } from '@mantine/core';
import { IconDots, IconGauge, IconKey } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { SenderRulesView, SenderView } from '../../../../src/features/senders/view.js';
import { useMayOperate } from '../../app/session.js';
import { ConfirmChange } from '../../components/confirmChange.js';
import { Dialog } from '../../components/dialog.js';
import { ReasonDialog } from '../../components/reasonDialog.js';
import { useSenderChange } from '../../hooks/staffChange.js';
import { ThroughputForm, TokenForm } from './senderForms.js';

type DialogName = 'pause' | 'resume' | 'throughput' | 'token';

/** Actions of operators on a sender. */
export function SenderActions({ sender, rules }: { sender: SenderView; rules: SenderRulesView }) {
  const { t } = useTranslation('senders');
  const [open, setOpen] = useState<DialogName | null>(null);
  const close = (): void => setOpen(null);
  const change = useSenderChange(close);
  if (!useMayOperate()) return null;

  // Also for a country or a language only.
  const isStopped = sender.stops.length > 0;
  return (
    <Group gap="xs">
      {isStopped && (
        <Button variant="default" size="xs" onClick={() => setOpen('resume')}>
          {t('resume.button')}
        </Button>
      )}
      {sender.state !== 'paused' && (
        <Button variant="default" size="xs" onClick={() => setOpen('pause')}>
          {t('pause.button')}
        </Button>
      )}
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="default" size={30} aria-label={t('more', { number: sender.number })}>
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconGauge size={16} />} onClick={() => setOpen('throughput')}>
            {t('throughput.title')}
          </Menu.Item>
          <Menu.Item leftSection={<IconKey size={16} />} onClick={() => setOpen('token')}>
            {t('token.title')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>

      <ReasonDialog
        opened={open === 'pause'}
        onClose={close}
        title={t('pause.title', { number: sender.number })}
        action={t('pause.button')}
        pending={change.pending}
        problem={change.problem}
        onConfirm={(reason) =>
          change.send({ method: 'POST', path: `/${sender.id}/pause`, body: { reason } }, t('pause.done'))
        }
      >
        {t('pause.what')}
      </ReasonDialog>
      <ConfirmChange
        opened={open === 'resume'}
        onClose={close}
        title={t('resume.title', { number: sender.number })}
        color="brand"
        action={t('resume.button')}
        change={{ method: 'POST', path: `/staff/senders/${sender.id}/resume` }}
        stale={['/staff/senders', '/staff/audit']}
        done={t('resume.done')}
      >
        {t('resume.what')}
      </ConfirmChange>
      <Dialog opened={open === 'throughput'} onClose={close} title={t('throughput.title')}>
        <ThroughputForm sender={sender} rules={rules} onClose={close} />
      </Dialog>
      <Dialog opened={open === 'token'} onClose={close} title={t('token.title')}>
        <TokenForm sender={sender} rules={rules} onClose={close} />
      </Dialog>
    </Group>
  );
}
