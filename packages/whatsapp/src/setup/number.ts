import { setTimeout as wait } from 'node:timers/promises';
import { canonicalNumber, THROUGHPUT_ON_BUSINESS_APP } from '@onecode/domain';
import { readList, type GraphCall } from '../graphCalls.js';
import { elements, isMetaId, members, storableText } from '../json.js';
import type { FoundNumber, SetupOptions } from './options.js';
import { adviceOn, numbersPage, refused, step, type Advice, type SetupStep } from './steps.js';

const NUMBER_FIELDS = 'id,display_phone_number,verified_name,quality_rating,status,throughput,is_on_biz_app';
/** Messages a second by Meta's level. Source: Meta, "Throughput". */
const THROUGHPUT_HIGH = 1_000;
const THROUGHPUT_STANDARD = 80;

/** Returns the numbers of the business account, or the step that failed. */
export async function readNumbers(
  call: GraphCall,
  { token, businessAccountId }: Pick<SetupOptions, 'token' | 'businessAccountId'>,
): Promise<{ numbers: FoundNumber[] } | { step: SetupStep }> {
  const read = await readList(call, token, `${businessAccountId}/phone_numbers`, { fields: NUMBER_FIELDS });
  if ('failure' in read) return { step: refused('number', 'The numbers could not be read.', read) };
  const numbers = read.items.flatMap(numberOf);
  if (numbers.length > 0) return { numbers };
  const detail = 'The business account has no number. Add one in WhatsApp Manager, and verify it there.';
  return { step: step('number', 'needs_you', detail, 'no_number', numbersPage(businessAccountId)) };
}

/** Returns the wanted number of the business account, or its only number. */
export async function findNumber(
  call: GraphCall,
  options: SetupOptions,
): Promise<{ step: SetupStep; number: FoundNumber | null }> {
  const read = await readNumbers(call, options);
  if ('step' in read) return { step: read.step, number: null };
  const { numbers } = read;
  const { businessAccountId, number: wanted } = options;
  const link = numbersPage(businessAccountId);
  const list = numbers.map(({ text }) => text).join('; ');
  const needsYou = (detail: string) => ({
    step: step('number', 'needs_you', detail, null, link),
    number: null,
  });
  if (wanted === null && numbers.length > 1)
    return needsYou(`The business account has several numbers: choose one. ${list}.`);
  const chosen =
    wanted === null
      ? numbers[0]
      : numbers.find(({ number }) => canonicalNumber(number) === canonicalNumber(wanted));
  if (chosen === undefined) return needsYou(`The business account has no number ${wanted}. It has: ${list}.`);
  return { step: step('number', 'already', `${chosen.text}.`), number: chosen };
}

function numberOf(node: Record<string, unknown>): FoundNumber[] {
  const { id, display_phone_number: display, verified_name: name, status, quality_rating: quality } = node;
  const number = typeof display === 'string' ? `+${display.replaceAll(/\D/g, '')}` : '';
  if (!isMetaId(id) || number.length < 8) return [];
  const words = [name, status, quality].filter((word) => typeof word === 'string' && word !== '');
  return [
    {
      phoneNumberId: id,
      number,
      verifiedName: typeof name === 'string' ? storableText(name) : '',
      status: typeof status === 'string' ? status : '',
      throughput: throughputOf(node),
      text: storableText([number, ...words].join(', ')),
    },
  ];
}

/** Returns the messages a second that Meta accepts. `NOT_APPLICABLE` is also the level of a number that is not registered yet. */
function throughputOf({
  throughput,
  status,
  is_on_biz_app: isOnBusinessApp,
}: Record<string, unknown>): number {
  const { level } = members(throughput);
  if (isOnBusinessApp === true) return THROUGHPUT_ON_BUSINESS_APP;
  if (level === 'NOT_APPLICABLE' && status === 'CONNECTED' && isOnBusinessApp !== false)
    return THROUGHPUT_ON_BUSINESS_APP;
  return level === 'HIGH' ? THROUGHPUT_HIGH : THROUGHPUT_STANDARD;
}

const PIN_TRIES: Advice = {
  status: 'waiting',
  advice: 'The PIN was wrong too often. Wait for the time that Meta requires, then run the setup again.',
  text: 'pin_tries',
};
/** The advice for a refused registration, by Meta's code. Source: Meta, "Error codes", registration. */
const REGISTRATION_ADVICE: Readonly<Record<number, Advice>> = {
  133005: {
    status: 'needs_you',
    advice: 'The PIN is wrong. Use the two-step PIN of the number, or reset it in WhatsApp Manager.',
    text: 'wrong_pin',
  },
  133006: {
    status: 'needs_you',
    advice: 'Verify the number in WhatsApp Manager with a code by SMS or voice, then run the setup again.',
    text: 'number_unverified',
  },
  133008: PIN_TRIES,
  133009: PIN_TRIES,
  133016: {
    status: 'waiting',
    advice:
      'The number was registered too often. Meta allows it again after up to 72 hours; then run the setup again.',
    text: 'registered_too_often',
  },
};

