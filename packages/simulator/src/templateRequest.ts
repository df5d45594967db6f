import { graphError, isRefusal, metaError, type MetaError } from './answers.js';
import type { TemplateProfile } from './businessStates.js';
import { isObject } from './input.js';

/** The parts that the simulator uses of a request that Meta would accept. */
export interface TemplateRequest {
  /** E.164 with `+`. */
  to: string;
  /** As in the request; the answer repeats it in `contacts[].input`. */
  input: string;
  template: string;
  language: string;
  code: string;
  /** The code's validity in the template's footer; `null` without one. */
  expirationMinutes: number | null;
  opaque: string | null;
  /** The intended recipient's identity hash; `null` for no check. */
  identityKeyHash: string | null;
  /** Meta's category of the template, in lower case as in receipts. */
  category: string;
}

/** Returns the sender's template with this name and language, `null` when its business account has none. */
export type FindTemplate = (name: string, language: string) => TemplateProfile | null;

const CODE_LENGTH_MAX = 15;
const OPAQUE_LENGTH_MAX = 512;

/**
 * Checks a parsed body as the Cloud API documents it for an authentication template with a copy-code button: the code in the body, and
 * again in the URL button with index 0. Any other message is refused as a wrong parameter.
 * Source: https://developers.facebook.com/documentation/business-messaging/whatsapp/templates/authentication-templates/copy-code-button-authentication-templates
 */
export function readTemplateRequest(body: unknown, find: FindTemplate): TemplateRequest | MetaError {
  const request = members(body);
  const {
    to,
    biz_opaque_callback_data: opaque = null,
    recipient_identity_key_hash: identity = null,
  } = request;
  const { name, language, components } = members(request['template']);
  const { code: languageCode } = members(language);
  if (request['messaging_product'] !== 'whatsapp') return wrongParameter('messaging_product', 'WHATSAPP');
  if ((request['recipient_type'] ?? 'individual') !== 'individual')
    return wrongParameter('recipient_type', 'INDIVIDUAL');
  if (typeof to !== 'string') return wrongParameter('to', 'a string');
  if (!/^\+?[1-9]\d{6,14}$/.test(to))
    return metaError(131009, { details: 'Param to is not a valid phone number.' });
  if (request['type'] !== 'template') return wrongParameter('type', 'TEMPLATE');
  if (typeof name !== 'string') return wrongParameter("template['name']", 'a string');
  if (typeof languageCode !== 'string') return wrongParameter("template['language']['code']", 'a string');
  if (opaque !== null && (typeof opaque !== 'string' || [...opaque].length > OPAQUE_LENGTH_MAX))
    return wrongParameter('biz_opaque_callback_data', `a string of at most ${OPAQUE_LENGTH_MAX} characters`);
  if (identity !== null && typeof identity !== 'string')
    return wrongParameter('recipient_identity_key_hash', 'a string');
  const template = find(name, languageCode);
  if (template?.status !== 'APPROVED')
    return metaError(
      template?.status === 'PAUSED' ? 132015 : template?.status === 'DISABLED' ? 132016 : 132001,
      {
        details: `template name (${name.slice(0, 512)}) cannot be used in ${languageCode.slice(0, 20)}`,
      },
    );
  const code = readComponents(components);
  if (typeof code !== 'string') return code;
  return {
    to: `+${to.replace(/^\+/, '')}`,
    input: to,
    template: name,
    language: languageCode,
    code,
    expirationMinutes: template.codeExpirationMinutes,
    opaque,
    identityKeyHash: identity,
    category: template.category.toLowerCase(),
  };
}

/** Returns the code in the components: the only text of the body, repeated in the button. */
function readComponents(value: unknown): string | MetaError {
  const components = elements(value).map(members);
  const button = components.find(({ type }) => type === 'button');
  const code = onlyText(
    components.find(({ type }) => type === 'body'),
    'body',
  );
  if (isRefusal(code)) return code;
  if (components.length > 2) return metaError(132000, { details: 'more components than the template has' });
  if (!button)
    return metaError(131008, { details: 'buttons: Button at index 0 of type Url requires a parameter' });
  // Meta's samples have the index as a string, and its older samples as a number.
  if (button['sub_type'] !== 'url' || String(button['index']) !== '0')
    return metaError(132018, { details: 'buttons: Button at index 0 must be of type Url' });
  const again = onlyText(button, 'buttons');
  if (isRefusal(again) || again === code) return again;
  return metaError(132018, { details: 'buttons: the parameter must equal the code in the body' });
}

/** Returns the single text parameter of a component, checked against the limits of authentication templates. */
function onlyText(component: Json | undefined, where: 'body' | 'buttons'): string | MetaError {
  const parameters = elements(component?.['parameters']);
  if (parameters.length !== 1)
    return metaError(132000, {
      details: `${where}: number of localizable_params (${parameters.length}) does not match the expected number of params (1)`,
    });
  const { type, text } = members(parameters[0]);
  if (type !== 'text') return metaError(132012, { details: `${where}: expected a parameter of type text` });
  if (typeof text !== 'string' || text === '')
    return metaError(131008, { details: 'Parameter of type text is missing text value' });
  if ([...text].length > CODE_LENGTH_MAX)
    return metaError(132005, { details: `${where}: the code is longer than ${CODE_LENGTH_MAX} characters` });
  if (/[\n\r\t]| {5,}/.test(text))
    return metaError(132018, { details: 'Param text cannot have new-line/tab characters or many spaces' });
  return text;
}

/** The Graph layer names the parameter only in the message. */
const wrongParameter = (name: string, wanted: string): MetaError =>
  graphError(400, 100, `(#100) The parameter ${name} is required and must be ${wanted}.`);

type Json = Record<string, unknown>;
const members = (value: unknown): Json => (isObject(value) ? value : {});
const elements = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
