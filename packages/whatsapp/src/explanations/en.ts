import type { ExplanationTexts, Texts } from './texts.js';

const NEW_TOKEN = 'Give the sender a new access token, then resume it.';
const PERMISSIONS =
  'In Meta’s business settings, give the token’s system user the permission whatsapp_business_messaging for this account, then resume the sender.';
const ACCOUNT_QUALITY =
  'Open the account quality page of the business in Meta’s Business Suite, do what it asks for or request a review; meanwhile, use senders of another business.';
const CHECK_NUMBER = 'Check the number in WhatsApp Manager, register it again, then resume the sender.';
const PIN =
  'Reset the two-step PIN of the number in WhatsApp Manager, register it again, then resume the sender.';
const OUR_REQUEST =
  'This is a fault of the service itself: report the code and the time to its developers. Other sends are not affected.';
const RETRIED = 'The send is retried automatically. If this happens to many sends, check Meta’s status page.';
const TEMPLATE_MANAGER =
  'Open the template in WhatsApp Manager, fix what it reports, wait for approval, then resume the sender.';
const TEMPLATE_FORM =
  'Use an authentication template with one code and one copy-code or one-tap button, have it approved, then resume the sender.';
const OTHER_NUMBER = 'Ask the person for another number, or contact them in another way.';
const MARKETING =
  'Check that the template’s category is still authentication and not marketing, then resume the sender.';

