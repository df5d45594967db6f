import { databaseAddress, DATABASE_POOLER, oneOf, text } from './config.js';
import { LOG_LEVELS } from './log.js';
import { METRICS_ADDRESS } from './metrics.js';
import { REDIS_ADDRESS } from './redis/address.js';
import { TRACING } from './tracing.js';

/** The environment variables of the API, the worker and the console. */
export const COMMON_VARIABLES = {
  DATABASE_URL: databaseAddress(),
  DATABASE_POOLER,
  ...REDIS_ADDRESS,
  QUEUE_PREFIX: text('onecode'),
  ...METRICS_ADDRESS,
  LOG_LEVEL: oneOf(LOG_LEVELS, 'info'),
  ...TRACING,
};
