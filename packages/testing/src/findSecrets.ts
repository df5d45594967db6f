/** A value that must not leak, with its name in reports. */
export interface Secret {
  name: string;
  value: string;
}

/**
 * Finds secrets in a text, as plain text or in a common encoding: hex, base64 (at any alignment, in both alphabets) and percent-encoding. A
 * secret of up to eight digits is found only outside of longer numbers, because such codes also occur inside of them.
 *
 * @returns a line for each found secret and encoding, with the text around it
 */
export function findSecrets(text: string, secrets: readonly Secret[]): string[] {
  const lower = text.toLowerCase();
  return secrets.flatMap(({ name, value }) =>
    encodingsOf(value).flatMap(([encoding, pattern]) => {
      const at = (encoding === 'hex' ? lower : text).search(pattern);
      return at < 0
        ? []
        : [`${name} (${encoding}): …${text.slice(Math.max(0, at - 60), at + value.length + 40)}…`];
    }),
  );
}

function encodingsOf(value: string): [encoding: string, pattern: RegExp][] {
  const bytes = Buffer.from(value);
  const alone = /^\d{1,8}$/.test(value);
  const plain = alone ? `(?<![0-9A-Za-z])${value}(?![0-9A-Za-z])` : escaped(value);
  const url = [...bytes]
    .map((byte) => (isUnreserved(byte) ? String.fromCharCode(byte) : percent(byte)))
    .join('');
  return [
    ['in clear', new RegExp(plain)],
    ['hex', new RegExp(bytes.toString('hex'))],
    ...(url === value ? [] : [['percent', new RegExp(escaped(url), 'i')] as [string, RegExp]]),
    ...[0, 1, 2].flatMap((shift): [string, RegExp][] => {
      const core = base64Core(bytes, shift);
      const urlCore = core.replaceAll('+', '-').replaceAll('/', '_');
      return [
        ['base64', new RegExp(escaped(core))],
        ...(urlCore === core ? [] : [['base64url', new RegExp(escaped(urlCore))] as [string, RegExp]]),
      ];
    }),
  ];
}

/** Returns the characters that every base64 text of these bytes contains if they start at this position in a group of three. */
function base64Core(bytes: Buffer, shift: number): string {
  const whole = Buffer.concat([Buffer.alloc(shift), bytes]);
  const text = whole.toString('base64').replace(/=+$/, '');
  const from = [0, 2, 3][shift] ?? 0;
  return text.slice(from, whole.length % 3 === 0 ? undefined : -1);
}

const percent = (byte: number): string => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
const isUnreserved = (byte: number): boolean => /[0-9A-Za-z._~-]/.test(String.fromCharCode(byte));
const escaped = (text: string): string => text.replace(/[$()*+.?[\\\]^{|}/-]/g, '\\$&');
