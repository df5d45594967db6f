import { setTimeout as wait } from 'node:timers/promises';
import { CODE_CATEGORY, type Reported, type TemplateValues } from '@onecode/domain';
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
 * each, and yields them again until none waits for approval or `approvalMs` has passed.
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
    const facts = { seconds: codeValiditySeconds, most: FOOTER_MINUTES_MAX * 60 };
    for (const language of languages)
      yield step(`template_${language}`, 'needs_you', 'validity_not_in_minutes', facts);
    return;
  }

  const results = new Map<string, GraphResult>();
  for (const language of isDryRun ? [] : languages) {
    const before = findTemplate(known, language);
    if (needsWrite(options, before))
      results.set(language, await writeTemplate(call, options, language, before));
  }

  const read = async (otherwise: Templates): Promise<Templates> => {
    const result = await readTemplates(call, options, businessAccountId);
    return 'value' in result ? result.value : otherwise;
  };
  const stateOf = (language: string, templates: Templates): SetupStep => {
    const [before, now] = [findTemplate(known, language), findTemplate(templates, language)];
    if (isDryRun && needsWrite(options, before)) return planned(options, language, before);
    const result = results.get(language);
    // A new template may exist although the response to its creation was lost.
    const wasCreated = before === undefined && now !== undefined;
    return result !== undefined && 'failure' in result && !wasCreated
      ? refused(
          `template_${language}`,
          'Meta did not accept the template.',
          result,
          templatesPage(businessAccountId),
        )
      : judgeTemplate(options, language, now, result !== undefined);
  };
  const endsAt = performance.now() + (isDryRun ? 0 : approvalMs);
  const unwritten = known.filter(({ language }) => !results.has(language));
  let templates = results.size === 0 ? known : await read(unwritten);
  for (let pauseMs = READ_PAUSE_MS.first; ; pauseMs = Math.min(pauseMs * 1.5, READ_PAUSE_MS.max)) {
    const states = languages.map((language) => stateOf(language, templates));
    yield* states;
    if (states.every(({ status }) => status !== 'waiting') || performance.now() >= endsAt) return;
    await wait(pauseMs);
    templates = await read(templates);
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
  const text = found === undefined ? 'would_create_template' : 'would_change_template';
  return step(`template_${language}`, 'waiting', text, { template, language });
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

/** Returns the state of a template. One that Meta does not list yet was just created. */
function judgeTemplate(
  { businessAccountId, template, codeValiditySeconds }: SetupOptions,
  language: string,
  found: ReadTemplate | undefined,
  isNew: boolean,
): SetupStep {
  const name = `template_${language}`;
  const link = templatesPage(businessAccountId);
  const facts = { template, language };
  const { status, reason } = found?.values ?? {};
  const differences = found === undefined ? [] : differencesOf(found.values, codeValiditySeconds);
  if (differences.length > 0) {
    const differs = step(name, 'needs_you', 'template_differs', facts, link);
    return { ...differs, detail: `${differs.detail} Differences: ${differences.join(', ')}.` };
  }
  if (status === 'APPROVED') return step(name, isNew ? 'done' : 'already', 'template_approved', facts);
  if (status === undefined || status === 'PENDING' || status === 'IN_APPEAL')
    return step(name, 'waiting', 'template_pending', facts, link);
  const shown = reason ? `${status} (${reason})` : status;
  return step(name, 'needs_you', 'template_status', { ...facts, status: shown }, link);
}
