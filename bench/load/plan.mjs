/**
 * @typedef {object} Request  one request of a load
 * @property {'GET' | 'POST'} method
 * @property {string} path
 * @property {Record<string, string>} headers
 * @property {string} [body]
 */

/**
 * A load as autocannon and the paced maker read it.
 * @param {readonly Request[]} requests
 * @returns {string}
 */
export const asJson = (requests) => JSON.stringify(requests);

/**
 * A load as wrk plays it: the bytes of each request, with a NUL between two.
 * @param {readonly Request[]} requests
 * @returns {string}
 */
export function asBytes(requests) {
  return requests
    .map(({ method, path, headers, body = '' }) => {
      const all = {
        host: 'localhost',
        ...headers,
        ...(body !== '' && { 'content-length': Buffer.byteLength(body) }),
      };
      const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
      return [`${method} ${path} HTTP/1.1`, ...lines, '', body].join('\r\n');
    })
    .join('\0');
}
