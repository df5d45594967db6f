import { readApiConfig } from '../src/config.js';
import { apiVariables } from './testApi.js';

const VARIABLES = {
  DATABASE_URL: 'postgres://127.0.0.1:1/none',
  REDIS_URL: 'redis://127.0.0.1:1',
  QUEUE_PREFIX: 'test',
};

const read = (secrets: string): string[] =>
  readApiConfig({ ...apiVariables({ variables: VARIABLES }), WHATSAPP_APP_SECRET: secrets })
    .WHATSAPP_APP_SECRET;

describe('WHATSAPP_APP_SECRET', () => {
  it('is one secret, or several while it is rotated', () => {
    expect(read('one')).toEqual(['one']);
    expect(read('new, old')).toEqual(['new', 'old']);
  });

  it.each(['leaked,', ',leaked', 'leaked,,old', ' , '])(
    'holds no empty secret, which anybody could sign with: %j',
    (secrets) => {
      expect(() => read(secrets)).toThrow('WHATSAPP_APP_SECRET must be one secret or several');
      expect(() => read(secrets)).not.toThrow('leaked');
    },
  );
});
