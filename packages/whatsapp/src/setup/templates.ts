import { checkReading, CODE_CATEGORY, type PreflightResult, type SenderReading } from '@onecode/domain';
import type { GraphCall, GraphFailure } from '../client.js';
import type { ReadTemplate } from '../graph.js';
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

/** A template of the setup in one language. */
export interface ProvidedTemplate {
  language: string;
  /** The change that it needs; it is only planned in a dry run. */
  change: 'create' | 'change' | null;
  /** Why Meta did not accept the change. */
  refusal: GraphFailure | null;
}

/** Creates a template that is missing in a language, and changes one that differs if that is allowed. */
export async function provideTemplate(
  call: GraphCall,
  options: SetupOptions,
  language: string,
  templates: readonly ReadTemplate[],
): Promise<ProvidedTemplate> {
  const { token, businessAccountId, template: name, codeValiditySeconds, isDryRun } = options;
  const before = templates.find((template) => template.language === language);
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
): ProvidedTemplate['change'] {
  if (found === undefined) return 'create';
  // A change would replace the template's button, which names an app.
  if (!options.mayChangeTemplates || found.id === null || found.hasAppButton) return null;
  const isCorrectable = ({ name }: PreflightResult): boolean =>
    // A footer has whole minutes, so it would differ from any other validity again.
    CORRECTABLE.has(name) && (name !== 'footer_differs' || options.codeValiditySeconds % 60 === 0);
  return checkTemplate(options, language, { templates: [found] }).some(isCorrectable) ? 'change' : null;
}

/** Returns the results of the checks of one language. */
function checkTemplate(
  options: SetupOptions,
  language: string,
  reading: Partial<SenderReading>,
): PreflightResult[] {
  const usable = language === 'pt_BR' ? 'template_pt_br' : 'template_en';
  const english = language === 'en_US' ? 'en_US' : 'en';
  return checkReading(reading, { ...options, english }, usable, 'template_ttl', 'template_footer');
}

/** Returns the state of a template. @param reading what Meta has now */
export function templateStep(
  options: SetupOptions,
  { language, change, refusal }: ProvidedTemplate,
  reading: SenderReading,
): SetupStep {
  const { template, codeValiditySeconds: seconds, isDryRun } = options;
  const name = `template_${language}`;
  if (change !== null && isDryRun)
    return step(name, 'waiting', `would_${change}_template`, { template, language });
  const found = reading.templates?.find((one) => one.language === language);
  // A new template may exist although the response to its creation was lost.
  if (refusal !== null && (change === 'change' || found === undefined)) return refused(name, refusal);
  // All checks have the same reason.
  if (reading.templates === null) return checked(name, checkTemplate(options, language, reading).slice(0, 1));
  // Meta does not list a new template at once.
  const values = { status: 'PENDING', ttlSeconds: seconds, codeExpirationMinutes: seconds / 60 };
  const now = found ?? { language, values };
  return checked(name, checkTemplate(options, language, { templates: [now] }), change !== null);
}
