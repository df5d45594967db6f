import { deepStrictEqual } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeIf } from '@onecode/testing';
import { EXAMPLES, isInstalled } from './exampleProcess.js';
import { PREPARE_MS_MAX, prepareExample } from './preparedExample.js';

/** Reads one JSON text a line, in UTF-16 as hexadecimal digits. Writes what was read as JSON, or `refused`. */
const READER = `
import java.text.ParseException;
import java.util.*;
import java.util.stream.*;

final class Reader {
    public static void main(String[] arguments) {
        new Scanner(System.in).useDelimiter("\\n").forEachRemaining(line -> {
            StringBuilder text = new StringBuilder();
            for (int at = 1; at < line.length(); at += 4) text.append((char) Integer.parseInt(line.substring(at, at + 4), 16));
            System.out.println(read(text.toString()));
        });
    }
    static String read(String text) {
        try {
            return write(Json.parse(text));
        } catch (ParseException error) {
            return "refused";
        }
    }
    static String write(Object value) {
        if (value instanceof List<?> items) return items.stream().map(Reader::write).collect(Collectors.joining(",", "[", "]"));
        if (value instanceof Map<?, ?> members)
            return members.entrySet().stream().map(member -> write(member.getKey()) + ":" + write(member.getValue()))
                .collect(Collectors.joining(",", "{", "}"));
        if (!(value instanceof String text)) return String.valueOf(value);
        return Json.quote(text).chars().mapToObj(c -> c < 127 ? Character.toString(c) : String.format("\\\\u%04x", c))
            .collect(Collectors.joining());
    }
}`;

const ACCEPTED = [
  '{"valid":true,"verification":"verified","attempts_left":0}',
  ' \t\r\n{ "a" : [ ] , "b" : { } , "c" : [ null , true , false ] } ',
  '{"a":1,"a":2}',
  String.raw`"\"\\\/\b\f\n\r\tA\u00e7\uD83D\uDE00\ud800"`,
  '"ç😀\u2028\u007f"',
  '[0,-0,1,-1.5,10,1e5,1E+5,1.25e-3,123456789012345678901234567890]',
  '"a"',
  'null',
  '[[[["deep"]]]]',
];

// A group of faults a line.
// prettier-ignore
const REFUSED = [
  '', ' ', '{', '}', '[', ']', '"', '{"a"', '{"a":', '{"a":1', '[1', '[1,', '"a', '"\\',
  '[1,]', '[,1]', '[1 2]', '{"a":1,}', '{,}', '{"a" 1}', "{'a':1}", '{a:1}', '{1:2}', '1 2', '{}{}',
  '01', '-', '+1', '.5', '1.', '1e', '1e+', '-a', 'NaN', 'Infinity', '0x1', '١',
  'True', 'tru', 'nul', 'truefalse', '//', '\ufeff{}', '\u00a0{}', '\f{}', '{}\0', '\0',
  '"\n"', '"\0"', '"\u001f"', '"\\x"', '"\\u12"', '"\\u12g4"', '"\\u00٣1"', '"\\u+041"', '"\\U0041"',
];

describeIf(isInstalled('javac'))('the JSON reader of the java example', () => {
  const example = EXAMPLES.find(({ name }) => name === 'java')!;
  let folder: string;
  let read: (texts: readonly string[]) => string[];
  beforeAll(async () => {
    const classes = join(await prepareExample(example), 'classes');
    folder = mkdtempSync(join(tmpdir(), 'onecode-java-'));
    writeFileSync(join(folder, 'Reader.java'), READER);
    execFileSync('javac', ['-cp', classes, '-d', '.', 'Reader.java'], { cwd: folder });
    read = (texts) => {
      const input = texts
        .map((text) => `:${Buffer.from(text, 'utf16le').swap16().toString('hex')}`)
        .join('\n');
      const output = execFileSync('java', ['-cp', `${classes}:.`, 'Reader'], { cwd: folder, input });
      return output.toString().trimEnd().split('\n');
    };
  }, PREPARE_MS_MAX);
  afterAll(() => {
    if (folder) rmSync(folder, { recursive: true });
  });

  it('reads and writes what JSON is, as JSON.parse reads it', () => {
    const written = read(ACCEPTED);
    ACCEPTED.forEach((text, index) => deepStrictEqual(JSON.parse(written[index]!), JSON.parse(text), text));
  });

  it('refuses what is no JSON', () => {
    for (const text of REFUSED) expect(() => JSON.parse(text)).toThrow(SyntaxError);
    const answers = read(REFUSED);
    expect(REFUSED.filter((_, index) => answers[index] !== 'refused')).toEqual([]);
  });

  it('refuses nesting that would exhaust the stack', () => {
    expect(read(['['.repeat(100_000), '{"a":'.repeat(50_000)])).toEqual(['refused', 'refused']);
  });
});
