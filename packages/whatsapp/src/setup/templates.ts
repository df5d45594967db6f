import { setTimeout as wait } from 'node:timers/promises';
import { checkReading, CODE_CATEGORY, type PreflightResult } from '@onecode/domain';
import type { GraphCall, GraphFailure } from '../client.js';
import { readTemplates, type ReadTemplate } from '../graph.js';
import { checked, refused, step, type SetupOptions, type SetupStep } from './steps.js';

/** Returns the template that the setup creates. Source: Meta, "Copy code button authentication templates". */
const wantedTemplate = (codeValiditySeconds: number) => ({
  category: CODE_CATEGORY,
  // Meta accepts at most 15 minutes.
  message_send_ttl_seconds: Math.min(codeValiditySeconds, 900),
  components: [
    { type: 'BODY', add_security_recommendation: true },
    // In whole minutes: the checks report the difference from other validities.
    { type: 'FOOTER', code_expiration_minutes: Math.max(1, Math.floor(codeValiditySeconds / 60)) },
    { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE' }] },
  ],
});

/** Results of the preflight that a change of the template corrects. */
const CORRECTABLE: ReadonlySet<string> = new Set<PreflightResult['name']>([
  'template_category',
  'template_button',
  'ttl_too_long',
  'ttl_unknown',
  'footer_differs',
]);

/** Meta approves most templates for codes within seconds, and limits calls per hour. */
const READ_PAUSE_MS = 3_000;

/** A template of the setup in one language. */
interface Provided {
  language: string;
  /** The change that it needs; it is only planned in a dry run. */
  change: 'create' | 'change' | null;
  /** Why Meta did not accept the change. */
  refusal: GraphFailure | null;
}

/**
 * Creates the templates that are missing in these languages, and changes those that differ if that is allowed. Then yields the state of
 * each, and yields them again until none waits for approval or `approvalMs` has passed.
 */
export async function* provideTemplates(
  call: GraphCall,
  options: SetupOptions,
  languages: readonly string[],
  before: readonly ReadTemplate[],
): AsyncGenerator<SetupStep, void> {
  const templates: Provided[] = [];
  for (const language of languages)
    templates.push(await provideTemplate(call, options, language, findLanguage(before, language)));
  const { approvalMs, isDryRun } = options;
  const endsAt = performance.now() + (isDryRun ? 0 : approvalMs);
  // A changed template is pending until Meta has been read again.
  const isChanged = (language: string): boolean =>
    templates.some((one) => one.language === language && one.change === 'change' && one.refusal === null);
  let now = isDryRun ? before : before.filter(({ language }) => !isChanged(language));
  let isCurrent = isDryRun || templates.every(({ change }) => change === null);
  for (;;) {
    const read = isCurrent ? null : await readTemplates(call, options);
    if (read !== null && 'value' in read) now = read.value;
    const states = templates.map((one) => stateOf(options, one, findLanguage(now, one.language)));
    yield* states;
    if (states.every(({ status }) => status !== 'waiting') || performance.now() >= endsAt) return;
    await wait(READ_PAUSE_MS);
    isCurrent = false;
  }
}

const findLanguage = (templates: readonly ReadTemplate[], wanted: string): ReadTemplate | undefined =>
  templates.find(({ language }) => language === wanted);

/** Creates a template that is missing, and changes one that differs if that is allowed. */
async function provideTemplate(
  call: GraphCall,
  options: SetupOptions,
  language: string,
  before: ReadTemplate | undefined,
): Promise<Provided> {
  const { token, businessAccountId, template: name, codeValiditySeconds, isDryRun } = options;
  const change = changeOf(options, language, before);
  if (change === null || isDryRun) return { language, change, refusal: null };
  const wanted = wantedTemplate(codeValiditySeconds);
  const result = await (before?.id == null
    ? call(token, `${businessAccountId}/message_templates`, { body: { name, language, ...wanted } })
    : call(token, before.id, { body: wanted }));
  return { language, change, refusal: 'failure' in result ? result : null };
}

function changeOf(
  options: SetupOptions,
  language: string,
  found: ReadTemplate | undefined,
): Provided['change'] {
  if (found === undefined) return 'create';
  // A change would replace the template's button, which names an app.
  if (!options.mayChangeTemplates || found.id === null || found.hasAppButton) return null;
  const isCorrectable = ({ name }: PreflightResult): boolean =>
    // A footer has whole minutes, so it would differ from any other validity again.
    CORRECTABLE.has(name) && (name !== 'footer_differs' || options.codeValiditySeconds % 60 === 0);
  return checkTemplate(options, language, found).some(isCorrectable) ? 'change' : null;
}

/** Returns the results of the checks of one language. */
function checkTemplate(options: SetupOptions, language: string, template: ReadTemplate): PreflightResult[] {
  const usable = language === 'pt_BR' ? 'template_pt_br' : 'template_en';
  const english = language === 'en_US' ? 'en_US' : 'en';
  const results = checkReading({ templates: { value: [template] } }, { ...options, english });
  return results.filter(({ check }) => [usable, 'template_ttl', 'template_footer'].includes(check));
}

function stateOf(
  options: SetupOptions,
  { language, change, refusal }: Provided,
  now: ReadTemplate | undefined,
): SetupStep {
  const { template, codeValiditySeconds: seconds, isDryRun } = options;
  const name = `template_${language}`;
  if (change !== null && isDryRun)
    return step(name, 'waiting', `would_${change}_template`, { template, language });
  // A new template may exist although the response to its creation was lost.
  if (refusal !== null && (change === 'change' || now === undefined)) return refused(name, refusal);
  // Meta does not list a new template at once.
  const values = { status: 'PENDING', ttlSeconds: seconds, codeExpirationMinutes: seconds / 60 };
  const pending = { id: null, language, values, hasAppButton: false };
  return checked(name, checkTemplate(options, language, now ?? pending), change !== null);
}
