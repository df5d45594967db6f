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
const OPERATION_PAGES: Record<string, string> = {
  createSend: 'reference/create-send',
  getSendStatus: 'reference/send-status',
  verifyCode: 'reference/verify-code',
  getSignupSettings: 'reference/signup-settings',
};
/** Responses that any operation can return before it runs; shown only on the first page. */
const BEFORE_OPERATIONS = new Set(['400', '408', '431']);

/** Creates the reference pages. @returns their Markdown, by their paths without an ending */
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
    `${t('Download the OpenAPI 3.1 contract')}: [\`/openapi.json\`](${SERVICE}/openapi.json).`,
    `## ${t('Credentials')}`,
    t(contract.components.securitySchemes.bearer.description),
    `## ${t('Operations')}`,
    table([t('Operation'), t('Request')], rows),
    `## ${t('Responses of every operation')}`,
    ...Object.entries(operationsOf(contract)[0]!.operation.responses)
      .filter(([status]) => BEFORE_OPERATIONS.has(status))
      .map(([status, answer]) => answerSection(status, answer, t)),
    t('For the fields of the responses, see [objects](./objects). For every error, see [errors](../errors).'),
  ].join('\n\n');
}

function operationPage(path: string, method: string, operation: Operation, t: Translate): string {
  const examples = operation.requestBody?.content['application/json'].examples ?? {};
  const body = (Object.values(examples).at(0)?.value ?? null) as Record<string, string> | null;
  const parameters = operation.parameters ?? [];
  const request = {
    method,
    path,
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
    ...(path.includes('{id}') ? [t('The samples read the id of the send from `SEND_ID`.')] : []),
    codeGroup(samples),
    ...parameterSection(parameters, t),
    ...bodySection(operation, t),
    `## ${t('Responses')}`,
    ...Object.entries(operation.responses)
      .filter(([status]) => !BEFORE_OPERATIONS.has(status))
      .map(([status, answer]) => answerSection(status, answer, t)),
  ].join('\n\n');
}

const exampleOf = ({ examples }: Parameter): string => String(Object.values(examples)[0]?.value);

function parameterSection(parameters: Parameter[], t: Translate): string[] {
  if (parameters.length === 0) return [];
  const rows = parameters.map((one) => [
    `\`${one.name}\`<br>${t(one.in)}, ${t(one.required ? 'required' : 'optional')}`,
    `${cell(t(one.description))}<br>${t('Example')}: \`${exampleOf(one)}\``,
  ]);
  return [`## ${t('Parameters')}`, table([t('Parameter'), t('Meaning')], rows)];
}

function bodySection(operation: Operation, t: Translate): string[] {
  const media = operation.requestBody?.content['application/json'];
  if (media === undefined) return [];
  return [
    `## ${t('Body')}`,
    t('A JSON object in UTF-8 of at most 64 KiB, with these fields only.'),
    fieldTable(media.schema, t),
    exampleGroup(media.examples, t),
  ];
}

function answerSection(status: string, answer: Answer, t: Translate): string {
  const [type, content] = Object.entries(answer.content)[0]!;
  const isProblem = type === 'application/problem+json';
  const codes = Object.keys(content.examples).map((code) => `[\`${code}\`](../errors#${code})`);
  const rows = Object.entries(answer.headers).map(([name, header]) => [
    `\`${name}\``,
    `${t(header.description)}<br>${t('Example')}: \`${String(header.example)}\``,
  ]);
  return [
    `### ${status}${isProblem ? `: ${Object.keys(content.examples).join(', ')}` : ''} {#${status}}`,
    t(answer.description),
    ...(isProblem ? [`${t('Cause and remedy')}: ${codes.join(', ')}`] : []),
    exampleGroup(content.examples, t, isProblem),
    table([t('Header'), t('Meaning')], rows),
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

/** Returns the schemas of responses, by name. Schemas of requests are on the page of their operation, and the codes on the errors page. */
function answerSchemas(contract: Contract): [name: string, schema: Schema][] {
  const bodies = new Set(
    operationsOf(contract).map(({ operation }) =>
      JSON.stringify(operation.requestBody?.content['application/json'].schema),
    ),
  );
  return Object.entries(contract.components.schemas).filter(
    ([name, schema]) => name !== 'ProblemCode' && !bodies.has(JSON.stringify(schema)),
  );
}

function objectsPage(contract: Contract, t: Translate): string {
  const sections = answerSchemas(contract).map(([name, schema]) => {
    return [
      `## ${name}`,
      ...(schema.description === undefined ? [] : [t(schema.description)]),
      ...(schema.properties === undefined ? [] : [fieldTable(schema, t)]),
    ].join('\n\n');
  });
  return [
    `# ${t('Objects')}`,
    t('The objects in the responses. All times are RFC 3339 in UTC.'),
    ...sections,
  ].join('\n\n');
}

/** Returns a table of two columns, which fits a phone. */
function fieldTable(schema: Schema, t: Translate): string {
  const rows = Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const field = { ...property.anyOf?.[0], ...property };
    const isRequired = schema.required?.includes(name) === true;
    return [
      `\`${name}\`<br>${typeOf(field)}, ${t(isRequired ? 'required' : 'optional')}`,
      [field.description === undefined ? '' : cell(t(field.description)), rulesOf(field, t)]
        .filter(Boolean)
        .join('<br>'),
    ];
  });
  return table([t('Field'), t('Meaning')], rows);
}

const typeOf = ({ type = 'string', format }: Schema): string =>
  [...[type].flat(), ...(format === undefined ? [] : [format])].join(', ');

/** Returns the rules of a field that its description, or another page, does not already contain. */
function rulesOf(
  { description = '', enum: values, pattern, minimum, maximum }: Schema,
  t: Translate,
): string {
  if (values !== undefined && !description.includes('\n- ') && values.length <= 6)
    return `${t('Values')}: ${values.map((value) => `\`${String(value)}\``).join(', ')}`;
  if (pattern !== undefined) return `${t('Pattern')}: \`${pattern.replaceAll('|', '\\|')}\``;
  const range = [minimum, maximum].filter((limit) => limit !== undefined);
  return range.length === 2 ? `${t('Range')}: ${range.join(' … ')}` : '';
}
