import { setTimeout as wait } from 'node:timers/promises';
import { CODE_CATEGORY, type TemplateValues } from '@onecode/domain';
import { readTemplates, type ReadTemplate } from '../graph.js';
import type { GraphCall, GraphFailure } from '../graphCalls.js';
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

/** The advice for templates in a status in which Meta does not send them. */
const STATUS_ADVICE: Readonly<Record<string, string>> = {
  REJECTED: 'Correct or appeal it in WhatsApp Manager, or use another name.',
  PAUSED:
    'Meta paused it because of negative feedback. It can be used again when the pause ends; see WhatsApp Manager.',
  DISABLED: 'It cannot be used again: use another name.',
  ARCHIVED: 'Unarchive it in WhatsApp Manager within 28 days, or use another name.',
  PENDING_DELETION: 'It is being deleted: use another name.',
  LIMIT_EXCEEDED: 'The business account has too many templates: delete unused ones in WhatsApp Manager.',
};

/** The advice for a refused template, by Meta's subcode or code. Source: Meta, "Error codes", template creation. */
const TEMPLATE_ADVICE: Readonly<Record<number, string>> = {
  2388019: 'Delete unused templates in WhatsApp Manager.',
  2388023: 'A template of this name was deleted less than 30 days ago: use another name.',
  2388039: 'Meta does not allow a change in this status: see WhatsApp Manager, or use another name.',
};
const ALREADY_EXISTS = 2388024;

/** Milliseconds between two reads of templates that wait for approval: the first, and the longest. */
const READ_PAUSE_MS = { first: 250, max: 5_000 };

/** Yields the states of the templates in these languages until each is approved, needs a person, or `approvalMs` has passed. */
export async function* provideTemplates(
  call: GraphCall,
  options: SetupOptions,
  languages: readonly string[],
  known: readonly ReadTemplate[],
): AsyncGenerator<SetupStep, void> {
  const { token, businessAccountId, codeValiditySeconds, approvalMs, template } = options;
  const minutes = codeValiditySeconds / 60;
  if (!Number.isInteger(minutes) || minutes > FOOTER_MINUTES_MAX) {
    const detail = `Codes are valid for ${codeValiditySeconds} seconds, which a template cannot state: set code_validity_seconds to whole minutes, up to ${FOOTER_MINUTES_MAX * 60}.`;
    for (const language of languages) yield step(`template_${language}`, 'needs_you', detail);
    return;
  }
  const made = new Set<string>();
  let pending: string[] = [];
  const judge = (language: string, found: ReadTemplate): SetupStep => {
    const state = judgeTemplate(options, found, made.has(language));
    if (state.status === 'waiting') pending.push(language);
    return state;
  };
  for (const language of languages) {
    const found = known.find((one) => one.language === language) ?? null;
    const provided = await provideTemplate(call, options, language, found);
    if ('made' in provided) {
      made.add(language);
      yield judge(language, provided.made);
    } else yield provided.step ?? judge(language, found as ReadTemplate);
  }
  const endsAt = performance.now() + approvalMs;
  let pauseMs = READ_PAUSE_MS.first;
  while (pending.length > 0 && !options.isDryRun && performance.now() < endsAt) {
    await wait(pauseMs);
    pauseMs = Math.min(pauseMs * 1.5, READ_PAUSE_MS.max);
    const read = await readTemplates(call, { token, template }, businessAccountId);
    if ('failure' in read) continue;
    const [waitedFor, states] = [pending, read.value];
    pending = [];
    for (const language of waitedFor) {
      const found = states.find((one) => one.language === language);
      if (found === undefined) pending.push(language);
      else {
        const state = judge(language, found);
        if (state.status !== 'waiting') yield state;
      }
    }
  }
}

/**
 * Creates a missing template, or changes one that differs if that is allowed. @returns the final step, the new template, or neither
 */