const isConnected = (status: unknown): boolean => status === 'CONNECTED' || status === 'LINKED';

/** Registers the number for the Cloud API. */
export async function register(
  call: GraphCall,
  { token, businessAccountId, pin, isDryRun, isKnown }: SetupOptions,
  { phoneNumberId, status }: FoundNumber,
): Promise<SetupStep> {
  const name = 'registration';
  const link = numbersPage(businessAccountId);
  // Meta limits registrations to ten in 72 hours, and shows numbers as connected that were never registered.
  if (isConnected(status) && (await isKnown(phoneNumberId)))
    return step(name, 'already', 'The number is connected, so it is not registered again.', 'connected');
  if (pin === null)
    return step(
      name,
      'needs_you',
      'The PIN is missing: the two-step PIN of the number, or six digits of your choice if it has none.',
      'pin_missing',
    );
  if (isDryRun) return step(name, 'waiting', 'Would register the number with the PIN.', 'would_register');
  const result = await call(token, `${phoneNumberId}/register`, {
    body: { messaging_product: 'whatsapp', pin },
  });
  if ('value' in result)
    return step(name, 'done', 'The number is registered. Keep its two-step PIN.', 'registered');
  const advice = REGISTRATION_ADVICE[result.code ?? 0];
  if (advice === undefined && result.code === 100 && /already registered/i.test(result.message ?? ''))
    return step(name, 'already', 'Meta reports that the number is already registered.', 'registered_before');
  return refused(
    name,
    'The number could not be registered.',
    result,
    advice === undefined ? adviceOn(result) : { ...advice, link },
  );
}

/** How long Meta may take to show a registered number as connected. */
const CONNECTED_READS = 10;
const CONNECTED_PAUSE_MS = 1_000;

/** Returns the step that shows whether Meta allows the number, its business account and its business to send, and what Meta requires. */
export async function readHealth(
  call: GraphCall,
  { token, businessAccountId, isDryRun }: SetupOptions,
  { phoneNumberId }: FoundNumber,
): Promise<SetupStep> {
  const name = 'health';
  let value: Record<string, unknown> = {};
  for (let read = 0; read < (isDryRun ? 1 : CONNECTED_READS); read++) {
    if (read > 0) await wait(CONNECTED_PAUSE_MS);
    const result = await call(token, phoneNumberId, { query: { fields: 'status,health_status' } });
    if ('failure' in result) return refused(name, 'The state of the number could not be read.', result);
    ({ value } = result);
    if (value['status'] === undefined || isConnected(value['status'])) break;
  }
  const { status, health_status: health } = value;
  const link = numbersPage(businessAccountId);
  const problems = elements(members(health)['entities']).map(members).flatMap(problemOf);
  if (problems.length > 0) {
    const isBlocked = problems.some(({ isBlocking }) => isBlocking);
    const detail = problems.map(({ text }) => text).join(' ');
    return step(name, isBlocked ? 'needs_you' : 'already', detail, null, link);
  }
  if (status !== undefined && !isConnected(status))
    return step(
      name,
      'needs_you',
      `Meta shows the number as ${typeof status === 'string' ? storableText(status) : 'not connected'}.`,
      null,
      link,
    );
  return step(name, 'already', 'Meta allows the number to send.', 'can_send');
}

const ENTITIES: Readonly<Record<string, string>> = {
  PHONE_NUMBER: 'number',
  WABA: 'business account',
  BUSINESS: 'business',
  APP: 'app',
};

function problemOf(entity: Record<string, unknown>): { isBlocking: boolean; text: string }[] {
  const { entity_type: type, can_send_message: can, errors, additional_info: info } = entity;
  if (can !== 'BLOCKED' && can !== 'LIMITED') return [];
  const why = [
    ...elements(errors)
      .map(members)
      .flatMap(({ error_description: text, possible_solution: todo }) => [text, todo]),
    ...elements(info),
  ].filter((text) => typeof text === 'string' && text !== '');
  const what = ENTITIES[String(type)] ?? 'sender';
  const sentence =
    can === 'BLOCKED' ? `Meta does not allow the ${what} to send` : `Meta limits what the ${what} sends`;
  return [
    {
      isBlocking: can === 'BLOCKED',
      text: storableText(`${sentence}: ${why.join(' ') || 'no reason given'}`),
    },
  ];
}
