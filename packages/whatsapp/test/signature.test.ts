import { createHmac } from 'node:crypto';
import { describeWithReference, reference } from '@onecode/testing';
import { handshakeAnswer, signatureMatches } from '../src/index.js';

const SECRET = 'app-secret';
const BODY = Buffer.from('{"object":"whatsapp_business_account","name":"Jos\\u00e9"}');
// Computed independently: printf '%s' "$body" | openssl dgst -sha256 -hmac app-secret
const DIGEST = 'b4d2a0947685cd68763fc8e2404fe9e1b899a80b517fa001fc8defa865651b35';

describe('signatureMatches', () => {
  it('accepts the known digest of the raw bytes', () => {
    expect(signatureMatches(BODY, `sha256=${DIGEST}`, SECRET)).toBe(true);
    expect(signatureMatches(BODY, `sha256=${DIGEST.toUpperCase()}`, SECRET)).toBe(true);
  });

  it('rejects an altered byte of the body and an altered digit of the digest', () => {
    for (let at = 0; at < BODY.length; at += 1) {
      const altered = Buffer.from(BODY);
      altered[at]! ^= 1;
      expect(signatureMatches(altered, `sha256=${DIGEST}`, SECRET)).toBe(false);
    }
    for (let at = 0; at < DIGEST.length; at += 1) {
      const digit = DIGEST[at] === '0' ? '1' : '0';
      const altered = DIGEST.slice(0, at) + digit + DIGEST.slice(at + 1);
      expect(signatureMatches(BODY, `sha256=${altered}`, SECRET)).toBe(false);
    }
  });

  it.each([
    ['missing', undefined],
    ['empty', ''],
    ['without a prefix', DIGEST],
    ['of another algorithm', `sha1=${createHmac('sha1', SECRET).update(BODY).digest('hex')}`],
    ['labeled with another algorithm', `sha512=${DIGEST}`],
    ['short', `sha256=${DIGEST.slice(0, 62)}`],
    ['long', `sha256=${DIGEST}00`],
    ['not hexadecimal', `sha256=${'z'.repeat(64)}`],
    ['padded', ` sha256=${DIGEST}`],
    ['followed by a line end', `sha256=${DIGEST}\n`],
    ['doubled', `sha256=${DIGEST}, sha256=${DIGEST}`],
  ])('rejects a header that is %s', (_, header) => {
    expect(signatureMatches(BODY, header, SECRET)).toBe(false);
  });

  it('rejects another secret and an empty secret', () => {
    expect(signatureMatches(BODY, `sha256=${DIGEST}`, 'other')).toBe(false);
    const unkeyed = createHmac('sha256', '').update(BODY).digest('hex');
    expect(signatureMatches(BODY, `sha256=${unkeyed}`, '')).toBe(false);
  });
});

describeWithReference('signatureMatches, compared with the reference vector', () => {
  it('accepts the raw body, and rejects the body after JSON.stringify', () => {
    const vector = JSON.parse(reference('samples/signature-vector.json') || '{}') as Record<string, string>;
    const header = vector['header']?.replace(/^[^:]+: /, '');
    const body = Buffer.from(vector['raw_body'] ?? '');
    expect(signatureMatches(body, header, vector['app_secret'] ?? '')).toBe(true);
    const written = Buffer.from(JSON.stringify(JSON.parse(body.toString())));
    expect(signatureMatches(written, header, vector['app_secret'] ?? '')).toBe(false);
  });
});

describe('handshakeAnswer', () => {
  const query = { 'hub.mode': 'subscribe', 'hub.verify_token': 'right', 'hub.challenge': '1158201444' };

  it('returns the challenge', () => {
    expect(handshakeAnswer(query, 'right')).toBe('1158201444');
  });

  it.each([
    ['the token is wrong', { 'hub.verify_token': 'wrong' }],
    ['the token is a prefix of the correct token', { 'hub.verify_token': 'righ' }],
    ['the token is missing', { 'hub.verify_token': undefined }],
    ['the token is given twice', { 'hub.verify_token': ['right', 'right'] }],
    ['the mode is wrong', { 'hub.mode': 'unsubscribe' }],
    ['the mode is missing', { 'hub.mode': undefined }],
    ['the challenge is missing', { 'hub.challenge': undefined }],
    ['the challenge is empty', { 'hub.challenge': '' }],
    ['the challenge is an object', { 'hub.challenge': { a: '1' } }],
  ])('returns null when %s', (_, change) => {
    expect(handshakeAnswer({ ...query, ...change }, 'right')).toBeNull();
  });

  it('returns null when no token is configured', () => {
    expect(handshakeAnswer({ ...query, 'hub.verify_token': '' }, '')).toBeNull();
  });
});