async function provideTemplate(
  call: GraphCall,
  options: SetupOptions,
  language: string,
  found: ReadTemplate | null,
): Promise<{ step: SetupStep | null } | { made: ReadTemplate }> {
  const { token, businessAccountId, template, codeValiditySeconds, isDryRun, mayChangeTemplates } = options;
  const name = `template_${language}`;
  // A template without a time to live can be used, but messages of an old template would be delivered for up to 30 days.
  const differs =
    found !== null &&
    (found.values.ttlSeconds === null || differencesOf(found.values, codeValiditySeconds).length > 0);
  // A change would replace the template's button, which names an app.
  const mayChange = mayChangeTemplates && found?.id !== null && found?.hasAppButton !== true;
  if (found !== null && !(differs && mayChange)) return { step: null };
  if (isDryRun) {
    const detail = `Would ${found === null ? 'create' : 'change'} the template ${template} (${language}).`;
    return { step: step(name, 'waiting', detail, found === null ? 'would_create_template' : null) };
  }
  const wanted = wantedTemplate(codeValiditySeconds);
  const [node, body] =
    found === null
      ? [`${businessAccountId}/message_templates`, { name: template, language, ...wanted }]
      : [found.id as string, wanted];
  const result = await call(token, node, { body });
  const read = 'failure' in result ? null : result.value;
  if (read === null) {
    // The call may have succeeded, although its response was lost.
    const again = await readTemplates(call, options, businessAccountId);
    const now = 'value' in again ? again.value.find((one) => one.language === language) : undefined;
    if (found === null && now !== undefined) return { made: now };
    return { step: templateRefused(name, result as GraphFailure, businessAccountId) };
  }
  const status = typeof read['status'] === 'string' ? read['status'] : 'PENDING';
  const category = typeof read['category'] === 'string' ? read['category'].toUpperCase() : CODE_CATEGORY;
  const values = {
    status,
    category,
    reason: null,
    ttlSeconds: wanted.message_send_ttl_seconds,
    codeExpirationMinutes: codeValiditySeconds / 60,
    hasCodeButton: true,
  };
  return { made: { id: found?.id ?? null, language, values, hasAppButton: false } };
}

function templateRefused(name: string, failure: GraphFailure, businessAccountId: string): SetupStep {
  const { code, subcode } = failure;
  const link = templatesPage(businessAccountId);
  const numbers = [subcode, code].filter((one) => one !== null);
  const advice = numbers.map((one) => TEMPLATE_ADVICE[one]).find((one) => one !== undefined);
  // Codes from 2388000 are about the template. Meta's message explains the necessary change.
  const isAboutTemplate = numbers.some(
    (one) => one >= 2_388_000 && one < 2_389_000 && one !== ALREADY_EXISTS,
  );
  return refused(
    name,
    'Meta did not accept the template.',
    failure,
    advice !== undefined || isAboutTemplate
      ? { status: 'needs_you', advice: advice ?? '', link }
      : adviceOn(failure),
  );
}

function judgeTemplate(
  { businessAccountId, template, codeValiditySeconds }: SetupOptions,
  { language, values, hasAppButton }: ReadTemplate,
  isNew: boolean,
): SetupStep {
  const name = `template_${language}`;
  const link = templatesPage(businessAccountId);
  const title = `The template ${template} (${language})`;
  const differences = differencesOf(values, codeValiditySeconds);
  if (differences.length > 0) {
    const remedy = hasAppButton ? 'or change it in WhatsApp Manager' : 'or allow the change';
    const detail = `${title} exists and was not changed: ${differences.join(', ')}. Use another name, ${remedy}.`;
    return step(name, 'needs_you', detail, 'template_differs', link);
  }
  switch (values.status) {
    case 'APPROVED':
      return step(name, isNew ? 'done' : 'already', `${title} is approved.`, 'template_approved');
    case 'PENDING':
    case 'IN_APPEAL':
    case undefined:
      return step(name, 'waiting', `${title} waits for Meta’s approval.`, 'template_pending', link);
    default: {
      const reason = values.reason ? ` (${values.reason})` : '';
      const advice = STATUS_ADVICE[values.status] ?? 'See WhatsApp Manager.';
      return step(
        name,
        'needs_you',
        `${title} is ${values.status}${reason}. ${advice}`,
        values.status === 'REJECTED' ? 'template_rejected' : null,
        link,
      );
    }
  }
}
