import { samplesOf } from '@onecode/code-samples';
import { TEST_CODE, type Locale, type Mode } from '@onecode/domain';
import type { TryoutView } from './view.js';

const EXAMPLE_CODE = '123456';

const KEY_COMMENTS: Readonly<Record<Locale, (mode: Mode, id: string) => string>> = {
  en: (mode, id) => `a ${mode} key of the application ${id}`,
  'pt-BR': (mode, id) => `uma chave de ${mode === 'test' ? 'teste' : 'produção'} da aplicação ${id}`,
};

/**
 * The page's calls in six languages, for this application and the API's public address.
 *
 * @param send the send that the page shows; null before the first one
 * @param recipient an example number: samples never contain the number that the user typed
 * @param language of the reader
 */
export function tryoutSamples(
  { id, mode }: { id: string; mode: Mode },
  send: string | null,
  recipient: string,
  { baseUrl, language }: { baseUrl: string; language: Locale },
): TryoutView {
  const code = mode === 'test' ? TEST_CODE : EXAMPLE_CODE;
  const calls = [
    { call: 'createSend', method: 'POST', path: '/v1/send', body: { to: recipient } },
    { call: 'getSendStatus', method: 'GET', path: `/v1/send/${send}/status`, body: null },
    { call: 'verifyCode', method: 'POST', path: `/v1/send/${send}/verify`, body: { code } },
  ] as const;
  return {
    recipient,
    samples: calls.slice(0, send === null ? 1 : calls.length).map(({ call, ...request }) => ({
      call,
      samples: samplesOf(
        call,
        { ...request, needsKey: true, isCreation: call === 'createSend' },
        { baseUrl, keyComment: KEY_COMMENTS[language](mode, id) },
      ).map(({ label, code: text }) => ({ label, code: text })),
    })),
  };
}
