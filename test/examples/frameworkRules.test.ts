import { EXAMPLES } from './exampleProcess.js';
import { describeRules } from './exampleRules.js';

EXAMPLES.filter(({ needs }) => needs === 'node').forEach(describeRules);
