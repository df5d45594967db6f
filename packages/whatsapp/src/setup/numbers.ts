import { canonicalNumber, THROUGHPUT_ON_BUSINESS_APP } from '@onecode/domain';
import { readList, type GraphCall, type GraphResult } from '../client.js';
import { isMetaId, members, storableText } from '../json.js';
import { englishStep, type FoundNumber, type SetupOptions, type SetupStep } from './steps.js';

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
  wanted: string | null,
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
  return { step: englishStep('number', 'needs_you', detail), number: null };
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

/** Returns the messages a second that Meta accepts. */
function throughputOf({ throughput, is_on_biz_app: isOnBusinessApp }: Record<string, unknown>): number {
  if (isOnBusinessApp === true) return THROUGHPUT_ON_BUSINESS_APP;
  return members(throughput)['level'] === 'HIGH' ? THROUGHPUT_HIGH : THROUGHPUT_STANDARD;
}
