import { STATUS_CODES } from 'node:http';
import { PROBLEMS, type ProblemCode } from '@onecode/domain';
import { block } from './markdown.js';
import { ERROR_REQUESTS } from './errorRequests.js';
import { ERROR_TEXTS } from './errorTexts.js';
import { SERVICE } from './service.js';
import { operationsOf, type Contract, type Example } from './contract.js';
import type { Translate } from './translations.js';

/** Returns the page that problem types link to. Each code has an anchor, its cause and remedy, and a request that can get it. */
export function errorsPage(contract: Contract, t: Translate): string {
  const codes = Object.keys(PROBLEMS) as ProblemCode[];
  const isOfWebhooks = (code: ProblemCode): boolean => !(code in ERROR_REQUESTS);
  const answers = answersOf(contract);
  const section = (code: ProblemCode): string => problemSection(code, answers.get(code), t);
  return [
    `# ${t('Errors')}`,
    t(
      'This page lists every error with its cause and remedy. Errors are `application/problem+json`. Branch on `code`, which never changes; the other texts may. A wrong code is not an error: the response is 200 with `valid: false`.',
    ),
    t('For what to show to users, see [messages for users](./showing-errors).'),
    `## ${t('API responses')}`,
    ...codes.filter((code) => !isOfWebhooks(code)).map(section),
    `## ${t('Responses to the provider’s webhooks')}`,
    t('Only operators see these errors. Programs that call the API never get them.'),
    ...codes.filter(isOfWebhooks).map(section),
  ].join('\n\n');
}

/** Returns the contract's first example of each problem, which is the response of the operation in `ERROR_REQUESTS`. */
function answersOf(contract: Contract): Map<string, Example> {
  const examples = operationsOf(contract).flatMap(({ operation }) =>
    Object.values(operation.responses).flatMap(({ content }) =>
      Object.entries(content['application/problem+json']?.examples ?? {}),
    ),
  );
  // A map keeps the last of several values.
  return new Map(examples.toReversed());
}

function problemSection(code: ProblemCode, answer: Example | undefined, t: Translate): string {
  const { status, meaning } = PROBLEMS[code];
  const { cause, remedy } = ERROR_TEXTS[code];
  const title = STATUS_CODES[status] ?? '';
  const value = answer?.value ?? {
    type: `${SERVICE}/docs/errors#${code}`,
    title,
    status,
    code,
    detail: meaning,
  };
  const request = (ERROR_REQUESTS as Partial<Record<ProblemCode, string>>)[code];
  return [
    `### ${code} · ${status} {#${code}}`,
    t(meaning),
    `**${t('Cause')}.** ${t(cause)}`,
    `**${t('Remedy')}.** ${t(remedy)}`,
    ...(request === undefined
      ? []
      : [
          `${t('A request that can get this error')}:`,
          block('http', request),
          `${t('The response')}:`,
          block('json', JSON.stringify(value, null, 2)),
        ]),
  ].join('\n\n');
}
