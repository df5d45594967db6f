/** What to do about Meta's errors, written for the party that can act. */
export const REMEDIES = {
  new_token: 'Give the sender a new access token. It sends again when Meta accepts the token.',
  permissions:
    'In Meta’s business settings, give the token’s system user the permission whatsapp_business_messaging for this account, then resume the sender.',
  account_quality:
    'Open the account quality page of the business in Meta’s Business Suite, do what it asks for or request a review; meanwhile, use senders of another business.',
  portfolio_review:
    'In WhatsApp Manager, do what it asks of the business portfolio and lift the pause of its messages, then resume its blocked senders; meanwhile, use senders of another portfolio.',
  check_number: 'Check the number in WhatsApp Manager, register it again, then resume the sender.',
  pin: 'Reset the two-step PIN of the number in WhatsApp Manager, register it again, then resume the sender.',
  our_request:
    'This is a fault of the service itself: report the code and the time to its developers. Other sends are not affected.',
  retried: 'The send is retried automatically. If this happens to many sends, check Meta’s status page.',
  template_manager:
    'Open the template in WhatsApp Manager, fix what it reports, wait for approval, then resume the sender.',
  template_form:
    'Use an authentication template with one code and one copy-code, one-tap or zero-tap button, have it approved, then resume the sender.',
  other_number: 'Ask the person for another number, or contact them in another way.',
  marketing:
    'Check that the template’s category is still authentication and not marketing, then resume the sender.',
  fix_payment:
    'Check the payment method, credit line, currency and time zone of the WhatsApp account in Meta’s billing settings, then resume the sender.',
  review_categories: 'Review the categories of its templates; Meta lifts the limit when the period ends.',
  accept_terms: 'Accept the terms in WhatsApp Manager, then resume the sender.',
  verify_business:
    'Verify the business with Meta, or add a sender of a business that may message this country.',
  production_number: 'Use a production number, or add the recipient to the list in Meta’s app dashboard.',
  raise_app_limits:
    'This send is retried automatically. If it keeps happening, check the app’s rate limits in Meta’s dashboard.',
  more_accounts:
    'This send is retried automatically. If it keeps happening, add senders of another business account.',
  lower_throughput:
    'This send is retried automatically. If it keeps happening, lower the sender’s throughput to what Meta grants, or add senders.',
  wait_between_codes: 'This send is retried automatically. Make people wait longer between two codes.',
  replace_sender: 'Replace the sender: add another number and pause this one.',
  approve_name: 'Have the display name approved in WhatsApp Manager, then resume the sender.',
  check_quality:
    'Check the number’s quality in WhatsApp Manager, and find out who requests codes without verifying them; other senders send meanwhile.',
  wait_minutes: 'Wait a few minutes; other senders send meanwhile.',
  wait_for_pin: 'Wait for the time that Meta requires, then set a new PIN.',
  wait_to_register: 'Wait five minutes, register the number, then resume the sender.',
  wait_for_block: 'Wait until Meta lifts the block (up to 72 hours); other senders send meanwhile.',
  wait_for_move: 'Wait until the move is complete, then resume the sender.',
  unblock_number: 'Unblock the number in WhatsApp if it was blocked by mistake.',
  own_number: 'Send the code to the person’s own number.',
  check_or_other_number:
    'Ask the person to check the number or give another one; landlines and numbers without WhatsApp get no code.',
  wait_a_day: 'Wait a day before the next code to this number, or use another number.',
  prove_identity:
    'Confirm in another way, not through this number, that it is still the same person. Then ask the operator to trust the number again.',
  allow_messages:
    'Ask the person to allow messages from the business in WhatsApp, or to give another number.',
  approve_template:
    'Have the template approved in Portuguese and English, check the name and language set for the sender, then resume it.',
  wait_or_edit_template:
    'Wait until the pause ends or edit the template in WhatsApp Manager; meanwhile, give the sender another approved template.',
  new_template: 'Create a new template, have it approved, and give it to the sender.',
  delete_templates: 'Delete unused templates in WhatsApp Manager.',
  wait_for_receipt: 'Wait: a receipt will report the result, or the same code is sent again.',
  check_sender:
    'Check the sender’s token, business account and template in Meta’s business settings, then resume the sender.',
  check_phone_number_id: 'Check the phone number id and the token’s permissions, then resume the sender.',
} as const;

export type RemedyName = keyof typeof REMEDIES;
