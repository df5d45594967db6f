import { Command } from 'commander';
import { print, type Row, type TextForm } from '../src/output.js';

/** Returns the output of `print` without `--json`. */
function printed(result: Row | readonly Row[], form?: TextForm): string {
  const { stdout } = process;
  const write = stdout.write.bind(stdout);
  let text = '';
  stdout.write = (chunk: string | Uint8Array) => {
    text += String(chunk);
    return true;
  };
  try {
    print(new Command().option('--json'), result, form);
  } finally {
    stdout.write = write;
  }
  return text;
}

describe('print', () => {
  const SEND = {
    id: 'a',
    read_at: null,
    wrong_codes_at: ['10:00', '10:01'],
    attempts: [
      { number: 1, outcome: 'accepted' },
      { number: 2, is_own: true },
    ],
    denied_at: null,
    identity: { hash: 'h', has_changed: true },
  };
  const WORDS = 'a wrong codes at (10:00,10:01) attempts (1 accepted; 2 is own) identity (h has changed)';

  it('prints the list of `apart` below the record, with nested values in parentheses', () => {
    expect(printed({ count: 1, sends: [SEND] }, { apart: 'sends' })).toBe(`count  1\n\n${WORDS}\n`);
  });

  it('formats nested values in a field and in a column the same way', () => {
    expect(printed({ sends: [SEND] })).toBe(`sends  ${WORDS}\n`);
    expect(printed([{ sends: [SEND] }])).toBe(`sends\n${WORDS}\n`);
  });
});
