import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

interface Where {
  host?: string | undefined;
  port?: number | undefined;
}

const ANSWER_MS_MAX = 1_000;

/**
 * Whether a server that did not answer would answer with TLS, or without it. It hears at most a PING, which no server keeps.
 *
 * @param isTls whether it was reached with TLS
 * @returns a sentence that begins with "REDIS_URL …", or null
 */
export async function findTlsMismatch({ host, port }: Where, isTls: boolean): Promise<string | null> {
  if (port === undefined) return null;
  const where = { host: host ?? 'localhost', port };
  if (!isTls)
    return (await speaksTls(where))
      ? 'names a server with TLS: write rediss://, redis+sentinel+tls:// or redis+cluster+tls://'
      : null;
  return (await speaksPlain(where))
    ? 'names a server without TLS: write redis://, redis+sentinel:// or redis+cluster://'
    : null;
}

function speaksTls(where: { host: string; port: number }): Promise<boolean> {
  // Whose certificate it has does not matter: nothing is said to it.
  const socket = connectTls({ ...where, rejectUnauthorized: false });
  return answered(socket, (answer) => socket.once('secureConnect', () => answer(true)));
}

function speaksPlain(where: { host: string; port: number }): Promise<boolean> {
  const socket = connectPlain(where, () => socket.write('PING\r\n'));
  return answered(socket, (answer) =>
    // An answer, or an error as that a password is missing.
    socket.once('data', (data) => answer(/^[+-]/.test(data.toString('latin1')))),
  );
}

/** What is answered in time, and false when the connection fails. */
async function answered(socket: Socket, listen: (answer: (is: boolean) => void) => void): Promise<boolean> {
  const answer = new Promise<boolean>((resolve) => {
    socket.setTimeout(ANSWER_MS_MAX, () => resolve(false));
    socket.once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
    listen(resolve);
  });
  try {
    return await answer;
  } finally {
    socket.destroy();
  }
}
