import { describeWithReference, reference } from '@onecode/testing';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import { parse as parseYaml } from 'yaml';
import { messageBody } from '../src/index.js';
import { closeProviders, MESSAGE, sendTo } from './provider.js';

// This is a CommonJS module: its function is the `default` of the default export.
const addFormats = addFormatsModule as unknown as typeof addFormatsModule.default;

interface Body {
  template: { components: unknown[] };
}

describe('messageBody', () => {
  it('contains the identity hash if there is one', () => {
    expect(messageBody({ ...MESSAGE, identityHash: 'DF2lS5v2W6x=' })).toEqual({
      ...messageBody(MESSAGE),
      recipient_identity_key_hash: 'DF2lS5v2W6x=',
    });
    expect(messageBody(MESSAGE)).not.toHaveProperty('recipient_identity_key_hash');
  });

  it('returns the documented body, with the code twice and the attempt as opaque data', () => {
    expect(messageBody(MESSAGE)).toEqual({
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      to: '+5511987654321',
      type: 'template',
      template: {
        name: 'verification_code',
        language: { code: 'pt_BR' },
        components: [
          { type: 'body', parameters: [{ type: 'text', text: '042913' }] },
          { type: 'button', sub_type: 'url', index: '0', parameters: [{ type: 'text', text: '042913' }] },
        ],
      },
      biz_opaque_callback_data: '0190a6f2-5c1d-7b3e-9f00-1234567890ab.2',
    });
  });
});

describeWithReference('sendCode, compared with the provider’s schema and samples', () => {
  const validators = reference('openapi-v23-patch.json') === '' ? null : compile();

  /** Returns the schema violations of a body: the whole body, then each component with the schema that its discriminator names. */
  function faults(body: Body): unknown[] {
    const { operation, template, bodyComponent, buttonComponent } = validators!;
    const [first, second] = body.template.components;
    const checks: Array<[ValidateFunction, unknown]> = [
      [operation, body],
      [template, body],
      [bodyComponent, first],
      [buttonComponent, second],
    ];
    return checks.flatMap(([validate, value]) => (validate(value) ? [] : [validate.errors]));
  }

  it('sends a body that the schema accepts, in every language', () => {
    for (const language of ['pt_BR', 'en', 'en_US']) {
      expect(faults(messageBody({ ...MESSAGE, language }))).toEqual([]);
    }
  });

  it('sends the body of the sample', () => {
    const sample = JSON.parse(reference('samples/send-request.pt_BR.biz-opaque.json')) as Body;
    expect(faults(sample)).toEqual([]);
    expect(faults(JSON.parse(reference('samples/send-request.copy-code.json')) as Body)).toEqual([]);
    const ours = `${MESSAGE.attempt.sendId}.2`;
    expect(messageBody(MESSAGE)).toEqual({ ...sample, biz_opaque_callback_data: ours });
  });

  it.each([
    'send-response.json',
    'send-response.message-status.json',
    'send-response.held_for_quality_assessment.json',
    'send-response.paused.json',
  ])('classifies %s as an acceptance', async (name) => {
    const text = reference(`samples/${name}`);
    expect(validators!.answer(JSON.parse(text))).toBe(true);
    expect(await sendTo(200, text)).toMatchObject({ kind: 'accepted' });
  });

  it.each<[string, number, object]>([
    ['error.100-33.json', 400, { kind: 'sender', errorCode: 100 }],
    ['error.130429.json', 400, { kind: 'retry', throttled: 'sender' }],
    ['error.131056.json', 400, { kind: 'retry', throttled: 'pair' }],
    ['error.132000.json', 400, { kind: 'config', scope: 'template' }],
    ['error.190.json', 401, { kind: 'config', scope: 'token' }],
  ])('classifies %s as its error', async (name, status, expected) => {
    expect(await sendTo(status, reference(`samples/${name}`))).toMatchObject(expected);
  });
});

afterAll(closeProviders);

/** Compiles the schemas of the document with its corrections. */
function compile() {
  const document = parseYaml(reference('business-messaging-api_v23.0.yaml'), { maxAliasCount: -1 }) as object;
  const { patch } = JSON.parse(reference('openapi-v23-patch.json')) as {
    patch: Array<{ path: string; value: unknown }>;
  };
  for (const { path, value } of patch) replace(document, path, value);
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true });
  addFormats(ajv);
  ajv.addSchema(document, 'api');
  const schema = (name: string) => ajv.compile({ $ref: `api#/components/schemas/${name}` });
  return {
    operation: schema('Message'),
    template: schema('TemplateMessage'),
    bodyComponent: schema('BodyComponent'),
    buttonComponent: schema('ButtonComponent'),
    answer: schema('MessageResponsePayload'),
  };
}

/** Applies a JSON Patch `replace`. @throws if the path does not exist, because then the correction does not fit the document */
function replace(document: object, path: string, value: unknown): void {
  const keys = path.split('/').slice(1);
  const last = keys.pop()!;
  const parent = keys.reduce(
    (node, key) => node[key] as Record<string, unknown>,
    document as Record<string, unknown>,
  );
  if (!(last in parent)) throw new Error(`The correction ${path} does not fit the document.`);
  parent[last] = value;
}
