/** Secret keys by version (1 to 255), the current one first. New values use it; the other keys are only for reading older values. */
export interface Keyring {
  current: number;
  keys: ReadonlyMap<number, Buffer>;
}

const KEY_BYTES = 32;

/**
 * Parses a keyring from an environment variable: one base64 key of 32 bytes (version 1), or `2:<base64>,1:<base64>` with the version to use
 * first.
 *
 * @throws Error with one sentence that does not contain the key
 */
export function parseKeyring(text: string): Keyring {
  const parts = text.split(',').map((part) => part.trim());
  const keys = new Map<number, Buffer>();
  for (const part of parts) {
    const colon = part.indexOf(':');
    const version = colon < 0 ? '1' : part.slice(0, colon);
    const encoded = part.slice(colon + 1);
    const number = Number(version);
    if (!/^\d+$/.test(version) || number < 1 || number > 255)
      throw new Error('must have whole numbers from 1 to 255 as the versions of its keys');
    if (keys.has(number)) throw new Error(`must have key version ${number} only once`);
    const key = Buffer.from(encoded, 'base64');
    // The base64 of 32 bytes ends with one `=`, which may be omitted.
    if (key.length !== KEY_BYTES || key.toString('base64').slice(0, -1) !== encoded.replace(/(?<!=)=+$/, ''))
      throw new Error('must be 32 bytes in base64');
    keys.set(number, key);
  }
  return { current: [...keys.keys()][0] as number, keys };
}

/** Returns the key of a version. @throws Error if that version is no longer in the keyring */
export function requireKey(keyring: Keyring, version: number): Buffer {
  const key = keyring.keys.get(version);
  if (key === undefined) throw new Error(`key version ${version} is not in the keyring`);
  return key;
}
