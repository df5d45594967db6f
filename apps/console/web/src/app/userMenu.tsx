import { Avatar, Menu, UnstyledButton, useMantineColorScheme } from '@mantine/core';
import { IconDeviceDesktop, IconLogout, IconMoon, IconSun, IconUser } from '@tabler/icons-react';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Link, useNavigate } from 'react-router';
import { signOut } from '../api/auth.js';
import { useMutationOnce } from '../api/queries.js';
import { useProblemText } from '../components/states.js';
import { put, useChange } from '../hooks/change.js';
import { useSession } from './session.js';

const SCHEMES = [
  ['light', IconSun],
  ['dark', IconMoon],
  ['auto', IconDeviceDesktop],
] as const;

export function UserMenu() {
  const { t, i18n } = useTranslation();
  const { user } = useSession();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const client = useQueryClient();
  const navigate = useNavigate();

  const problemText = useProblemText();
  const profile = useChange(['/session'], { failed: problemText });
  const changeLanguage = (language: 'en' | 'pt-BR'): void => {
    void i18n.changeLanguage(language);
    profile.mutate(put('/profile', { language }));
  };
  const endSession = useMutationOnce<void>({
    mutationFn: signOut,
    onSuccess: async () => {
      client.clear();
      await navigate('/sign-in');
    },
    onError: (problem) => notifications.show({ color: 'red', message: problemText(problem) }),
  });
  return (
    <Menu position="bottom-end" width={240} withinPortal>
      <Menu.Target>
        <UnstyledButton aria-label={t('nav.user')}>
          <Avatar color="brand" radius="xl" size={34}>
            <IconUser size={20} />
          </Avatar>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{user.email}</Menu.Label>
        <Menu.Item component={Link} to="/profile" leftSection={<IconUser size={16} />}>
          {t('nav.profile')}
        </Menu.Item>
        <Menu.Divider />
        <Menu.Label>{t('language')}</Menu.Label>
        {(['en', 'pt-BR'] as const).map((language) => (
          <Menu.RadioItem
            key={language}
            lang={language}
            value={language}
            checked={i18n.language === language}
            onChange={() => changeLanguage(language)}
            closeMenuOnClick
          >
            {t(`languages.${language}`)}
          </Menu.RadioItem>
        ))}
        <Menu.Label>{t('scheme.title')}</Menu.Label>
        {SCHEMES.map(([scheme, Icon]) => (
          <Menu.RadioItem
            key={scheme}
            value={scheme}
            checked={colorScheme === scheme}
            onChange={() => setColorScheme(scheme)}
            rightSection={<Icon size={16} />}
            closeMenuOnClick
          >
            {t(`scheme.${scheme}`)}
          </Menu.RadioItem>
        ))}
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} />} onClick={() => endSession.mutate()}>
          {t('nav.signOut')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
