import { findSecrets } from '@onecode/testing';

describe('findSecrets', () => {
  const secret = { name: 'code', value: '9081726354' };
  it.each([
    ['as plain text', 'x9081726354x'],
    ['in hex', Buffer.from('a9081726354').toString('hex')],
    ['in hex, upper case', Buffer.from('a9081726354').toString('hex').toUpperCase()],
    ['in base64', Buffer.from('{"code":"9081726354"}').toString('base64')],
    ['in base64, one byte later', Buffer.from('{"code":"99081726354"}').toString('base64')],
    ['in base64, two bytes later', Buffer.from('{"code":"999081726354"}').toString('base64url')],
  ])('finds a secret %s', (_, text) => {
    expect(findSecrets(`before ${text} after`, [secret])).not.toEqual([]);
  });

  it('finds a percent-encoded secret', () => {
    expect(findSecrets('to=%2B5511987654321', [{ name: 'phone', value: '+5511987654321' }])).not.toEqual([]);
  });
});
