import {
  Anchor,
  Box,
  Center,
  Group,
  type MantineColorScheme,
  NativeSelect,
  Paper,
  Stack,
  Text,
  Title,
  useMantineColorScheme,
} from '@mantine/core';
import { IconDeviceDesktop, IconLanguage, IconMoon, IconSun } from '@tabler/icons-react';
import { type ReactNode, useEffect } from 'react';
import { MissingPart } from '../../components/states.js';
import { useTranslation } from 'react-i18next';

const SCHEMES = { light: IconSun, dark: IconMoon, auto: IconDeviceDesktop } as const;

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
            <Text size="md" fw={700}>
              {t('common:brand')}
            </Text>
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
                  <Text c="dimmed" mt={6} component="div">
                    {description}
                  </Text>
                )}
              </div>
              <MissingPart />
              {children}
            </Stack>
          </Paper>
          {footer !== undefined && (
            <Text ta="center" component="div">
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
  const Scheme = SCHEMES[colorScheme];
  // The browser's native lists: the component library's would be larger than the rest of the form.
  return (
    <Group gap="xs" wrap="nowrap">
      <NativeSelect
        size="xs"
        aria-label={t('common:language')}
        leftSection={<IconLanguage size={16} />}
        data={(['en', 'pt-BR'] as const).map((value) => ({ value, label: t(`common:languages.${value}`) }))}
        value={i18n.language}
        onChange={({ currentTarget }) => void i18n.changeLanguage(currentTarget.value)}
      />
      <NativeSelect
        size="xs"
        aria-label={t('common:scheme.title')}
        leftSection={<Scheme size={16} />}
        data={(Object.keys(SCHEMES) as MantineColorScheme[]).map((value) => ({
          value,
          label: t(`common:scheme.${value}`),
        }))}
        value={colorScheme}
        onChange={({ currentTarget }) => setColorScheme(currentTarget.value as MantineColorScheme)}
      />
    </Group>
  );
}
