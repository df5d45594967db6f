import { samplesOf } from '@onecode/code-samples';
import type { Locale, Mode } from '@onecode/domain';
import type { SampleView } from './view.js';

/** From the range that Ofcom reserves for fiction: the number belongs to nobody. Samples never hold the number that somebody typed. */
const EXAMPLE_RECIPIENT = '+447700900123';
const EXAMPLE_CODE = '123456';

const KEY_NOTES: Readonly<Record<Locale, (mode: Mode, id: string) => string>> = {
  en: (mode, id) => `a ${mode} key of the application ${id}`,
  'pt-BR': (mode, id) => `uma chave de ${mode === 'test' ? 'teste' : 'produção'} da aplicação ${id}`,
};

/** The operations of the contract that can be tried. */
type Operation =
  | { name: 'createSend'; code?: string; locale?: Locale }
  | { name: 'getSendStatus'; send: string }
  | { name: 'verifyCode'; send: string; code?: string };

/** Whether the contract accepts it. What it refuses would make a sample that does not work. */
const isCode = (code: string | undefined): code is string => /^\d{4,10}$/.test(code ?? '');

/** The same call in six languages, for this application and the API's public address. @param language of the person who reads them */
export function tryoutSamples(
  operation: Operation,
  application: { id: string; mode: Mode },
  { baseUrl, language }: { baseUrl: string; language: Locale },
): SampleView[] {
  const keyNote = KEY_NOTES[language](application.mode, application.id);
  const samples = samplesOf(
    operation.name,
    { ...requestOf(operation), needsKey: true, isCreation: operation.name === 'createSend' },
    { baseUrl, keyNote },
  );
  return samples.map(({ label, code }) => ({ label, code }));
}

function requestOf(operation: Operation): {
  method: string;
  path: string;
  body: Record<string, string> | null;
} {
  switch (operation.name) {
    case 'createSend': {
      const { code, locale } = operation;
      const body = { to: EXAMPLE_RECIPIENT, ...(isCode(code) && { code }), ...(locale && { locale }) };
      return { method: 'POST', path: '/v1/send', body };
    }
    case 'getSendStatus':
      return { method: 'GET', path: `/v1/send/${operation.send}/status`, body: null };
    case 'verifyCode': {
      const body = { code: isCode(operation.code) ? operation.code : EXAMPLE_CODE };
      return { method: 'POST', path: `/v1/send/${operation.send}/verify`, body };
    }
  }
}
