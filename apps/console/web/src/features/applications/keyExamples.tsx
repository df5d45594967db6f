import { Tabs } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { CodeBlock } from '../../components/code.js';

/** A number that the British regulator keeps free for examples: it belongs to nobody. */
const RECIPIENT = '+447700900123';

const EXAMPLES = {
  curl: (apiUrl: string, key: string): string =>
    `curl ${apiUrl}/v1/send \\
  -H 'Authorization: Bearer ${key}' \\
  -H 'Content-Type: application/json' \\
  -d '{"to": "${RECIPIENT}"}'`,
  node: (apiUrl: string, key: string): string =>
    `const response = await fetch('${apiUrl}/v1/send', {
  method: 'POST',
  headers: {
    Authorization: 'Bearer ${key}',
    'Content-Type': 'application/json',
  },
  body: JSON.stringify({ to: '${RECIPIENT}' }),
});
console.log(response.status, await response.json());`,
} as const;
const LANGUAGES = ['curl', 'node'] as const;

/** How to make a first send with this key, ready to be pasted. */
export function KeyExamples({ apiKey, apiUrl }: { apiKey: string; apiUrl: string }) {
  const { t } = useTranslation('account');
  return (
    <Tabs defaultValue="curl" keepMounted={false}>
      <Tabs.List mb="xs">
        {LANGUAGES.map((language) => (
          <Tabs.Tab key={language} value={language}>
            {t(`newKey.${language}`)}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {LANGUAGES.map((language) => (
        <Tabs.Panel key={language} value={language}>
          <CodeBlock
            code={EXAMPLES[language](apiUrl, apiKey)}
            what={t('newKey.exampleOf', { what: t(`newKey.${language}`) })}
          />
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
