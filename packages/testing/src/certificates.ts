import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A certificate for 127.0.0.1 and localhost, its key, and the authority that signed it. */
export interface Certificates {
  certificate: string;
  key: string;
  caFile: string;
  /** The authority's certificate in PEM. */
  ca: string;
}

/** Creates an authority and a certificate with openssl, in a folder. @param names further host names of the certificate */
export function makeCertificates(folder: string, names: readonly string[] = []): Certificates {
  const at = (name: string): string => join(folder, name);
  const openssl = (words: string): void =>
    void execFileSync('openssl', words.split(' '), { cwd: folder, stdio: 'pipe' });
  const newKey = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes';
  const hosts = ['localhost', ...names].map((name) => `DNS:${name}`);
  writeFileSync(at('own.ext'), `subjectAltName=IP:127.0.0.1,${hosts.join(',')}\n`);
  openssl(`req -x509 ${newKey} -keyout ca.key -out ca.crt -days 2 -subj /CN=authority`);
  openssl(`req ${newKey} -keyout own.key -out own.csr -subj /CN=own`);
  openssl(
    'x509 -req -in own.csr -CA ca.crt -CAkey ca.key -CAcreateserial -extfile own.ext -days 2 -out own.crt',
  );
  return {
    certificate: at('own.crt'),
    key: at('own.key'),
    caFile: at('ca.crt'),
    ca: readFileSync(at('ca.crt'), 'utf8'),
  };
}
