import { goText, javaText, jsText, phpText, shellText } from './literals.js';

/** The request that the samples make. */
export interface SampleRequest {
  method: string;
  /** The path with its parameters filled in, or with `{id}`, which the samples read from `SEND_ID`. */
  path: string;
  needsKey: boolean;
  isCreation: boolean;
  body: Record<string, string> | null;
}
export interface Sample {
  /** The label of the tab. */
  label: string;
  /** The language of the block, as highlighters name it. */
  language: string;
  code: string;
}

/** The service that the samples call. */
export interface SampleService {
  /** The API's address, without a trailing slash. */
  baseUrl: string;
  /** The sample's first comment, one line: the value for `ONECODE_API_KEY`. */
  keyComment?: string;
}

/** The SDK call of each operation, by its id in the contract. */
const SDK_CALLS: Record<string, (request: SampleRequest) => string> = {
  createSend: ({ body }) => `const send = await onecode.send(${members(body)});
console.log(send.id, send.expires_at);`,
  getSendStatus: ({ path }) => `const send = await onecode.status(${jsId(path)});
console.log(send.status, send.verification);`,
  verifyCode: ({
    path,
    body,
  }) => `const { valid, verification } = await onecode.verify(${jsId(path)}, ${jsText(body?.['code'] ?? '')});
console.log(valid ? 'signed in' : 'not signed in', verification);`,
  getSignupSettings: () => `const { free_sends } = await onecode.signupSettings();
console.log(free_sends);`,
};

/** Returns the id in `/v1/send/ID/…` as an expression. */
function jsId(path: string): string {
  const id = path.split('/')[3] ?? '';
  return id === '{id}' ? "process.env.SEND_ID ?? ''" : jsText(id);
}

/** Returns an address in a language: the text before and after the id, and between them the code that reads the id. */
const addressIn = (address: string, text: (part: string) => string, id: string): string =>
  address.split('{id}').map(text).join(id);

const members = (body: SampleRequest['body']): string =>
  `{ ${Object.entries(body ?? {})
    .map(([name, value]) => `${name}: ${jsText(value)}`)
    .join(', ')} }`;

/**
 * Returns one operation in six languages, with only the standard library if there is no SDK. The key comes from `ONECODE_API_KEY`.
 *
 * @throws Error for an operation that has no sample
 */
export function samplesOf(operationId: string, request: SampleRequest, service: SampleService): Sample[] {
  const sdk = SDK_CALLS[operationId];
  if (sdk === undefined) throw new Error(`the operation ${operationId} has no sample with the SDK`);
  const { baseUrl, keyComment } = service;
  const call = { ...request, url: baseUrl + request.path };
  const comment = (sign: string): string =>
    keyComment === undefined ? '' : `${sign} ONECODE_API_KEY: ${keyComment}\n`;
  return [
    { label: 'curl', language: 'sh', code: comment('#') + curl(call) },
    { label: 'Node', language: 'ts', code: comment('//') + node(sdk(request), baseUrl) },
    { label: 'Python', language: 'python', code: comment('#') + python(call) },
    { label: 'PHP', language: 'php', code: `<?php\n${comment('//')}${php(call)}` },
    { label: 'Go', language: 'go', code: comment('//') + go(call) },
    { label: 'Java', language: 'java', code: comment('//') + java(call) },
  ];
}

const lines = (...some: (string | false)[]): string => some.filter((line) => line !== false).join('\n');
const json = (body: Record<string, string>): string => JSON.stringify(body);

/** A request with its full address. */
type Call = SampleRequest & { url: string };

function curl({ method, url, needsKey, isCreation, body }: Call): string {
  const parts = [
    `curl -sS ${addressIn(url, (part) => (/^[\w:/.-]+$/.test(part) ? part : shellText(part)), '$SEND_ID')}`,
    ...(needsKey ? ['-H "Authorization: Bearer $ONECODE_API_KEY"'] : []),
    ...(isCreation ? ['-H "Idempotency-Key: $(openssl rand -hex 16)"'] : []),
    ...(body === null ? [] : ["-H 'Content-Type: application/json'", `-d ${shellText(json(body))}`]),
  ];
  if (method === 'GET' && parts.length === 1) return parts[0]!;
  return parts.join(' \\\n  ');
}

const node = (call: string, baseUrl: string): string => `import { Onecode } from '@onecode/client';

const onecode = new Onecode({
  apiKey: process.env.ONECODE_API_KEY ?? '',
  baseUrl: ${jsText(baseUrl)},
});

${call}`;

