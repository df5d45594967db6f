import {
  SENDER_THROUGHPUT,
  THROUGHPUT_ON_BUSINESS_APP,
  type CanSend,
  type NumberValues,
  type ReadPart,
  type Reported,
  type SenderReading,
  type TemplateValues,
} from '@onecode/domain';
import { readList, type CloudApiSender, type GraphCall, type GraphResult } from './client.js';
import { elements, isMetaId, members, objects, storableText, word } from './json.js';

export interface ReadSender extends CloudApiSender {
  template: string;
  businessAccountId: string | null;
}

const NUMBER_FIELDS =
  'health_status,quality_rating,throughput,status,is_on_biz_app,whatsapp_business_manager_messaging_limit';
const LISTED_NUMBER_FIELDS =
  'id,display_phone_number,verified_name,quality_rating,status,throughput,is_on_biz_app';
const TEMPLATE_FIELDS =
  'name,language,status,category,quality_score,rejected_reason,message_send_ttl_seconds,components';

/**
 * Reads Meta's data about a sender. Never throws: the result has the reasons why parts could not be read. It never contains the token.
 * Source: Meta's OpenAPI for the WhatsApp Business Platform, v23.0: the nodes of a phone number and a business account,
 * `message_templates`, `subscribed_apps`, and `debug_token`.
 */
export async function readSender(call: GraphCall, sender: ReadSender): Promise<SenderReading> {
  const failures: SenderReading['failures'] = {};
  const valueOf = <Value>(part: ReadPart, result: GraphResult<Value>): Value | undefined => {
    if ('value' in result) return result.value;
    failures[part] = result.failure;
    return undefined;
  };
  const [numberRead, tokenRead] = await Promise.all([
    call(sender.token, sender.phoneNumberId, { query: { fields: NUMBER_FIELDS } }),
    readToken(call, sender.token),
  ]);
  const node = valueOf('number', numberRead) ?? {};
  const token = valueOf('token', tokenRead);
  const businessAccountId = entityId(node, 'WABA') ?? sender.businessAccountId;
  const portfolioId = entityId(node, 'BUSINESS') ?? null;
  const number = { ...numberValues(node), token: token?.values };
  if (businessAccountId === null) {
    const failure = failures.number ?? 'The business account of the number is not known.';
    Object.assign(failures, { businessAccount: failure, subscription: failure, templates: failure });
    return { businessAccountId, portfolioId, number, businessAccount: {}, templates: null, failures };
  }
  const [accountRead, subscriptionRead, templatesRead] = await Promise.all([
    call(sender.token, businessAccountId, { query: { fields: 'business_verification_status' } }),
    isSubscribed(call, { ...sender, businessAccountId }, token?.appId ?? null),
    readTemplates(call, { ...sender, businessAccountId }),
  ]);
  const account = valueOf('businessAccount', accountRead) ?? {};
  const businessAccount = {
    verification: word(account['business_verification_status'])?.toUpperCase(),
    isSubscribed: valueOf('subscription', subscriptionRead),
  };
  const templates = valueOf('templates', templatesRead) ?? null;
  return { businessAccountId, portfolioId, number, businessAccount, templates, failures };
}

/** Meta's error code for an access token that has expired, was revoked, or never existed. */
const INVALID_TOKEN = 190;

/** Reads what Meta reports about a token, and the id of its app if Meta reports one. */
export async function readToken(
  call: GraphCall,
  token: string,
): Promise<GraphResult<{ values: NumberValues['token']; appId: string | null }>> {
  const result = await call(token, 'debug_token', { query: { input_token: token } });
  if ('failure' in result && result.code !== INVALID_TOKEN) return result;
  const data = 'value' in result ? members(result.value['data']) : {};
  const { is_valid: isValid, scopes, expires_at: expiresAt, app_id: appId } = data;
  const values = {
    isValid: isValid === true,
    scopes: elements(scopes).flatMap((scope) => word(scope) ?? []),
    expiresAt: typeof expiresAt === 'number' ? expiresAt : 0,
  };
  return { value: { values, appId: typeof appId === 'string' ? appId : null } };
}

