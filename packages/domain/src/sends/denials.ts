/** A recipient's statement that they did not request the code in one of our messages. */
export interface Denial {
  /** The provider's id of our message. Personal data: it encodes the phone number. */
  messageId: string;
  /** The provider's time, in whole seconds. */
  occurredAt: Date;
}
