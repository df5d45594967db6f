import { samplesOf } from '@onecode/code-samples';
import {
  operationsOf,
  type Answer,
  type Contract,
  type Example,
  type Operation,
  type Parameter,
  type Schema,
} from './contract.js';
import { block, cell, codeGroup, table } from './markdown.js';
import { SERVICE } from './service.js';
import type { Translate } from './translations.js';

/** The page of each operation, by its id. */
export const OPERATION_PAGES: Record<string, string> = {
  createSend: 'reference/create-send',
  getSendStatus: 'reference/send-status',
  verifyCode: 'reference/verify-code',
  getSignupSettings: 'reference/signup-settings',
};
/** The schemas that answers are made of; those of requests stand on the page of their operation. */
const ANSWER_SCHEMAS = [
  'Send',
  'DeliveryStatus',
  'Verification',
  'VerifyResult',
  'SignupSettings',
  'Problem',
];

/** Makes the pages of the reference. @returns their Markdown, by their paths without an ending */
export function referencePages(contract: Contract, t: Translate): Map<string, string> {
  const pages = new Map([
    ['reference/index', overviewPage(contract, t)],
    ['reference/objects', objectsPage(contract, t)],
  ]);
  for (const { path, method, operation } of operationsOf(contract)) {
    const page = OPERATION_PAGES[operation.operationId];
    if (page === undefined) throw new Error(`the operation ${operation.operationId} has no page`);
    pages.set(page, operationPage(path, method, operation, t));
  }
  return pages;
}

function overviewPage(contract: Contract, t: Translate): string {
  const rows = operationsOf(contract).map(({ path, method, operation }) => [
    `[${t(operation.summary)}](./${OPERATION_PAGES[operation.operationId]!.replace('reference/', '')})`,
    `\`${method} ${path}\``,
  ]);
  return [
    `# ${t('API reference')}`,
    t(contract.info.summary),
    t(contract.info.description),
    `## ${t('Address')}`,
    block('text', SERVICE),
    t('The contract as OpenAPI 3.1 is at `/openapi.json` of this address.'),
    `## ${t('Credentials')}`,
    t(contract.components.securitySchemes.bearer.description),
    `## ${t('Operations')}`,
    table([t('Operation'), t('Request')], rows),
    t('What answers hold is in [objects](./objects), and every error in [errors](../errors).'),
  ].join('\n\n');
}

function operationPage(path: string, method: string, operation: Operation, t: Translate): string {
  const examples = operation.requestBody?.content['application/json'].examples ?? {};
  const body = (Object.values(examples).at(0)?.value ?? null) as Record<string, string> | null;
  const parameters = operation.parameters ?? [];
  const request = {
    method,
    path: parameters
      .filter((one) => one.in === 'path')
      .reduce((filled, one) => filled.replace(`{${one.name}}`, exampleOf(one)), path),
    needsKey: operation.security?.length !== 0,
    isCreation: parameters.some(({ name }) => name === 'Idempotency-Key'),
    body,
  };
  const samples = samplesOf(operation.operationId, request, { baseUrl: SERVICE });
  return [
    `# ${t(operation.summary)}`,
    `\`${method} ${path}\``,
    t(operation.description),
    `## ${t('Sample')}`,
    codeGroup(samples),
    ...parameterSection(parameters, t),
    ...bodySection(operation, t),
    `## ${t('Answers')}`,
    ...Object.entries(operation.responses).map(([status, answer]) => answerSection(status, answer, t)),
  ].join('\n\n');
}

const exampleOf = ({ examples }: Parameter): string => String(Object.values(examples)[0]?.value);

function parameterSection(parameters: Parameter[], t: Translate): string[] {
  if (parameters.length === 0) return [];
  const rows = parameters.map((one) => [
    `\`${one.name}\``,
    t(one.in === 'path' ? 'path' : 'header'),
    t(one.required ? 'yes' : 'no'),
    t(one.description),
  ]);
  return [
    `## ${t('Parameters')}`,
    table([t('Name'), t('Where'), t('Required'), t('Meaning')], rows),
    ...parameters.map((one) => block('text', exampleOf(one))),
  ];
}

function bodySection(operation: Operation, t: Translate): string[] {
  const media = operation.requestBody?.content['application/json'];
  if (media === undefined) return [];
  return [
    `## ${t('Body')}`,
    t('A JSON object in UTF-8 of at most 64 KiB, with these members and no others.'),
    fieldTable(media.schema, t),
    exampleGroup(media.examples, t),
  ];
}

function answerSection(status: string, answer: Answer, t: Translate): string {
  const [type = '', content] = Object.entries(answer.content)[0]!;
  const isProblem = type === 'application/problem+json';
  const codes = Object.keys(content.examples).map((code) => `[\`${code}\`](../errors#${code})`);
  const rows = Object.entries(answer.headers).map(([name, header]) => [
    `\`${name}\``,
    t(header.description),
    `\`${String(header.example)}\``,
  ]);
  return [
    `### ${status}${isProblem ? `: ${Object.keys(content.examples).join(', ')}` : ''} {#${status}}`,
    t(answer.description),
    ...(isProblem ? [`${t('Cause and remedy')}: ${codes.join(', ')}`] : []),
    exampleGroup(content.examples, t, isProblem),
    table([t('Header'), t('Meaning'), t('Example')], rows),
  ].join('\n\n');
}

function exampleGroup(examples: Record<string, Example>, t: Translate, byName = false): string {
  return codeGroup(
    Object.entries(examples).map(([name, { summary, value }]) => ({
      label: byName || summary === undefined ? name : t(summary).replaceAll('`', ''),
      language: 'json',
      code: JSON.stringify(value, null, 2),
    })),
  );
}

function objectsPage(contract: Contract, t: Translate): string {
  const sections = ANSWER_SCHEMAS.map((name) => {
    const schema = contract.components.schemas[name];
    if (schema === undefined) throw new Error(`the contract has no schema ${name}`);
    return [
      `## ${name}`,
      ...(schema.description === undefined ? [] : [t(schema.description)]),
      ...(schema.properties === undefined ? [] : [fieldTable(schema, t)]),
    ].join('\n\n');
  });
  return [
    `# ${t('Objects')}`,
    t('What the answers are made of. All times are RFC 3339 in UTC.'),
    ...sections,
  ].join('\n\n');
}

function fieldTable(schema: Schema, t: Translate): string {
  const rows = Object.entries(schema.properties ?? {}).map(([name, field]) => [
    `\`${name}\``,
    typeOf(field),
    t(schema.required?.includes(name) === true ? 'yes' : 'no'),
    cell(field.description === undefined ? '' : t(field.description)),
  ]);
  return table([t('Field'), t('Type'), t('Always'), t('Meaning')], rows);
}

function typeOf({ type, enum: values, format, pattern, minimum, maximum }: Schema): string {
  const name = [type ?? 'string'].flat().join(', ');
  const range = [minimum, maximum].filter((limit) => limit !== undefined).join(' … ');
  if (values !== undefined && values.length <= 6)
    return values.map((value) => `\`${String(value)}\``).join(' · ');
  return [name, format, range, pattern === undefined ? '' : `\`${pattern.replaceAll('|', '\\|')}\``]
    .filter(Boolean)
    .join(', ');
}
