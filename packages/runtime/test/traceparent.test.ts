import { parseTraceparent } from '@onecode/runtime';

const CONTEXT = '4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

describe('traceparent', () => {
  it('is taken as it is in version 00', () => {
    expect(parseTraceparent(`00-${CONTEXT}`)).toBe(`00-${CONTEXT}`);
    expect(parseTraceparent(`00-${CONTEXT.replace(/01$/, '00')}`)).toMatch(/-00$/);
  });

  it.each([`cc-${CONTEXT}`, `cc-${CONTEXT}-`, `cc-${CONTEXT}-what comes later`.replaceAll(' ', '_')])(
    'of a later version is taken for what version 00 knows: %s',
    (header) => {
      expect(parseTraceparent(header)).toBe(`00-${CONTEXT}`);
    },
  );

  it.each([
    undefined,
    '',
    [`00-${CONTEXT}`],
    `00-${CONTEXT}, 00-${CONTEXT}`,
    `00-${CONTEXT}-`,
    `00-${CONTEXT}-00`,
    `00-${CONTEXT} `,
    `00-${CONTEXT}\n`,
    `ff-${CONTEXT}`,
    `00-${CONTEXT.toUpperCase()}`,
    `00-${CONTEXT.replace('4', 'g')}`,
    `00-${CONTEXT.slice(1)}`,
    `cc-${CONTEXT}.1`,
    `cc-${CONTEXT}-${'x'.repeat(500)}`,
    `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
    `00-4bf92f3577b34da6a3ce929d0e0e4736-${'0'.repeat(16)}-01`,
  ])('counts as none when it is not one: %j', (header) => {
    expect(parseTraceparent(header)).toBeNull();
  });
});
