import type { DenialCount, Overview, SendStatistics } from '@onecode/store';
import type { Json } from '../../http/json.js';

/** Counts and shares of some sends. Shares lie between 0 and 1, and are null without any send. */
export type StatisticsView = SendStatistics;

/** People who said that they did not request a code, by application and country, most first. */
export type DenialView = DenialCount;

export type OverviewView = Json<Overview> & { denials: DenialView[] };
