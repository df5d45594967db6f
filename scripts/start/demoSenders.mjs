/** The senders of the demonstration. The simulator uses their numbers, so that its webhooks match the senders. */
export const demoSenders = [
  { phoneNumberId: '106540352242922', number: '+15550783881' },
  { phoneNumberId: '106540352242923', number: '+15550783882' },
];
