import { describeWithReference, reference } from '@onecode/testing';
import { parseWebhook } from '../src/index.js';

const MESSAGE = {
  context: { from: '15550783881', id: 'wamid.OURS=' },
  from: '5511912345678',
  id: 'wamid.THEIRS=',
  timestamp: '1763629203',
  type: 'button',
  button: { payload: 'DID_NOT_REQUEST_CODE', text: "I didn't request a code" },
};
const parse = (...messages: unknown[]) =>
  parseWebhook(
    Buffer.from(
      JSON.stringify({
        object: 'whatsapp_business_account',
        entry: [{ id: '1', changes: [{ field: 'messages', value: { messages } }] }],
      }),
    ),
  );

describe('an incoming message', () => {
  it('is a denial of the message that it answers when it says DID_NOT_REQUEST_CODE', () => {
    expect(parse(MESSAGE)).toMatchObject({
      receipts: [],
      denials: [{ messageId: 'wamid.OURS=', occurredAt: new Date('2025-11-20T09:00:03Z') }],
    });
  });

  it.each<[string, unknown]>([
    ['another button', { ...MESSAGE, button: { payload: 'STOP', text: 'DID_NOT_REQUEST_CODE' } }],
    ['a text', { ...MESSAGE, type: 'text', text: { body: 'DID_NOT_REQUEST_CODE' } }],
    ['no context', { ...MESSAGE, context: undefined }],
    ['a context without an id', { ...MESSAGE, context: { from: '15550783881' } }],
    ['an impossible id', { ...MESSAGE, context: { id: 'wamid.\u0000' } }],
    ['a button that is none', { ...MESSAGE, button: 'DID_NOT_REQUEST_CODE' }],
    ['nothing at all', null],
  ])('is none with %s', (_, message) => {
    expect(parse(message)).toMatchObject({ receipts: [], denials: [] });
  });
});

describeWithReference('the provider’s own sample', () => {
  it('is a denial', () => {
    const sample = reference('samples/webhook.button.did-not-request-code.json');
    expect(parseWebhook(Buffer.from(sample)).denials).toEqual([
      {
        messageId: 'wamid.HBgLMTIxMTU1NTE0NTYVAgARGBJDMDEyMTFDNTE5NkFCOUU3QTEA',
        occurredAt: new Date(1753919111000),
      },
    ]);
  });
});
