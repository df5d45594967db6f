import pg from 'pg';
import { POOLED_SETTINGS, type Settings } from './settings.js';

/** Milliseconds to connect, and for an answer. */
const ANSWER_MS_MAX = 3_000;

/** A setting that the server reports when a connection begins. */
interface ParameterStatus {
  parameterName: string;
  parameterValue: string;
}

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
  settings: Settings = POOLED_SETTINGS;
  /** The major version of PostgreSQL, known when the connection is open. */
  serverVersion = 0;

  constructor(config?: pg.ClientConfig) {
    super(config);
    this.connection.on('parameterStatus', ({ parameterName, parameterValue }: ParameterStatus) => {
      if (parameterName === 'server_version') this.serverVersion = Number.parseInt(parameterValue, 10);
    });
  }

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
