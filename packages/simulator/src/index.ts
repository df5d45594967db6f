export type { Fault, NewRule } from './faults.js';
export type { Message, RequestRecord } from './log.js';
export type { Receipt } from './receipts.js';
export type { SettingValues } from './settings.js';
export { startSimulator, type Simulator } from './simulator.js';
export type { BusinessAccountState, SenderState, TemplateState, TokenState } from './businessStates.js';
export type { NewThrottle, Throttle } from './throttles.js';