/**
 * Returns whether Meta sends the webhooks of a business account to an app; undefined if the app is unknown and at least one app gets them.
 *
 * @param appId null if Meta does not report the app of the token
 */
export async function isSubscribed(
  call: GraphCall,
  { token, businessAccountId }: { token: string; businessAccountId: string },
  appId: string | null,
): Promise<GraphResult<boolean | undefined>> {
  const result = await call(token, `${businessAccountId}/subscribed_apps`, { query: {} });
  if ('failure' in result) return result;
  const ids = objects(result.value['data']).map((app) => members(app['whatsapp_business_api_data'])['id']);
  return { value: appId === null && ids.length > 0 ? undefined : ids.includes(appId) };
}

/** One language of a template, with Meta's id for it. */
export interface ReadTemplate {
  id: string | null;
  language: string;
  values: Reported<TemplateValues>;
  /** Whether it has a one-tap or zero-tap button, which names an app. */
  hasAppButton: boolean;
}

/** Reads all languages of a template. */
export async function readTemplates(
  call: GraphCall,
  { token, template, businessAccountId }: { token: string; template: string; businessAccountId: string },
): Promise<GraphResult<ReadTemplate[]>> {
  const query = { name: template, fields: TEMPLATE_FIELDS };
  const read = await readList(call, token, `${businessAccountId}/message_templates`, query);
  if ('failure' in read) return read;
  // Meta's search also returns templates with names that contain this one.
  return { value: read.value.filter(({ name }) => name === template).flatMap(templateOf) };
}

function templateOf(item: Record<string, unknown>): ReadTemplate[] {
  const { id, language, quality_score: quality, rejected_reason: reason } = item;
  if (typeof language !== 'string' || !/^\w{2,16}$/.test(language)) return [];
  const components = objects(item['components']);
  const buttons = components.flatMap(({ buttons }) => objects(buttons));
  const hasAppButton = buttons.some((button) => ['ONE_TAP', 'ZERO_TAP'].includes(otpTypeOf(button)));
  const validity = components.find(({ type }) => type === 'FOOTER')?.['code_expiration_minutes'];
  const status = word(item['status']);
  const hasReason = typeof reason === 'string' && reason !== '' && reason !== 'NONE';
  const values = {
    status,
    category: word(item['category']),
    quality: word(members(quality)['score'] ?? quality),
    // Reads return no reason for a paused template, so the reason from a webhook is kept until the template is approved again.
    reason: hasReason ? word(reason) : status === 'APPROVED' ? null : undefined,
    ttlSeconds: ttlSecondsOf(item['message_send_ttl_seconds']),
    codeExpirationMinutes: typeof validity === 'number' ? validity : validityOf(buttons),
    // One-tap and zero-tap templates are sent like copy-code ones: their button copies the code on phones without the app's handshake.
    hasCodeButton: hasAppButton || buttons.some((button) => otpTypeOf(button) === 'COPY_CODE'),
  };
  return [{ id: typeof id === 'string' ? id : null, language, values, hasAppButton }];
}

const THIRTY_DAYS_SECONDS = 2_592_000;

/** Returns a template's time to live; null without one. -1 is Meta's value for 30 days. */
function ttlSecondsOf(ttl: unknown): number | null {
  if (ttl === -1) return THIRTY_DAYS_SECONDS;
  return typeof ttl === 'number' && ttl > 0 ? ttl : null;
}

/** Returns the kind of a code button; empty for other buttons. Older templates have a link with the kind in its query. */
function otpTypeOf({ type, otp_type: otpType, url }: Record<string, unknown>): string {
  if (type === 'COPY_CODE') return type;
  if (type === 'OTP') return typeof otpType === 'string' ? otpType : '';
  return (typeof url === 'string' && /[?&]otp_type=(\w+)/.exec(url)?.[1]) || '';
}

