/** The senders of the demonstration. The simulator knows their numbers, so that what it says of a number finds its sender. */
export const demoSenders = [
  { phoneNumberId: '106540352242922', number: '+15550783881' },
  { phoneNumberId: '106540352242923', number: '+15550783882' },
];
