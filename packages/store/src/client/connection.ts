import pg from 'pg';

/** Settings of a session, by their names. */
export type Settings = Readonly<Record<string, string>>;

/**
 * Poolers keep these for each of their clients, whichever session they give them. Statements that say a day without an offset mean UTC,
 * and times are read in ISO form.
 */
export const TIME_SETTINGS: Settings = { TimeZone: 'UTC', DateStyle: 'ISO' };

/** Milliseconds to connect, and for an answer. */
const ANSWER_MS_MAX = 3_000;

/** The driver's client, with what its types leave out. */
interface DriverClient extends pg.Client {
  /** The parameters of a connection's start. */
  getStartupConf(): Record<string, string>;
  /** The process of PostgreSQL that serves the connection, as the server or a pooler named it at the start. */
  readonly processID: number;
}
const DriverClient = pg.Client as unknown as new (config?: pg.ClientConfig) => DriverClient;

/** A connection that has settings from its start on, without a round trip. */
export class SettingsClient extends DriverClient {
  settings: Settings = TIME_SETTINGS;

  override getStartupConf(): Record<string, string> {
    return { ...super.getStartupConf(), ...this.settings };
  }
}

/** Opens a connection for a few questions. */
export async function openClient(connectionString: string, settings: Settings): Promise<SettingsClient> {
  const client = new SettingsClient({
    connectionString,
    connectionTimeoutMillis: ANSWER_MS_MAX,
    query_timeout: ANSWER_MS_MAX,
  });
  client.settings = settings;
  client.on('error', () => {});
  try {
    await client.connect();
    return client;
  } catch (error) {
    closeClient(client);
    throw error;
  }
}

/** Closes a connection without waiting for it. */
export function closeClient(client: pg.Client): void {
  client.end().catch(() => {});
}