const codes: readonly (readonly [number, Texts])[] = [
  [0, ['WhatsApp no longer accepts the sender’s access token.', NEW_TOKEN]],
  [3, ['The sender’s access token lacks a capability.', PERMISSIONS]],
  [10, ['A permission of the sender’s access token was never granted or was taken away.', PERMISSIONS]],
  [104, ['WhatsApp found no access token in the request.', NEW_TOKEN]],
  [190, ['The sender’s access token has expired or is not valid.', NEW_TOKEN]],
  [200, ['The sender’s access token lacks a permission.', PERMISSIONS]],
  [131005, ['The sender’s access token may not send messages.', PERMISSIONS]],

  [368, ['WhatsApp has restricted the sender’s business for violating a policy.', ACCOUNT_QUALITY]],
  [131031, ['WhatsApp has locked the sender’s business account.', ACCOUNT_QUALITY]],
  [
    131042,
    [
      'The sender’s business account has a payment problem.',
      'Check the payment method, credit line, currency and time zone of the WhatsApp account in Meta’s billing settings, then resume the sender.',
    ],
  ],
  [
    131064,
    [
      'The sender’s business account is limited because its templates are in the wrong category.',
      'Review the categories of its templates; Meta lifts the limit when the period ends.',
    ],
  ],
  [
    134011,
    [
      'The sender’s business account has not accepted the terms for payments.',
      'Accept the terms in WhatsApp Manager, then resume the sender.',
    ],
  ],
  [
    130497,
    [
      'The sender’s business may not message numbers in this country.',
      'Verify the business with Meta, or add a sender of a business that may message this country.',
    ],
  ],
  [
    131030,
    [
      'The sender is a test number and may message only listed numbers.',
      'Use a production number, or add the recipient to the list in Meta’s app dashboard.',
    ],
  ],

  [
    4,
    [
      'The app had made too many calls, so WhatsApp did not accept this one.',
      'This send is retried automatically. If it keeps happening, check the app’s rate limits in Meta’s dashboard.',
    ],
  ],
  [
    80007,
    [
      'The business account had made too many calls, so WhatsApp did not accept this one.',
      'This send is retried automatically. If it keeps happening, add senders of another business account.',
    ],
  ],
  [
    130429,
    [
      'The sender had reached its limit of messages per second.',
      'This send is retried automatically. If it keeps happening, lower the sender’s throughput to what Meta grants, or add senders.',
    ],
  ],
  [
    131056,
    [
      'The sender had messaged this number too often in a short time.',
      'This send is retried automatically. Make people wait longer between two codes.',
    ],
  ],

  [1, ['WhatsApp had an error that it did not explain.', RETRIED]],
  [2, ['WhatsApp was down or overloaded.', RETRIED]],
  [131000, ['WhatsApp had an internal error.', RETRIED]],
  [131016, ['A part of WhatsApp was unavailable.', RETRIED]],
  [133004, ['A WhatsApp server was unavailable.', RETRIED]],
  [135000, ['WhatsApp refused the message without saying why.', RETRIED]],

  [
    33,
    [
      'The sender’s number was deleted from WhatsApp.',
      'Replace the sender: add another number and pause this one.',
    ],
  ],
  [
    131037,
    [
      'The display name of the sender is not approved.',
      'Have the display name approved in WhatsApp Manager, then resume the sender.',
    ],
  ],
  [131045, ['The sender’s number is not registered correctly.', CHECK_NUMBER]],
  [
    131048,
    [
      'The sender is limited because too many people block or report it.',
      'Check the number’s quality in WhatsApp Manager, and who requests codes that nobody types; other senders send meanwhile.',
    ],
  ],
  [
    131057,
    [
      'The sender is under maintenance at WhatsApp.',
      'Wait: it passes within minutes, and other senders send meanwhile.',
    ],
  ],
  [133000, ['The sender’s number was not completely deregistered.', CHECK_NUMBER]],
  [133005, ['The two-step PIN of the sender’s number is wrong.', PIN]],
  [133006, ['The sender’s number must be verified again.', CHECK_NUMBER]],
  [
    133008,
    [
      'The two-step PIN of the sender’s number was entered wrong too often.',
      'Wait as long as Meta says, then set a new PIN.',
    ],
  ],
  [133009, ['The two-step PIN of the sender’s number was entered too many times in a short time.', PIN]],
  [133010, ['The sender’s number is not registered with WhatsApp.', CHECK_NUMBER]],
  [
    133015,
    [
      'The sender’s number was just deleted and cannot be registered yet.',
      'Wait five minutes, register the number, then resume the sender.',
    ],
  ],
  [
    133016,
    [
      'The sender’s number was registered too often.',
      'Wait until Meta lifts the block (up to 72 hours); other senders send meanwhile.',
    ],
  ],
  [
    2494100,
    [
      'The sender’s number is being moved and is under maintenance.',
      'Wait until the move is complete, then resume the sender.',
    ],
  ],

  [
    130403,
    [
      'The sender’s business has blocked this number.',
      'Unblock the number in WhatsApp if it was blocked by mistake.',
    ],
  ],
  [130472, ['The number is part of a WhatsApp experiment and gets no such messages.', OTHER_NUMBER]],
  [
    131021,
    ['The number is the one that the code is sent from.', 'Send the code to the person’s own number.'],
  ],
  [
    131026,
    [
      'WhatsApp could not deliver to this number: it has no WhatsApp account, uses a very old version, or its owner has not accepted WhatsApp’s terms.',
      'Ask the person to check the number or give another one; landlines and numbers without WhatsApp get no code.',
    ],
  ],
  [
    131049,
    [
      'WhatsApp chose not to deliver to this number for now.',
      'Wait a day before the next code to this number, or use another number.',
    ],
  ],
  [
    131050,
    [
      'The person has stopped messages from this business.',
      'Ask the person to allow messages from the business in WhatsApp, or to give another number.',
    ],
  ],
  [
    137000,
    [
      'The number has changed hands, or WhatsApp was set up anew, since this person last verified a code.',
      'Find out in another way, not over this number, whether it is still the same person. If it is, ask us to trust the number again.',
    ],
  ],

  [100, ['WhatsApp did not accept a parameter of the message.', OUR_REQUEST]],
  [131008, ['A parameter was missing from the message.', OUR_REQUEST]],
  [131009, ['A parameter of the message had a value that WhatsApp does not accept.', OUR_REQUEST]],
  [131047, ['WhatsApp treated the message as one without a template.', OUR_REQUEST]],
  [131051, ['WhatsApp does not know this type of message.', OUR_REQUEST]],
  [131052, ['WhatsApp could not fetch a file.', OUR_REQUEST]],
  [131053, ['WhatsApp could not process a file.', OUR_REQUEST]],
  [131055, ['WhatsApp treated the message as marketing, which has an API of its own.', MARKETING]],
  [131062, ['WhatsApp sends codes to phone numbers only.', OUR_REQUEST]],
  [134100, ['WhatsApp’s marketing API received the message and refused it.', MARKETING]],
  [134101, ['WhatsApp’s marketing API does not know the template yet.', MARKETING]],
  [134102, ['WhatsApp’s marketing API cannot use the template.', MARKETING]],

  [131063, ['WhatsApp counts the template as marketing, which is switched off for the business.', MARKETING]],
  [132000, ['The sender’s template expects a different number of parameters.', TEMPLATE_FORM]],
  [
    132001,
    [
      'The sender’s template does not exist in this language, or is not approved.',
      'Have the template approved in Portuguese and English, check the name and language set for the sender, then resume it.',
    ],
  ],
  [132005, ['The text of the sender’s template is too long with the code in it.', TEMPLATE_MANAGER]],
  [132007, ['The text of the sender’s template violates WhatsApp’s rules.', TEMPLATE_MANAGER]],
  [132012, ['The sender’s template expects its parameters in a different format.', TEMPLATE_FORM]],
  [
    132015,
    [
      'WhatsApp has paused the sender’s template because of negative feedback.',
      'Wait until the pause ends or edit the template in WhatsApp Manager; meanwhile, give the sender another approved template.',
    ],
  ],
  [
    132016,
    [
      'WhatsApp has disabled the sender’s template permanently.',
      'Create a new template, have it approved, and give it to the sender.',
    ],
  ],
  [132018, ['The parameters of the sender’s template are not valid.', TEMPLATE_FORM]],
  [132068, ['The flow in the sender’s template is blocked.', TEMPLATE_FORM]],
  [132069, ['The flow in the sender’s template is throttled.', TEMPLATE_FORM]],
  [
    2388019,
    [
      'The sender’s business account has too many templates.',
      'Delete templates that nobody uses in WhatsApp Manager.',
    ],
  ],
  [2388039, ['The status of the sender’s template cannot be changed now.', TEMPLATE_MANAGER]],
  [2388040, ['A field of the sender’s template is too long.', TEMPLATE_MANAGER]],
  [2388047, ['The header of the sender’s template has the wrong format.', TEMPLATE_MANAGER]],
  [2388072, ['The body of the sender’s template has the wrong format.', TEMPLATE_MANAGER]],
  [2388073, ['The footer of the sender’s template has the wrong format.', TEMPLATE_MANAGER]],
  [2388293, ['The sender’s template has too many parameters for its length.', TEMPLATE_MANAGER]],
  [2388299, ['The sender’s template begins or ends with a parameter.', TEMPLATE_MANAGER]],
];

export const EN: ExplanationTexts = {
  codes: new Map(codes),
  outcomes: {
    accepted: ['WhatsApp accepted the message.', 'Wait for its receipts.'],
    retry: ['WhatsApp did not accept the message, for a reason that may pass.', RETRIED],
    unknown: [
      'WhatsApp’s answer was lost, so the message may or may not have gone out.',
      'Wait: a receipt settles it, or the same code is sent again.',
    ],
    sender: [
      'WhatsApp did not let this sender send.',
      'Check the number in WhatsApp Manager, then resume the sender; other senders send meanwhile.',
    ],
    recipient: ['WhatsApp reported that it did not deliver the message.', OTHER_NUMBER],
    config: [
      'WhatsApp refused the message because of how the sender is set up.',
      'Check the sender’s token, business account and template in Meta’s business settings, then resume the sender.',
    ],
  },
  unknownSender: [
    'The sender’s phone number id does not exist for its access token.',
    'Check the phone number id and the token’s permissions, then resume the sender.',
  ],
};
