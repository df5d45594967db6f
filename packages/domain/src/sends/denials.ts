/** A person's word that they did not request the code in a message of ours. */
export interface Denial {
  /** The provider's id of our message. Personal data: it encodes the phone number. */
  messageId: string;
  /** The provider's time, in whole seconds. */
  occurredAt: Date;
}