/** Returns the validity in minutes from the link of an older template. Its footer does not contain it. */
function validityOf(buttons: readonly Record<string, unknown>[]): number | null {
  const links = buttons.map(({ url }) => (typeof url === 'string' ? url : '')).join(' ');
  const minutes = /[?&]code_expiration_minutes=([0-9]{1,3})\b/.exec(links)?.[1];
  return minutes === undefined ? null : Number(minutes);
}

function numberValues(node: Record<string, unknown>): Reported<NumberValues> {
  const { throughput, is_on_biz_app: isOnBusinessApp } = node;
  return {
    quality: word(node['quality_rating']),
    status: word(node['status']),
    messagingLimit: word(node['whatsapp_business_manager_messaging_limit']),
    throughputLevel: word(members(throughput)['level']),
    isOnBusinessApp: typeof isOnBusinessApp === 'boolean' ? isOnBusinessApp : undefined,
    canSend: canSendOf(node),
  };
}

/** A number of a business account. Texts that Meta does not report are empty. */
export interface FoundNumber {
  phoneNumberId: string;
  /** E.164. */
  number: string;
  /** The name that recipients see. */
  verifiedName: string;
  status: string;
  quality: string;
  /** Messages a second that Meta accepts from it. */
  throughput: number;
}

/** Reads the numbers of a business account. */
export async function readNumbers(
  call: GraphCall,
  { token, businessAccountId }: { token: string; businessAccountId: string },
): Promise<GraphResult<FoundNumber[]>> {
  const query = { fields: LISTED_NUMBER_FIELDS };
  const read = await readList(call, token, `${businessAccountId}/phone_numbers`, query);
  return 'failure' in read ? read : { value: read.value.flatMap(numberOf) };
}

function numberOf(node: Record<string, unknown>): FoundNumber[] {
  const { id, display_phone_number: display } = node;
  const number = typeof display === 'string' ? `+${display.replaceAll(/\D/g, '')}` : '';
  if (!isMetaId(id) || number.length < 8) return [];
  const { status = '', quality = '', throughputLevel, isOnBusinessApp } = numberValues(node);
  const throughput = throughputLevel === 'HIGH' ? SENDER_THROUGHPUT.max : SENDER_THROUGHPUT.initial;
  return [
    {
      phoneNumberId: id,
      number,
      verifiedName: word(node['verified_name']) ?? '',
      status,
      quality,
      throughput: isOnBusinessApp ? THROUGHPUT_ON_BUSINESS_APP : throughput,
    },
  ];
}

/** Returns the parts of a number's health status: the number, its business account, portfolio and app. */
const healthOf = ({ health_status: health }: Record<string, unknown>) => objects(members(health)['entities']);

/** Returns the id of the business account (`WABA`) or the portfolio (`BUSINESS`) of a number; undefined if it is missing or malformed. */
function entityId(node: Record<string, unknown>, part: 'WABA' | 'BUSINESS'): string | undefined {
  const { id } = healthOf(node).find(({ entity_type: type }) => type === part) ?? {};
  return isMetaId(id) ? id : undefined;
}

const WORST_FIRST: readonly CanSend[] = ['BLOCKED', 'LIMITED', 'AVAILABLE'];

/** Returns whether Meta lets all parts of a number send, and Meta's reasons and advice if a part may not, or only with restrictions. */
function canSendOf(node: Record<string, unknown>): NumberValues['canSend'] | undefined {
  const inState = (state: CanSend) => healthOf(node).filter(({ can_send_message: can }) => can === state);
  const can = WORST_FIRST.find((state) => inState(state).length > 0);
  if (can === undefined) return undefined;
  const advice = inState(can).flatMap(({ errors, additional_info: info }) => [
    ...objects(errors).flatMap(({ error_description: text, possible_solution: solution }) => [
      text,
      solution,
    ]),
    ...elements(info),
  ]);
  const why = advice.filter((text) => typeof text === 'string' && text !== '');
  return { can, why: why.length === 0 ? null : storableText(why.join(' ')) };
}
