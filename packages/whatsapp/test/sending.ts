import type { Outcome } from '@onecode/domain';
import { createCloudApi } from '../src/client.js';
import { type AuthenticationMessage } from '../src/index.js';
import { startProvider } from './provider.js';

export const SENDER = { phoneNumberId: '106540352242922', token: 'leaked-token' };
export const MESSAGE: AuthenticationMessage = {
  to: '+5511987654321',
  code: '042913',
  template: 'verification_code',
  language: 'pt_BR',
  attemptId: '0190a6f2-5c1d-7b3e-9f00-1234567890ab',
  identityHash: null,
};
export const ACCEPTED = { messages: [{ id: 'wamid.ABC=' }] };

/** One send to a provider that answers so. */
export async function sendTo(
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Outcome> {
  const provider = await startProvider((response) => {
    response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  return send(provider.baseUrl);
}

/** One send to this address. */
export function send(baseUrl: string, timeoutMs = 5_000, message = MESSAGE): Promise<Outcome> {
  return createCloudApi({ baseUrl, timeoutMs }).sendCode(SENDER, message);
}
