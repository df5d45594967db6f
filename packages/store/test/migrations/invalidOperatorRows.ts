import { own } from './rowStatements.js';

const entry = (kind: string, action: string) =>
  `insert into audit_entries (actor_kind, actor_name, action) values ('${kind}', 'n', '${action}')`;
const held = (kind: string, target: string, reason = `'why'`) =>
  `insert into holds (kind, target, reason, set_by) values ('${kind}', '${target}', ${reason}, 'n')`;

/** `INVALID_ROWS` of what operators do. */
export const INVALID_OPERATOR_ROWS: [constraint: string, what: string, statement: string][] = [
  [
    'audit_entries_actor_kind_check',
    'an entry of an unknown kind of actor',
    entry('worker', 'account.credit'),
  ],
  ['audit_entries_action_check', 'an entry of an action without an area', entry('user', 'credit')],
  [
    'credit_grants_amount_check',
    'a grant of nothing',
    `insert into credit_grants select gen_random_uuid(), id, 0, 'why' from accounts limit 1`,
  ],
  ['holds_kind_check', 'a hold of an unknown kind', held('sender', '')],
  ['holds_target_check', 'a hold of everything with a target', held('live', 'BR')],
  ['holds_target_check', 'a hold of a country in words', held('country', 'Brazil')],
  ['holds_target_check', 'a hold of no account', held('account', '')],
  ['holds_reason_check', 'a hold without a reason', held('live', '', `''`)],
  ['holds_reason_check', 'a hold with an endless reason', held('live', '', `repeat('r', 201)`)],
  ['accounts_suspension_check', 'a suspension without a reason', own('suspended_at = now()')],
  ['accounts_suspension_check', 'a reason without a suspension', own(`suspension_reason = 'why'`)],
  [
    'accounts_suspension_reason_check',
    'a suspension with an empty reason',
    own(`suspended_at = now(), suspension_reason = ''`),
  ],
];
