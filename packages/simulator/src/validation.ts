import { graphError, metaError, type MetaError } from './errors.js';
import { isObject } from './input.js';
import type { TemplateProfile } from './templates.js';

/** A request that Meta would accept, in the parts that matter here. */
export interface TemplateRequest {
  /** E.164 with `+`. */
  to: string;
  /** As the request wrote it: the answer repeats it in `contacts[].input`. */
  input: string;
  template: string;
  language: string;
  code: string;
  opaque: string | null;
  /** The person that the sender means; `null` asks for no check. */
  identityKeyHash: string | null;
  /** Meta's category of the template, in lower case as receipts tell it. */
  category: string;
}

/** The sender's template of this name and language, `null` when its business account has none. */
export type FindTemplate = (
  name: string,
  language: string,
) => Pick<TemplateProfile, 'status' | 'category'> | null;

type Json = Record<string, unknown>;

/** Thrown inside this file only; `readTemplateRequest` turns it into its result. */
class Refusal extends Error {
  constructor(readonly answer: MetaError) {
    super('refused');
  }
}

const refuse = (code: number, parts: Parameters<typeof metaError>[1]): never => {
  throw new Refusal(metaError(code, parts));
};
/** The Graph layer names the parameter in the message itself, and repeats it nowhere. */
const refuseParameter = (message: string): never => {
  throw new Refusal(graphError(400, 100, `(#100) ${message}`));
};

const CODE_LENGTH_MAX = 15;
const OPAQUE_LENGTH_MAX = 512;
const OTHER_TYPES = [
  'audio',
  'contacts',
  'document',
  'image',
  'interactive',
  'location',
  'reaction',
  'sticker',
  'text',
  'video',
];

/**
 * Judges a parsed body as the Cloud API documents it for an authentication template with a copy-code button: the code once
 * in the body, once more in the URL button with index 0.
 * Source: https://developers.facebook.com/documentation/business-messaging/whatsapp/templates/authentication-templates/copy-code-button-authentication-templates
 */
export function readTemplateRequest(body: unknown, find: FindTemplate): TemplateRequest | MetaError {
  try {
    return read(body, find);
  } catch (error) {
    if (error instanceof Refusal) return error.answer;
    throw error;
  }
}

function read(body: unknown, find: FindTemplate): TemplateRequest {
  if (!isObject(body)) return refuseParameter('The parameter messaging_product is required.');
  oneOf(required(body, 'messaging_product'), 'messaging_product', ['whatsapp']);
  if (body['recipient_type'] !== undefined) oneOf(body['recipient_type'], 'recipient_type', ['individual']);
  const input = readRecipient(body);
  readType(body);
  const opaque = readOpaque(body['biz_opaque_callback_data']);
  const identityKeyHash = readIdentityKeyHash(body['recipient_identity_key_hash']);

  const template = required(body, 'template');
  if (!isObject(template)) return refuseParameter('Param template must be a JSON object');
  onlyKeys(template, 'template', ['name', 'language', 'components', 'namespace']);
  const name = string(required(template, 'name', 'template'), "template['name']");
  const language = readLanguage(template);
  const { category } = requireApproved(name, language, find(name, language));
  const code = readComponents(template['components'] ?? []);
  return {
    to: `+${input.replace(/^\+/, '')}`,
    input,
    template: name,
    language,
    code,
    opaque,
    identityKeyHash,
    category: category.toLowerCase(),
  };
}

function readRecipient(body: Json): string {
  const to = string(required(body, 'to'), 'to');
  if (!/^\+?[1-9]\d{6,14}$/.test(to)) refuse(131009, { details: 'Param to is not a valid phone number.' });
  return to;
}

function readType(body: Json): void {
  const type = required(body, 'type');
  if (typeof type === 'string' && OTHER_TYPES.includes(type)) refuse(131047, {});
  oneOf(type, 'type', ['template', ...OTHER_TYPES]);
}

function readOpaque(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  const opaque = string(value, 'biz_opaque_callback_data');
  if ([...opaque].length > OPAQUE_LENGTH_MAX)
    refuseParameter(`Param biz_opaque_callback_data must be at most ${OPAQUE_LENGTH_MAX} characters long.`);
  return opaque;
}

function readIdentityKeyHash(value: unknown): string | null {
  return value === undefined || value === null ? null : string(value, 'recipient_identity_key_hash');
}

function readLanguage(template: Json): string {
  const language = required(template, 'language', 'template');
  if (!isObject(language)) return refuseParameter("Param template['language'] must be a JSON object");
  onlyKeys(language, "template['language']", ['code', 'policy']);
  if (language['policy'] !== undefined)
    oneOf(language['policy'], "template['language']['policy']", ['deterministic']);
  return string(required(language, 'code', "template['language']"), "template['language']['code']");
}

