import { setTimeout as wait } from 'node:timers/promises';
import { CODE_CATEGORY, type TemplateValues } from '@onecode/domain';
import { readTemplates, type ReadTemplate } from '../graph.js';
import type { GraphCall, GraphFailure, GraphResult } from '../graphCalls.js';
import type { SetupOptions } from './options.js';
import { adviceOn, refused, step, templatesPage, type SetupStep } from './steps.js';

/** Returns the English language in which the template exists; `en` if it exists in none or in both. */
export const existingEnglish = (templates: readonly ReadTemplate[]): 'en' | 'en_US' =>
  templates.some(({ language }) => language === 'en_US') &&
  !templates.some(({ language }) => language === 'en')
    ? 'en_US'
    : 'en';

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
function differencesOf(values: Partial<TemplateValues>, codeValiditySeconds: number): string[] {
  const { category, ttlSeconds, codeExpirationMinutes, hasCodeButton } = values;
  const minutes = codeValiditySeconds / 60;
  return [
    ...(category === undefined || category === CODE_CATEGORY ? [] : [`its category is ${category}`]),
    ...(codeExpirationMinutes === minutes
      ? []
      : [
          codeExpirationMinutes == null
            ? `its footer does not say that codes are valid for ${minutes} minutes`
            : `its footer says ${codeExpirationMinutes} minutes, and codes are valid for ${minutes}`,
        ]),
    ...(ttlSeconds != null && ttlSeconds > codeValiditySeconds
      ? [
          `its messages are delivered for up to ${ttlSeconds} seconds, but codes are valid for ${codeValiditySeconds}`,
        ]
      : []),
    ...(hasCodeButton === true ? [] : ['it has no button for the code']),
  ];
}

/** Milliseconds between two reads of templates that wait for approval: the first, and the longest. */
const READ_PAUSE_MS = { first: 250, max: 5_000 };

type Templates = readonly ReadTemplate[];
const findTemplate = (templates: Templates, language: string): ReadTemplate | undefined =>
  templates.find((template) => template.language === language);

/**
 * Creates the templates that are missing in these languages, and changes those that differ if that is allowed. Then yields the state of
 * each, until none waits for approval or `approvalMs` has passed.
 */
export async function* provideTemplates(
  call: GraphCall,
  options: SetupOptions,
  languages: readonly string[],
  known: Templates,
): AsyncGenerator<SetupStep, void> {
  const { businessAccountId, codeValiditySeconds, approvalMs, isDryRun } = options;
  const minutes = codeValiditySeconds / 60;
  if (!Number.isInteger(minutes) || minutes > FOOTER_MINUTES_MAX) {
    const detail = `Codes are valid for ${codeValiditySeconds} seconds, which a template cannot state: set code_validity_seconds to whole minutes, up to ${FOOTER_MINUTES_MAX * 60}.`;
    for (const language of languages) yield step(`template_${language}`, 'needs_you', detail);
    return;
  }

  const results = new Map<string, GraphResult>();
  for (const language of languages) {
    const before = findTemplate(known, language);
    if (needsWrite(options, before) && !isDryRun)
      results.set(language, await writeTemplate(call, options, language, before));
  }
  const read = async (): Promise<Templates | null> => {
    const result = await readTemplates(call, options, businessAccountId);
    return 'value' in result ? result.value : null;
  };
  const stateOf = (templates: Templates, language: string): SetupStep => {
    const before = findTemplate(known, language);
    if (isDryRun && needsWrite(options, before)) return planned(options, language, before);
    const result = results.get(language);
    const now = findTemplate(templates, language);
    // A new template may exist although the response to its creation was lost.
    const wasCreated = before === undefined && now !== undefined;
    return result !== undefined && 'failure' in result && !wasCreated
      ? templateRefused(language, result, businessAccountId)
      : judgeTemplate(options, language, now, result !== undefined);
  };
  const endsAt = performance.now() + (isDryRun ? 0 : approvalMs);
  const unwritten = known.filter(({ language }) => !results.has(language));
  let templates = results.size === 0 ? known : ((await read()) ?? unwritten);
  let waiting: readonly string[] = languages;
  for (let pauseMs = READ_PAUSE_MS.first; ; pauseMs = Math.min(pauseMs * 1.5, READ_PAUSE_MS.max)) {
    const states = waiting.map((language) => stateOf(templates, language));
    const isFirst = waiting === languages;
    yield* states.filter(({ status }) => isFirst || status !== 'waiting');
    waiting = waiting.filter((_, index) => states[index]?.status === 'waiting');
    if (waiting.length === 0 || performance.now() >= endsAt) return;
    await wait(pauseMs);
    templates = (await read()) ?? templates;
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

function planned({ template }: SetupOptions, language: string, found: ReadTemplate | undefined): SetupStep {
  const detail = `Would ${found === undefined ? 'create' : 'change'} the template ${template} (${language}).`;
  return step(
    `template_${language}`,
    'waiting',
    detail,
    found === undefined ? 'would_create_template' : null,
  );
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

function templateRefused(language: string, failure: GraphFailure, businessAccountId: string): SetupStep {
  const advice = adviceOn(failure);
  // Codes from 2388000 are about the template. Meta's message explains the necessary change.
  const isAboutTemplate = [failure.subcode, failure.code].some(
    (code) => code !== null && code >= 2_388_000 && code < 2_389_000,
  );
  return refused(
    `template_${language}`,
    'Meta did not accept the template.',
    failure,
    isAboutTemplate ? { ...advice, status: 'needs_you', link: templatesPage(businessAccountId) } : advice,
  );
}

/** Returns the state of a template. One that Meta does not list yet was just created. */
function judgeTemplate(
  { businessAccountId, template, codeValiditySeconds }: SetupOptions,
  language: string,
  found: ReadTemplate | undefined,
  isNew: boolean,
): SetupStep {
  const name = `template_${language}`;
  const link = templatesPage(businessAccountId);
  const title = `The template ${template} (${language})`;
  const status = found?.values.status;
  const differences = found === undefined ? [] : differencesOf(found.values, codeValiditySeconds);
  if (differences.length > 0) {
    const remedy = found?.hasAppButton ? 'or change it in WhatsApp Manager' : 'or allow the change';
    const detail = `${title} exists and was not changed: ${differences.join(', ')}. Use another name, ${remedy}.`;
    return step(name, 'needs_you', detail, 'template_differs', link);
  }
  if (status === 'APPROVED')
    return step(name, isNew ? 'done' : 'already', `${title} is approved.`, 'template_approved');
  if (status === undefined || status === 'PENDING' || status === 'IN_APPEAL')
    return step(name, 'waiting', `${title} waits for Meta’s approval.`, 'template_pending', link);
  const reason = found?.values.reason ? ` (${found.values.reason})` : '';
  return step(
    name,
    'needs_you',
    `${title} is ${status}${reason}. Do what WhatsApp Manager asks for, or use another name.`,
    status === 'REJECTED' ? 'template_rejected' : null,
    link,
  );
}
