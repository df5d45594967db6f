import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A certificate for 127.0.0.1 with its key, and the authority that signed it. */
export interface Certificates {
  certificate: string;
  key: string;
  caFile: string;
  /** The authority's certificate in PEM. */
  ca: string;
}

/** Makes an authority and a certificate with openssl, in a folder. */
export function makeCertificates(folder: string): Certificates {
  const at = (name: string): string => join(folder, name);
  const openssl = (...args: string[]): void =>
    void execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl(
    'req',
    '-x509',
    ...newKey,
    '-keyout',
    'ca.key',
    '-out',
    'ca.crt',
    '-days',
    '2',
    '-subj',
    '/CN=Test authority',
  );
  openssl('req', ...newKey, '-keyout', 'redis.key', '-out', 'redis.csr', '-subj', '/CN=redis');
  writeFileSync(at('redis.ext'), 'subjectAltName=IP:127.0.0.1,DNS:localhost\n');
  const sign = [
    '-CA',
    'ca.crt',
    '-CAkey',
    'ca.key',
    '-CAcreateserial',
    '-extfile',
    'redis.ext',
    '-days',
    '2',
  ];
  openssl('x509', '-req', '-in', 'redis.csr', ...sign, '-out', 'redis.crt');
  return {
    certificate: at('redis.crt'),
    key: at('redis.key'),
    caFile: at('ca.crt'),
    ca: readFileSync(at('ca.crt'), 'utf8'),
  };
}
