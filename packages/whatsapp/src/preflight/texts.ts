import type { PreflightCheck, PreflightFinding } from '@onecode/domain';

/** The sentences of the preflight in one language. `{name}` stands for a fact of the finding. */
export interface PreflightTexts {
  fine: Record<PreflightCheck, string>;
  /** What is wrong, and what to do. */
  findings: Record<Exclude<PreflightFinding, 'fine'>, string>;
}
