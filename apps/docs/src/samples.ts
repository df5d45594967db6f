/** A request as the samples make it. */
export interface SampleRequest {
  method: string;
  /** With its parameters filled in. */
  path: string;
  needsKey: boolean;
  isCreation: boolean;
  body: Record<string, string> | null;
}
export interface Sample {
  /** The name on the tab. */
  label: string;
  /** The language of the block, as highlighters know it. */
  language: string;
  code: string;
}

/** The service's address in the contract; the API puts its own in its place when it serves a page. */
export const SERVICE = 'https://api.example.com';

const SDK_CALLS: Record<string, string> = {
  createSend: `const send = await onecode.send({ to: '+447700900123' });
console.log(send.id, send.expires_at);`,
  getSendStatus: `const send = await onecode.status('0199c7a2-5b1e-7c3a-9f40-2d6a8e1b4c57');
console.log(send.status, send.verification);`,
  verifyCode: `const { valid } = await onecode.verify('0199c7a2-5b1e-7c3a-9f40-2d6a8e1b4c57', '004217');
console.log(valid ? 'signed in' : 'wrong code');`,
  getSignupSettings: `const { free_sends } = await onecode.signupSettings();
console.log(free_sends);`,
};

/** One operation in six languages. Those without an SDK use their standard library alone. */
export function samplesOf(operationId: string, request: SampleRequest): Sample[] {
  const sdk = SDK_CALLS[operationId];
  if (sdk === undefined) throw new Error(`the operation ${operationId} has no sample with the SDK`);
  return [
    { label: 'curl', language: 'sh', code: curl(request) },
    { label: 'Node', language: 'ts', code: node(sdk) },
    { label: 'Python', language: 'python', code: python(request) },
    { label: 'PHP', language: 'php', code: php(request) },
    { label: 'Go', language: 'go', code: go(request) },
    { label: 'Java', language: 'java', code: java(request) },
  ];
}

const lines = (...some: (string | false)[]): string => some.filter((line) => line !== false).join('\n');
const json = (body: Record<string, string>): string => JSON.stringify(body);

function curl({ method, path, needsKey, isCreation, body }: SampleRequest): string {
  const parts = [
    `curl -sS ${SERVICE}${path}`,
    ...(needsKey ? ['-H "Authorization: Bearer $ONECODE_API_KEY"'] : []),
    ...(isCreation ? ['-H "Idempotency-Key: $(openssl rand -hex 16)"'] : []),
    ...(body === null ? [] : ["-H 'Content-Type: application/json'", `-d '${json(body)}'`]),
  ];
  if (method === 'GET' && parts.length === 1) return parts[0]!;
  return parts.join(' \\\n  ');
}

const node = (call: string): string => `import { Onecode } from '@onecode/client';

const onecode = new Onecode({
  apiKey: process.env.ONECODE_API_KEY ?? '',
  baseUrl: '${SERVICE}',
});

${call}`;

function python({ method, path, needsKey, isCreation, body }: SampleRequest): string {
  const headers = [
    ...(needsKey ? [`        "Authorization": f"Bearer {os.environ['ONECODE_API_KEY']}",`] : []),
    ...(isCreation ? ['        "Idempotency-Key": str(uuid.uuid4()),'] : []),
    ...(body === null ? [] : ['        "Content-Type": "application/json",']),
  ];
  return lines(
    'import json',
    needsKey && 'import os',
    'import urllib.request',
    isCreation && 'import uuid',
    '',
    'request = urllib.request.Request(',
    `    "${SERVICE}${path}",`,
    `    method="${method}",`,
    headers.length > 0 && lines('    headers={', ...headers, '    },'),
    body !== null && `    data=json.dumps(${json(body)}).encode(),`,
    ')',
    'with urllib.request.urlopen(request, timeout=10) as response:',
    '    print(json.load(response))',
  );
}

function php({ method, path, needsKey, isCreation, body }: SampleRequest): string {
  const headers = [
    ...(needsKey ? ["        'Authorization: Bearer ' . getenv('ONECODE_API_KEY'),"] : []),
    ...(isCreation ? ["        'Idempotency-Key: ' . bin2hex(random_bytes(16)),"] : []),
    ...(body === null ? [] : ["        'Content-Type: application/json',"]),
  ];
  const members = Object.entries(body ?? {}).map(([name, value]) => `'${name}' => '${value}'`);
  return lines(
    '<?php',
    "$context = stream_context_create(['http' => [",
    `    'method' => '${method}',`,
    headers.length > 0 && lines("    'header' => [", ...headers, '    ],'),
    body !== null && `    'content' => json_encode([${members.join(', ')}]),`,
    "    'timeout' => 10,",
    "    'ignore_errors' => true, // the body of a 4xx is a problem, and worth reading",
    ']]);',
    `$answer = file_get_contents('${SERVICE}${path}', false, $context);`,
    'print_r(json_decode($answer, true));',
  );
}

function go({ method, path, needsKey, isCreation, body }: SampleRequest): string {
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
    body !== null && `\tbody := strings.NewReader(\`${json(body)}\`)`,
    `\trequest, err := http.NewRequest("${method}", "${SERVICE}${path}", ${body === null ? 'nil' : 'body'})`,
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

function java({ method, path, needsKey, isCreation, body }: SampleRequest): string {
  const publisher =
    body === null
      ? 'HttpRequest.BodyPublishers.noBody()'
      : `HttpRequest.BodyPublishers.ofString(${JSON.stringify(json(body))})`;
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
    `                URI.create("${SERVICE}${path}"))`,
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
