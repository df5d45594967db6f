import { readContract } from '../src/contract.js';
import { errorsPage } from '../src/errorsPage.js';
import { referencePages } from '../src/referencePages.js';

const inEnglish = (text: string): string => text;

it('the errors page shows the response to the request above it', () => {
  const [, section = ''] = /### invalid_json(.*?)\n### /s.exec(errorsPage(readContract(), inEnglish)) ?? [];
  expect(section).toContain('POST /v1/send HTTP/1.1');
  expect(section).toContain('"detail": "The only documented fields are to, code, locale."');
});

it('a table of the reference has no line breaks and indents of the contract', () => {
  const rows = referencePages(readContract(), inEnglish)
    .get('reference/objects')!
    .match(/^\|.*$/gm)!;
  expect(rows.length).toBeGreaterThan(10);
  expect(rows.filter((row) => /\S {2,}\S/.test(row))).toEqual([]);
});
