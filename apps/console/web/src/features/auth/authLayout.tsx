import {
  Anchor,
  Box,
  Button,
  Center,
  Group,
  Menu,
  Paper,
  Stack,
  Text,
  Title,
  useMantineColorScheme,
} from '@mantine/core';
import { IconDeviceDesktop, IconLanguage, IconMoon, IconSun } from '@tabler/icons-react';
import { type ReactNode, useEffect } from 'react';
import { useTranslation } from 'react-i18next';

const SCHEMES = { light: IconSun, dark: IconMoon, auto: IconDeviceDesktop } as const;

/** The layout of sign-in, sign-up and invitation: brand, one card, language and appearance. */
export function AuthLayout({
  title,
  description,
  footer,
  children,
}: {
  title: string;
  description?: ReactNode;
  footer?: ReactNode;
  children: ReactNode;
}) {
  const { t } = useTranslation(['auth', 'common']);
  useEffect(() => {
    document.title = `${title} · Onecode`;
  }, [title]);
  return (
    <Box mih="100dvh" bg="light-dark(var(--mantine-color-gray-0), var(--mantine-color-dark-8))">
      <Group component="header" justify="space-between" p="md" wrap="nowrap">
        <Anchor href="/" underline="never" c="inherit">
          <Group gap={8} wrap="nowrap">
            <img src="/icon.svg" width={26} height={26} alt="" />
            <Text fw={700}>{t('common:brand')}</Text>
          </Group>
        </Anchor>
        <Preferences />
      </Group>
      <Center component="main" px="md" pb={64} pt={{ base: 'md', sm: 40 }}>
        <Stack w="100%" maw={420} gap="md">
          <Paper withBorder shadow="sm" radius="lg" p={{ base: 'lg', sm: 'xl' }}>
            <Stack gap="lg">
              <div>
                <Title order={1} size="h3">
                  {title}
                </Title>
                {description !== undefined && (
                  <Text size="sm" c="dimmed" mt={6} component="div">
                    {description}
                  </Text>
                )}
              </div>
              {children}
            </Stack>
          </Paper>
          {footer !== undefined && (
            <Text size="sm" ta="center" component="div">
              {footer}
            </Text>
          )}
        </Stack>
      </Center>
    </Box>
  );
}

function Preferences() {
  const { t, i18n } = useTranslation(['auth', 'common']);
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const Current = SCHEMES[colorScheme];
  const language = i18n.language === 'pt-BR' ? 'pt-BR' : 'en';
  return (
    <Group gap={4} wrap="nowrap">
      <Menu position="bottom-end">
        <Menu.Target>
          <Button
            variant="subtle"
            color="gray"
            c="dimmed"
            size="compact-sm"
            leftSection={<IconLanguage size={16} />}
            aria-label={`${t('common:language')}: ${t(`common:languages.${language}`)}`}
          >
            {t(`common:languages.${language}`)}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {(['en', 'pt-BR'] as const).map((one) => (
            <Menu.Item key={one} lang={one} onClick={() => void i18n.changeLanguage(one)}>
              {t(`common:languages.${one}`)}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="subtle" color="gray" c="dimmed" size="compact-sm" aria-label={t('appearance')}>
            <Current size={16} />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {(Object.keys(SCHEMES) as (keyof typeof SCHEMES)[]).map((scheme) => (
            <Menu.Item key={scheme} onClick={() => setColorScheme(scheme)}>
              {t(`common:scheme.${scheme}`)}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
    </Group>
  );
}
