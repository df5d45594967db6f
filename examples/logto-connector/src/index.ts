import { createHmac } from 'node:crypto';
import {
  ConnectorConfigFormItemType,
  ConnectorError,
  ConnectorErrorCodes,
  ConnectorType,
  validateConfig,
  type ConnectorMetadata,
  type CreateConnector,
  type GetConnectorConfig,
  type SendMessageFunction,
  type SmsConnector,
} from '@logto/connector-kit';
import { ConnectionError, Onecode, OnecodeError, ProblemError } from '@onecode/client';
import { z } from 'zod';

/** Logto's codes are valid for ten minutes. */
const CODE_VALIDITY_MS = 600_000;

const metadata: ConnectorMetadata = {
  id: 'onecode',
  target: 'onecode',
  platform: null,
  name: { en: 'Onecode', 'pt-BR': 'Onecode' },
  description: {
    en: 'Sends codes over WhatsApp.',
    'pt-BR': 'Envia códigos pelo WhatsApp.',
  },
  logo: './logo.svg',
  logoDark: null,
  readme: './README.md',
  formItems: [
    {
      key: 'baseUrl',
      label: 'Address',
      type: ConnectorConfigFormItemType.Text,
      required: true,
      placeholder: 'https://api.example.com',
    },
    {
      key: 'apiKey',
      label: 'API key',
      type: ConnectorConfigFormItemType.Text,
      required: true,
      isConfidential: true,
      placeholder: 'ak_live_…',
    },
  ],
};

const configGuard = z.object({
  baseUrl: z.string().url(),
  apiKey: z.string().startsWith('ak_'),
});

const sendMessage =
  (getConfig: GetConnectorConfig): SendMessageFunction =>
  async ({ to, type, payload: { code, locale } }, inputConfig) => {
    const config = inputConfig ?? (await getConfig(metadata.id));
    validateConfig(config, configGuard);
    if (code === undefined)
      throw new ConnectorError(
        ConnectorErrorCodes.InsufficientRequestParameters,
        'Onecode delivers codes only.',
      );
    try {
      // A user is waiting: two tries of four seconds, then an error message.
      const onecode = new Onecode({
        ...config,
        timeoutMs: 4_000,
        maxRetries: 1,
        deadlineMs: 9_000,
      });
      // Logto stores numbers without a plus.
      const phone = to.startsWith('+') ? to : `+${to}`;
      const message = { to: phone, code, locale: languageOf(locale) };
      const idempotencyKey = keyOf(config.apiKey, type, message);
      const { id } = await onecode.send(message, { idempotencyKey });
      return { id };
    } catch (error) {
      throw connectorErrorOf(error);
    }
  };

/** Returns the language of the message; undefined uses the language of the account. */
function languageOf(locale = ''): 'pt-BR' | 'en' | undefined {
  if (/^pt(?![a-z])/i.test(locale)) return 'pt-BR';
  return /^en(?![a-z])/i.test(locale) ? 'en' : undefined;
}

/** Returns the same key for the same message while its code is valid. It is an HMAC, because a plain hash of a code can be reversed. */
function keyOf(apiKey: string, type: string, message: object): string {
  const period = Math.floor(Date.now() / CODE_VALIDITY_MS);
  return createHmac('sha256', apiKey)
    .update(JSON.stringify([type, message, period]))
    .digest('hex');
}

function connectorErrorOf(error: unknown): ConnectorError {
  if (error instanceof ProblemError) {
    const code = ERROR_CODES.get(error.code) ?? ConnectorErrorCodes.General;
    return new ConnectorError(code, { errorDescription: error.code });
  }
  if (error instanceof OnecodeError && !(error instanceof ConnectionError))
    return new ConnectorError(ConnectorErrorCodes.InvalidConfig, {
      errorDescription: error.message,
    });
  return new ConnectorError(ConnectorErrorCodes.General, {
    errorDescription: 'Onecode did not respond.',
  });
}

const ERROR_CODES = new Map<string, ConnectorErrorCodes>([
  ['rate_limited', ConnectorErrorCodes.RateLimitExceeded],
  ['invalid_recipient', ConnectorErrorCodes.InvalidRequestParameters],
  ['channel_unavailable', ConnectorErrorCodes.InvalidRequestParameters],
  ['invalid_code', ConnectorErrorCodes.InvalidRequestParameters],
  ['missing_credentials', ConnectorErrorCodes.InvalidConfig],
  ['invalid_api_key', ConnectorErrorCodes.InvalidConfig],
]);

const createOnecodeConnector: CreateConnector<SmsConnector> = async ({ getConfig }) => ({
  metadata,
  type: ConnectorType.Sms,
  configGuard,
  sendMessage: sendMessage(getConfig),
});

export default createOnecodeConnector;
