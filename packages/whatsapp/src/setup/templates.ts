import { setTimeout as wait } from 'node:timers/promises';
import {
  CODE_CATEGORY,
  findValidityConflict,
  mergeFacts,
  type Reported,
  type TemplateValues,
} from '@onecode/domain';
import { readTemplates, type ReadTemplate } from '../graph.js';
import type { GraphCall, GraphResult } from '../client.js';
import type { SetupOptions } from './options.js';
import { refused, step, templatesPage, type SetupStep } from './steps.js';

/** Limits of a template. Source: Meta, "Authentication templates": the footer has 1 to 90 minutes, the time to live 30 to 900 seconds. */
const FOOTER_MINUTES_MAX = 90;
const TTL_SECONDS_MAX = 900;

/** Returns the template that the setup creates. Source: Meta, "Copy code button authentication templates". */
const wantedTemplate = (codeValiditySeconds: number) => ({
  category: CODE_CATEGORY,
  message_send_ttl_seconds: Math.min(codeValiditySeconds, TTL_SECONDS_MAX),
  components: [
    { type: 'BODY', add_security_recommendation: true },
    { type: 'FOOTER', code_expiration_minutes: codeValiditySeconds / 60 },
    { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE' }] },
  ],
});

/** Returns how an existing template differs from the wanted one. */
function differencesOf(values: Reported<TemplateValues>, codeValiditySeconds: number): string[] {
  const facts = mergeFacts<TemplateValues>({}, values, new Date(), 'read');
  const { footerMinutes, ttlSeconds } = findValidityConflict(facts, codeValiditySeconds) ?? {};
  const footer = footerMinutes === null ? 'has no validity' : `says ${footerMinutes} minutes`;
  const valid = `codes are valid for ${codeValiditySeconds / 60} minutes`;
  const { category = CODE_CATEGORY, hasCodeButton } = values;
  const rules: [isBroken: boolean, difference: string][] = [
    [category !== CODE_CATEGORY, `its category is ${category}`],
    [footerMinutes !== undefined, `its footer ${footer}, and ${valid}`],
    [ttlSeconds !== undefined, `its messages are delivered for up to ${ttlSeconds} seconds, but ${valid}`],
    [hasCodeButton !== true, 'it has no button for the code'],
  ];
  return rules.flatMap(([isBroken, difference]) => (isBroken ? [difference] : []));
}

/** Milliseconds between two reads of templates that wait for approval: the first, and the longest. */
const READ_PAUSE_MS = { first: 250, max: 5_000 };

/** A template of the setup. */
interface Provided {
  language: string;
  before: ReadTemplate | undefined;
  isToWrite: boolean;
  /** The result of its creation or change; null if it was not written. */
  result: GraphResult | null;
}

/**
 * Creates the templates that are missing in these languages, and changes those that differ if that is allowed. Then yields the state of
 * each, and yields them again until none waits for approval or `approvalMs` has passed.
 */
export async function* provideTemplates(
  call: GraphCall,
  options: SetupOptions,
  languages: readonly string[],
  known: readonly ReadTemplate[],
): AsyncGenerator<SetupStep, void> {
  const { businessAccountId, codeValiditySeconds, approvalMs, isDryRun } = options;
  const minutes = codeValiditySeconds / 60;
  if (!Number.isInteger(minutes) || minutes > FOOTER_MINUTES_MAX) {
    const facts = { seconds: codeValiditySeconds, most: FOOTER_MINUTES_MAX * 60 };
    for (const language of languages)
      yield step(`template_${language}`, 'needs_you', 'validity_not_in_minutes', facts);
    return;
  }

  const provided: Provided[] = [];
  for (const language of languages) {
    const before = known.find((template) => template.language === language);
    const isToWrite = needsWrite(options, before);
    const result = isToWrite && !isDryRun ? await writeTemplate(call, options, language, before) : null;
    provided.push({ language, before, isToWrite, result });
  }

  const written = provided.filter(({ result }) => result !== null).map(({ language }) => language);
  let templates = known.filter(({ language }) => !written.includes(language));
  const read = async (): Promise<void> => {
    const result = await readTemplates(call, options, businessAccountId);
    if ('value' in result) templates = result.value;
  };
  if (written.length > 0) await read();
  const endsAt = performance.now() + (isDryRun ? 0 : approvalMs);
  for (let pauseMs = READ_PAUSE_MS.first; ; pauseMs = Math.min(pauseMs * 1.5, READ_PAUSE_MS.max)) {
    const states = provided.map((one) =>
      stateOf(
        options,
        one,
        templates.find(({ language }) => language === one.language),
      ),
    );
    yield* states;
    if (states.every(({ status }) => status !== 'waiting') || performance.now() >= endsAt) return;
    await wait(pauseMs);
    await read();
  }
}

/** Returns whether a template is missing, or differs and may be changed. */
function needsWrite(
  { codeValiditySeconds, mayChangeTemplates }: SetupOptions,
  found: ReadTemplate | undefined,
): boolean {
  if (found === undefined) return true;
  // A change would replace the template's button, which names an app.
  if (!mayChangeTemplates || found.id === null || found.hasAppButton) return false;
  // A template without a time to live can be used, but messages of an old template would be delivered for up to 30 days.
  return found.values.ttlSeconds === null || differencesOf(found.values, codeValiditySeconds).length > 0;
}

/** Creates a template, or changes an existing one. */
function writeTemplate(
  call: GraphCall,
  { token, businessAccountId, template, codeValiditySeconds }: SetupOptions,
  language: string,
  found: ReadTemplate | undefined,
): Promise<GraphResult> {
  const wanted = wantedTemplate(codeValiditySeconds);
  return found?.id == null
    ? call(token, `${businessAccountId}/message_templates`, { body: { name: template, language, ...wanted } })
    : call(token, found.id, { body: wanted });
}

/** Returns the state of a template. @param now as read last; undefined if Meta does not list it, as if it was just created */
function stateOf(
  { businessAccountId, template, codeValiditySeconds, isDryRun }: SetupOptions,
  { language, before, isToWrite, result }: Provided,
  now: ReadTemplate | undefined,
): SetupStep {
  const name = `template_${language}`;
  const link = templatesPage(businessAccountId);
  const facts = { template, language };
  if (isDryRun && isToWrite) {
    const text = before === undefined ? 'would_create_template' : 'would_change_template';
    return step(name, 'waiting', text, facts);
  }
  // A new template may exist although the response to its creation was lost.
  const wasCreated = before === undefined && now !== undefined;
  if (result !== null && 'failure' in result && !wasCreated)
    return refused(name, 'Meta did not accept the template.', result, link);

  const { status, reason } = now?.values ?? {};
  const differences = now === undefined ? [] : differencesOf(now.values, codeValiditySeconds);
  if (differences.length > 0) {
    const differs = step(name, 'needs_you', 'template_differs', facts, link);
    return { ...differs, detail: `${differs.detail} Differences: ${differences.join(', ')}.` };
  }
  if (status === 'APPROVED')
    return step(name, result === null ? 'already' : 'done', 'template_approved', facts);
  if (status === undefined || status === 'PENDING' || status === 'IN_APPEAL')
    return step(name, 'waiting', 'template_pending', facts, link);
  const shown = reason ? `${status} (${reason})` : status;
  return step(name, 'needs_you', 'template_status', { ...facts, status: shown }, link);
}
