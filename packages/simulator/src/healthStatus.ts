import type { BusinessAccountProfile } from './businessAccounts.js';
import type { PortfolioState } from './portfolio.js';
import type { SenderProfile } from './senders.js';

type CanSend = 'AVAILABLE' | 'LIMITED' | 'BLOCKED';

interface Entity {
  entity_type: 'PHONE_NUMBER' | 'WABA' | 'BUSINESS' | 'APP';
  id: string;
  can_send_message: CanSend;
  additional_info?: string[];
  errors?: { error_code: number; error_description: string; possible_solution: string }[];
}

const SEVERITY: Readonly<Record<CanSend, number>> = { AVAILABLE: 0, LIMITED: 1, BLOCKED: 2 };

/**
 * The `health_status` of a number, or of a business account where no number is given: every entity that a send passes
 * through, and the worst of them as the whole.
 * Source: https://developers.facebook.com/docs/whatsapp/cloud-api/health-status
 */
export function healthStatus(
  portfolio: PortfolioState,
  account: BusinessAccountProfile,
  sender: SenderProfile | null,
) {
  const entities = [
    ...(sender ? [senderHealth(sender)] : []),
    accountHealth(account),
    businessHealth(portfolio),
    entity('APP', portfolio.appId),
  ];
  const [worst] = entities.toSorted(
    (one, other) => SEVERITY[other.can_send_message] - SEVERITY[one.can_send_message],
  );
  return { can_send_message: worst?.can_send_message ?? 'AVAILABLE', entities };
}

function senderHealth(sender: SenderProfile): Entity {
  const { phoneNumberId: id, status } = sender;
  if (status === 'FLAGGED' || status === 'RATE_LIMITED')
    return limited('PHONE_NUMBER', id, `The phone number's status is ${status}.`);
  if (status !== 'CONNECTED')
    return blocked('PHONE_NUMBER', id, {
      error_code: 141_002,
      error_description: `The phone number's status is ${status}.`,
      possible_solution: 'Check the phone number in WhatsApp Manager.',
    });
  if (sender.nameStatus !== 'APPROVED' && sender.nameStatus !== 'AVAILABLE_WITHOUT_REVIEW')
    return limited(
      'PHONE_NUMBER',
      id,
      'Your display name has not been approved yet. Your message limit will increase after the display name is approved.',
    );
  return entity('PHONE_NUMBER', id);
}

function accountHealth({ id, condition }: BusinessAccountProfile): Entity {
  if (condition === 'active') return entity('WABA', id);
  if (condition === 'payment_issue')
    return blocked('WABA', id, {
      error_code: 141_006,
      error_description:
        'There is an error with the payment method. This will block business initiated conversations.',
      possible_solution:
        'There was an error with your payment method. Please add a new payment method to the account.',
    });
  return blocked('WABA', id, {
    error_code: 141_001,
    error_description: `The WhatsApp Business account is ${condition} for violating a policy.`,
    possible_solution: 'Request a review in Business Support Home.',
  });
}

function businessHealth({ id, verificationStatus }: PortfolioState): Entity {
  return verificationStatus === 'VERIFIED'
    ? entity('BUSINESS', id)
    : {
        ...entity('BUSINESS', id, 'LIMITED'),
        errors: [
          {
            error_code: 141_010,
            error_description: 'The Business has not passed business verification.',
            possible_solution:
              'Visit business settings and start or resolve the business verification request.',
          },
        ],
      };
}

function entity(type: Entity['entity_type'], id: string, canSend: CanSend = 'AVAILABLE'): Entity {
  return { entity_type: type, id, can_send_message: canSend };
}

function limited(type: Entity['entity_type'], id: string, info: string): Entity {
  return { ...entity(type, id, 'LIMITED'), additional_info: [info] };
}

function blocked(
  type: Entity['entity_type'],
  id: string,
  error: NonNullable<Entity['errors']>[number],
): Entity {
  return { ...entity(type, id, 'BLOCKED'), errors: [error] };
}
