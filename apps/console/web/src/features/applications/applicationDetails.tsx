import { Button } from '@mantine/core';
import { IconPencil, IconPlayerPlay } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Link, useParams } from 'react-router';
import type { ApplicationView } from '../../../../src/features/applications/view.js';
import { useData } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { DialogButton } from '../../components/dialog.js';
import { Id } from '../../components/copy.js';
import { ModeBadge } from '../../components/badges.js';
import { Page } from '../../components/page.js';
import { Loaded } from '../../components/states.js';
import { IdentityCheck } from './identityCheck.js';
import { Keys } from './keys.js';
import { Limits } from './limits.js';
import { RenameApplication } from './applicationForms.js';

export function ApplicationDetails() {
  const { t } = useTranslation(['applications', 'common', 'tryout']);
  const { path, mayChange } = useAccount();
  const { application: id = '' } = useParams();
  const read = useData<ApplicationView>(`${path}/applications/${encodeURIComponent(id)}`);
  const { data } = read;
  return (
    <Page
      title={data?.name ?? t('common:nav.applications')}
      back={{ to: `${path}/applications`, label: t('common:words.allApplications') }}
      facts={
        data && (
          <>
            <ModeBadge mode={data.mode} />
            <Id id={data.id} what={t('details.id')} />
          </>
        )
      }
      actions={
        mayChange &&
        data && (
          <>
            <Button component={Link} to="tryout" leftSection={<IconPlayerPlay size={16} />}>
              {t('tryout:title')}
            </Button>
            <DialogButton
              size="sm"
              leftSection={<IconPencil size={16} />}
              label={t('common:words.rename')}
              title={t('details.renameTitle')}
            >
              <RenameApplication application={data} />
            </DialogButton>
          </>
        )
      }
    >
      <Loaded read={read}>
        {(application) => (
          <>
            <Keys application={application} />
            <Limits key={application.id} application={application} />
            {application.mode === 'live' && (
              <IdentityCheck key={`identity ${application.id}`} application={application} />
            )}
          </>
        )}
      </Loaded>
    </Page>
  );
}
