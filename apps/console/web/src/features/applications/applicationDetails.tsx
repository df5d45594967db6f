import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPencil, IconPlayerPlay } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Link, useParams } from 'react-router';
import type { ApplicationView } from '../../../../src/features/applications/view.js';
import { useData } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';
import { Id } from '../../components/copy.js';
import { ModeBadge } from '../../components/badges.js';
import { Page } from '../../components/page.js';
import { Loaded } from '../../components/states.js';
import { IdentityCheck } from './identityCheck.js';
import { Keys } from './keys.js';
import { Limits } from './limits.js';
import { RenameApplication } from './applicationForms.js';

/** The page of one application: name, keys and limits. */
export function ApplicationDetails() {
  const { t } = useTranslation(['applications', 'common']);
  const { path, mayChange } = useAccount();
  const { application: id = '' } = useParams();
  const [renaming, { open, close }] = useDisclosure();
  const read = useData<ApplicationView>(`${path}/applications/${encodeURIComponent(id)}`);
  const { data } = read;
  const back = { to: `${path}/applications`, label: t('list.back') };
  if (data === undefined)
    return (
      <Page title={t('common:nav.applications')} back={back}>
        <Loaded read={read}>{() => null}</Loaded>
      </Page>
    );
  return (
    <Page
      title={data.name}
      back={back}
      facts={
        <>
          <ModeBadge mode={data.mode} />
          <Id id={data.id} what={t('details.id')} />
        </>
      }
      actions={
        mayChange && (
          <>
            <Button component={Link} to="tryout" leftSection={<IconPlayerPlay size={16} />}>
              {t('details.tryIt')}
            </Button>
            <Button variant="default" leftSection={<IconPencil size={16} />} onClick={open}>
              {t('details.rename')}
            </Button>
          </>
        )
      }
    >
      <Keys application={data} />
      <Limits key={data.id} application={data} />
      {data.mode === 'live' && <IdentityCheck key={`identity ${data.id}`} application={data} />}
      <RenameApplication opened={renaming} onClose={close} application={data} />
    </Page>
  );
}
