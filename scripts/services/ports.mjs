import { createServer } from 'node:net';

/**
 * Returns a free port: the wanted one if it is free, else one that the system chooses.
 * @param {number} [wanted]
 * @returns {Promise<number>}
 */
export async function freePort(wanted = 0) {
  if (wanted !== 0 && (await isFree(wanted))) return wanted;
  return listenOnce(0, '127.0.0.1');
}

/**
 * Returns whether a server can listen on a port, on the loopback address and on all addresses.
 * @param {number} port
 */
export async function isFree(port) {
  try {
    await listenOnce(port, '127.0.0.1');
    await listenOnce(port);
    return true;
  } catch {
    return false;
  }
}

/**
 * @param {number} port
 * @param {string} [host]
 * @returns {Promise<number>} the port it was
 */
function listenOnce(port, host) {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(port, host, () => {
      const { port: taken } = /** @type {import('node:net').AddressInfo} */ (server.address());
      server.close(() => resolve(taken));
    });
  });
}
