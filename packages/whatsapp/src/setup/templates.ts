import { setTimeout as wait } from 'node:timers/promises';
import {
  CODE_CATEGORY,
  findValidityConflict,
  mergeFacts,
  type Reported,
  type TemplateValues,
} from '@onecode/domain';
import type { GraphCall, GraphFailure } from '../client.js';
import { readTemplates, type ReadTemplate } from '../graph.js';
import { refused, step, templatesPage, type SetupOptions, type SetupStep } from './steps.js';

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

/** A template of the setup in one language. */
interface Provided {
  language: string;
  /** The change that it needs; it is only planned in a dry run. */
  change: 'create' | 'change' | null;
  /** Why Meta did not accept the change. */
  refusal: GraphFailure | null;
  /** As Meta listed it last; undefined if it was not listed since its change. */
  now: ReadTemplate | undefined;
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
  const { codeValiditySeconds, approvalMs, isDryRun } = options;
  const minutes = codeValiditySeconds / 60;
  if (!Number.isInteger(minutes) || minutes > FOOTER_MINUTES_MAX) {
    const facts = { seconds: codeValiditySeconds, most: FOOTER_MINUTES_MAX * 60 };
    for (const language of languages)
      yield step(`template_${language}`, 'needs_you', 'validity_not_in_minutes', facts);
    return;
  }

  const templates: Provided[] = [];
  for (const language of languages) {
    const before = known.find((template) => template.language === language);
    templates.push(await provideTemplate(call, options, language, before));
  }
  const readAgain = async (): Promise<void> => {
    const read = await readTemplates(call, options);
    if ('failure' in read) return;
    for (const template of templates)
      template.now = read.value.find(({ language }) => language === template.language);
  };
  if (templates.some(({ change }) => change !== null) && !isDryRun) await readAgain();
  const endsAt = performance.now() + (isDryRun ? 0 : approvalMs);
  for (let pauseMs = READ_PAUSE_MS.first; ; pauseMs = Math.min(pauseMs * 1.5, READ_PAUSE_MS.max)) {
    const states = templates.map((template) => stateOf(options, template));
    yield* states;
    if (states.every(({ status }) => status !== 'waiting') || performance.now() >= endsAt) return;
    await wait(pauseMs);
    await readAgain();
  }
}

/** Creates a template that is missing, and changes one that differs if that is allowed. */
async function provideTemplate(
  call: GraphCall,
  options: SetupOptions,
  language: string,
  before: ReadTemplate | undefined,
): Promise<Provided> {
  const { token, businessAccountId, template: name, codeValiditySeconds, isDryRun } = options;
  const change = changeOf(options, before);
  if (change === null || isDryRun) return { language, change, refusal: null, now: before };
  const wanted = wantedTemplate(codeValiditySeconds);
  const result = await (before?.id == null
    ? call(token, `${businessAccountId}/message_templates`, { body: { name, language, ...wanted } })
    : call(token, before.id, { body: wanted }));
  return { language, change, refusal: 'failure' in result ? result : null, now: undefined };
}

function changeOf(
  { codeValiditySeconds, mayChangeTemplates }: SetupOptions,
  found: ReadTemplate | undefined,
): Provided['change'] {
  if (found === undefined) return 'create';
  // A change would replace the template's button, which names an app.
  if (!mayChangeTemplates || found.id === null || found.hasAppButton) return null;
  // A template without a time to live can be used, but messages of an old template would be delivered for up to 30 days.
  const differs =
    found.values.ttlSeconds === null || differencesOf(found.values, codeValiditySeconds).length > 0;
  return differs ? 'change' : null;
}

function stateOf(
  { businessAccountId, template, codeValiditySeconds, isDryRun }: SetupOptions,
  { language, change, refusal, now }: Provided,
): SetupStep {
  const name = `template_${language}`;
  const link = templatesPage(businessAccountId);
  const facts = { template, language };
  if (isDryRun && change !== null) return step(name, 'waiting', `would_${change}_template`, facts);
  // A new template may exist although the response to its creation was lost.
  const wasCreated = change === 'create' && now !== undefined;
  if (refusal !== null && !wasCreated) return refused(name, refusal, link);

  const { status, reason } = now?.values ?? {};
  const differences = now === undefined ? [] : differencesOf(now.values, codeValiditySeconds);
  if (differences.length > 0) {
    const differs = step(name, 'needs_you', 'template_differs', facts, link);
    return { ...differs, detail: `${differs.detail} Differences: ${differences.join(', ')}.` };
  }
  if (status === 'APPROVED')
    return step(name, change === null ? 'already' : 'done', 'template_approved', facts);
  if (status === undefined || status === 'PENDING' || status === 'IN_APPEAL')
    return step(name, 'waiting', 'template_pending', facts, link);
  const shown = reason ? `${status} (${reason})` : status;
  return step(name, 'needs_you', 'template_status', { ...facts, status: shown }, link);
}
