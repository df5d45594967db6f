import { setTimeout as wait } from 'node:timers/promises';
import { canonicalNumber, THROUGHPUT_ON_BUSINESS_APP } from '@onecode/domain';
import { readList, type GraphCall, type GraphResult } from '../client.js';
import { canSendOf } from '../graph.js';
import { isMetaId, members, storableText, word } from '../json.js';
import {
  englishStep,
  numbersPage,
  refused,
  step,
  type FoundNumber,
  type SetupOptions,
  type SetupStep,
} from './steps.js';

const NUMBER_FIELDS = 'id,display_phone_number,verified_name,quality_rating,status,throughput,is_on_biz_app';
/** Messages a second by Meta's level. Source: Meta, "Throughput". */
const THROUGHPUT_HIGH = 1_000;
const THROUGHPUT_STANDARD = 80;

/** Reads the numbers of a business account. */
export async function readNumbers(
  call: GraphCall,
  { token, businessAccountId }: Pick<SetupOptions, 'token' | 'businessAccountId'>,
): Promise<GraphResult<FoundNumber[]>> {
  const read = await readList(call, token, `${businessAccountId}/phone_numbers`, { fields: NUMBER_FIELDS });
  return 'failure' in read ? read : { value: read.value.flatMap(numberOf) };
}

/** Returns the wanted number of the business account, or its only number; null if a person has to choose. */
export function chooseNumber(
  numbers: readonly FoundNumber[],
  { number: wanted, businessAccountId }: SetupOptions,
): { step: SetupStep; number: FoundNumber | null } {
  const [number, ...others] = numbers.filter(
    (one) => wanted === null || canonicalNumber(one.number) === canonicalNumber(wanted),
  );
  if (number !== undefined && (wanted !== null || others.length === 0))
    return { step: englishStep('number', 'already', `${number.text}.`), number };
  const fault =
    wanted === null
      ? 'The business account has several numbers: choose one.'
      : `The business account has no number ${wanted}. It has:`;
  const detail = `${fault} ${numbers.map(({ text }) => text).join('; ')}.`;
  return { step: englishStep('number', 'needs_you', detail, numbersPage(businessAccountId)), number: null };
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

const isConnected = (status: unknown): boolean => status === 'CONNECTED' || status === 'LINKED';

/** Registers the number for the Cloud API. */
export async function register(
  call: GraphCall,
  { token, businessAccountId, pin, isDryRun, isKnown }: SetupOptions,
  { phoneNumberId, status }: FoundNumber,
): Promise<SetupStep> {
  const name = 'registration';
  // Meta limits registrations to ten in 72 hours, and shows numbers as connected that were never registered.
  if (isConnected(status) && (await isKnown(phoneNumberId))) return step(name, 'already', 'connected');
  if (pin === null) return step(name, 'needs_you', 'pin_missing');
  if (isDryRun) return step(name, 'waiting', 'would_register');
  const body = { messaging_product: 'whatsapp', pin };
  const result = await call(token, `${phoneNumberId}/register`, { body });
  return 'failure' in result
    ? refused(name, result, numbersPage(businessAccountId))
    : step(name, 'done', 'registered');
}

/** How long Meta may take to show a registered number as connected. */
const CONNECTED_READS = 10;
const CONNECTED_PAUSE_MS = 1_000;

const PARTS = [
  ['PHONE_NUMBER', 'number'],
  ['WABA', 'business account'],
  ['BUSINESS', 'business'],
  ['APP', 'app'],
] as const;

/** Returns the step that shows whether Meta allows the number, its business account and its business to send, and what Meta requires. */
export async function readHealth(
  call: GraphCall,
  { token, businessAccountId, isDryRun }: SetupOptions,
  { phoneNumberId }: FoundNumber,
): Promise<SetupStep> {
  const name = 'health';
  const link = numbersPage(businessAccountId);
  let node: Record<string, unknown> = {};
  for (let read = 0; read < (isDryRun ? 1 : CONNECTED_READS); read++) {
    if (read > 0) await wait(CONNECTED_PAUSE_MS);
    const result = await call(token, phoneNumberId, { query: { fields: 'status,health_status' } });
    if ('failure' in result) return refused(name, result, link);
    node = result.value;
    if (isShownConnected(node)) break;
  }
  const problems = PARTS.flatMap(([part, what]) => {
    const { can, why } = canSendOf(node, part) ?? {};
    if (can !== 'BLOCKED' && can !== 'LIMITED') return [];
    const fault = can === 'BLOCKED' ? `does not allow the ${what} to send` : `limits what the ${what} sends`;
    return [{ can, sentence: `Meta ${fault}: ${why ?? 'no reason given'}` }];
  });
  if (problems.length > 0) {
    const status = problems.some(({ can }) => can === 'BLOCKED') ? 'needs_you' : 'already';
    return englishStep(name, status, problems.map(({ sentence }) => sentence).join(' '), link);
  }
  if (isShownConnected(node)) return step(name, 'already', 'can_send');
  const status = word(node['status']) ?? 'not connected';
  return step(name, 'needs_you', 'number_status', { status }, link);
}

/** Returns whether a number is connected, or Meta does not report whether it is. */
const isShownConnected = ({ status }: Record<string, unknown>): boolean =>
  status === undefined || isConnected(status);
