/** The senders of the demonstration. The simulator uses their numbers, so that its webhooks match the senders. */
export const demoSenders = [
  { phoneNumberId: '106540352242922', number: '+15550783881' },
  { phoneNumberId: '106540352242923', number: '+15550783882' },
];

/** A business account at the simulator with one number that is not set up, to try the setup of a sender. */
export const newAccount = {
  id: '300000000000001',
  phoneNumberId: '400000000000001',
  number: '+15550783883',
  name: 'Loja Azul',
};