function requireApproved<T extends Pick<TemplateProfile, 'status'>>(
  name: string,
  language: string,
  template: T | null,
): T {
  const what = `template name (${name.slice(0, 512)})`;
  if (template?.status === 'PAUSED')
    refuse(132015, { details: `${what} is paused in ${language} for low quality` });
  if (template?.status === 'DISABLED')
    refuse(132016, { details: `${what} is disabled in ${language} for low quality` });
  if (template?.status !== 'APPROVED')
    return refuse(132001, { details: `${what} does not exist in ${language.slice(0, 20)}` });
  return template;
}

function readComponents(value: unknown): string {
  if (!Array.isArray(value)) return refuseParameter("Param template['components'] must be an array.");
  const components = value.map((component: unknown, at) =>
    readComponent(component, `template['components'][${at}]`),
  );
  const body = components.find(({ type }) => type === 'body');
  const button = components.find(({ type }) => type === 'button');
  if (components.some(({ type }) => type === 'header'))
    refuse(132018, { details: 'header: the template has no header with parameters' });
  const code = onlyText(body?.parameters ?? [], 'body');
  if (components.length > 2) refuse(132000, { details: 'more components than the template has' });
  if (!button || button.parameters.length === 0)
    return refuse(131008, { details: 'buttons: Button at index 0 of type Url requires a parameter' });
  if (button.subType !== 'url') refuse(132018, { message: 'Button at index 0 must be of type Url' });
  if (button.index !== '0')
    refuse(132018, { details: `buttons: Button at index ${button.index} does not exist in the template` });
  if (onlyText(button.parameters, 'buttons') !== code)
    refuse(132018, {
      details: 'buttons: the parameter of the copy code button must equal the code in the body',
    });
  return code;
}

interface Component {
  type: string;
  subType: string;
  index: string;
  parameters: unknown[];
}

function readComponent(value: unknown, path: string): Component {
  if (!isObject(value)) return refuseParameter(`Param ${path} must be a JSON object`);
  onlyKeys(value, path, ['type', 'sub_type', 'index', 'parameters']);
  const type = oneOf(required(value, 'type', path), `${path}['type']`, ['body', 'button', 'header']);
  const parameters = value['parameters'] ?? [];
  if (!Array.isArray(parameters)) return refuseParameter(`Param ${path}['parameters'] must be an array.`);
  if (type !== 'button') return { type, subType: '', index: '', parameters };
  const subType = oneOf(required(value, 'sub_type', path), `${path}['sub_type']`, [
    'catalog',
    'copy_code',
    'flow',
    'quick_reply',
    'url',
  ]);
  // Meta's own samples write the index as a string, and its older ones as a number.
  const index = required(value, 'index', path);
  if (typeof index !== 'string' && typeof index !== 'number')
    return refuseParameter(`Param ${path}['index'] must be a string.`);
  return { type, subType, index: String(index), parameters };
}

/** The single text parameter of the body or of the button, within what an authentication template takes. */
function onlyText(parameters: unknown[], where: 'body' | 'buttons'): string {
  if (parameters.length !== 1)
    refuse(132000, {
      details: `${where}: number of localizable_params (${parameters.length}) does not match the expected number of params (1)`,
    });
  const parameter = parameters[0];
  if (!isObject(parameter)) return refuseParameter(`Param ${where} parameters must hold JSON objects`);
  onlyKeys(parameter, `${where} parameter`, ['type', 'text', 'parameter_name']);
  if (parameter['type'] !== 'text')
    refuse(132012, { details: `${where}: parameter format mismatch, expected type text` });
  const text = parameter['text'];
  if (typeof text !== 'string' || text === '')
    return refuse(131008, { details: 'Parameter of type text is missing text value' });
  if ([...text].length > CODE_LENGTH_MAX)
    refuse(132005, { details: `${where}: the code is longer than ${CODE_LENGTH_MAX} characters` });
  if (/[\n\r\t]| {5,}/.test(text))
    refuse(132018, {
      details: 'Param text cannot have new-line/tab characters or more than 4 consecutive spaces',
    });
  return text;
}

function required(object: Json, key: string, parent?: string): unknown {
  const value = object[key];
  if (value === undefined || value === null || value === '')
    refuseParameter(`The parameter ${parent === undefined ? key : `${parent}['${key}']`} is required.`);
  return value;
}

function string(value: unknown, path: string): string {
  return typeof value === 'string' ? value : refuseParameter(`Param ${path} must be a string.`);
}

function oneOf(value: unknown, path: string, allowed: readonly string[]): string {
  const found = typeof value === 'string' ? value.toLowerCase() : '';
  if (allowed.includes(found)) return found;
  return refuseParameter(`Param ${path} must be one of {${allowed.join(', ').toUpperCase()}}.`);
}

function onlyKeys(object: Json, path: string, allowed: readonly string[]): void {
  for (const key of Object.keys(object))
    if (!allowed.includes(key)) refuseParameter(`Unexpected key "${key.slice(0, 50)}" on param "${path}".`);
}