function python({ method, url, needsKey, isCreation, body }: Call): string {
  const headers = [
    ...(needsKey ? [`        "Authorization": f"Bearer {os.environ['ONECODE_API_KEY']}",`] : []),
    ...(isCreation ? ['        "Idempotency-Key": str(uuid.uuid4()),'] : []),
    ...(body === null ? [] : ['        "Content-Type": "application/json",']),
  ];
  return lines(
    'import json',
    needsKey && 'import os',
    'import urllib.error',
    'import urllib.request',
    isCreation && 'import uuid',
    '',
    'request = urllib.request.Request(',
    `    ${addressIn(url, JSON.stringify, ' + os.environ["SEND_ID"] + ')},`,
    `    method="${method}",`,
    headers.length > 0 && lines('    headers={', ...headers, '    },'),
    body !== null && `    data=json.dumps(${json(body)}).encode(),`,
    ')',
    'try:',
    '    with urllib.request.urlopen(request, timeout=10) as response:',
    '        print(json.load(response))',
    'except urllib.error.HTTPError as error:',
    '    # The body of a 4xx is a problem, and worth reading.',
    '    raise SystemExit(error.read().decode())',
  );
}

function php({ method, url, needsKey, isCreation, body }: Call): string {
  const headers = [
    ...(needsKey ? ["        'Authorization: Bearer ' . getenv('ONECODE_API_KEY'),"] : []),
    ...(isCreation ? ["        'Idempotency-Key: ' . bin2hex(random_bytes(16)),"] : []),
    ...(body === null ? [] : ["        'Content-Type: application/json',"]),
  ];
  const members = Object.entries(body ?? {}).map(([name, value]) => `${phpText(name)} => ${phpText(value)}`);
  return lines(
    "$context = stream_context_create(['http' => [",
    `    'method' => '${method}',`,
    headers.length > 0 && lines("    'header' => [", ...headers, '    ],'),
    body !== null && `    'content' => json_encode([${members.join(', ')}]),`,
    "    'timeout' => 10,",
    "    'ignore_errors' => true, // the body of a 4xx is a problem, and worth reading",
    ']]);',
    `$answer = file_get_contents(${addressIn(url, phpText, " . getenv('SEND_ID') . ")}, false, $context);`,
    'print_r(json_decode($answer, true));',
  );
}

function go({ method, url, needsKey, isCreation, body }: Call): string {
  return lines(
    'package main',
    '',
    'import (',
    isCreation && '\t"crypto/rand"',
    '\t"fmt"',
    '\t"io"',
    '\t"net/http"',
    needsKey && '\t"os"',
    body !== null && '\t"strings"',
    '\t"time"',
    ')',
    '',
    'func main() {',
    body !== null && `\tbody := strings.NewReader(${goText(json(body))})`,
    `\trequest, err := http.NewRequest("${method}", ${addressIn(url, JSON.stringify, '+os.Getenv("SEND_ID")+')}, ${body === null ? 'nil' : 'body'})`,
    '\tif err != nil {',
    '\t\tpanic(err)',
    '\t}',
    needsKey && '\trequest.Header.Set("Authorization", "Bearer "+os.Getenv("ONECODE_API_KEY"))',
    isCreation &&
      lines(
        '\tkey := make([]byte, 16)',
        '\trand.Read(key)',
        '\trequest.Header.Set("Idempotency-Key", fmt.Sprintf("%x", key))',
      ),
    body !== null && '\trequest.Header.Set("Content-Type", "application/json")',
    '\tclient := http.Client{Timeout: 10 * time.Second}',
    '\tresponse, err := client.Do(request)',
    '\tif err != nil {',
    '\t\tpanic(err)',
    '\t}',
    '\tdefer response.Body.Close()',
    '\tanswer, err := io.ReadAll(response.Body)',
    '\tif err != nil {',
    '\t\tpanic(err)',
    '\t}',
    '\tfmt.Println(response.Status, string(answer))',
    '}',
  );
}

function java({ method, url, needsKey, isCreation, body }: Call): string {
  const publisher =
    body === null
      ? 'HttpRequest.BodyPublishers.noBody()'
      : `HttpRequest.BodyPublishers.ofString(${javaText(json(body))})`;
  return lines(
    'import java.net.URI;',
    'import java.net.http.HttpClient;',
    'import java.net.http.HttpRequest;',
    'import java.net.http.HttpResponse;',
    'import java.time.Duration;',
    isCreation && 'import java.util.UUID;',
    '',
    'public class Sample {',
    '    public static void main(String[] arguments) throws Exception {',
    '        var request = HttpRequest.newBuilder(',
    `                URI.create(${addressIn(url, javaText, ' + System.getenv("SEND_ID") + ')}))`,
    '            .timeout(Duration.ofSeconds(10))',
    needsKey && '            .header("Authorization", "Bearer " + System.getenv("ONECODE_API_KEY"))',
    isCreation && '            .header("Idempotency-Key", UUID.randomUUID().toString())',
    body !== null && '            .header("Content-Type", "application/json")',
    `            .method("${method}", ${publisher})`,
    '            .build();',
    '        var answer = HttpClient.newHttpClient()',
    '            .send(request, HttpResponse.BodyHandlers.ofString());',
    '        System.out.println(answer.statusCode() + " " + answer.body());',
    '    }',
    '}',
  );
}
