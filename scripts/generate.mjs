import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Writes the Prisma client from prisma/schema.prisma, unless it is there already for the same schema and Prisma.
 * Generating needs no schema engine, but Prisma's command downloads one unless this variable names a file that exists.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const stamp = join(root, 'packages/store/src/generated/prisma/.made-from');
const cli = createRequire(import.meta.url).resolve('prisma/build/index.js');

const madeFrom = createHash('sha256')
  .update(readFileSync(join(root, 'prisma/schema.prisma')))
  .update(readFileSync(join(cli, '../../package.json')))
  .digest('hex');

if (read(stamp) !== madeFrom) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, 'generate'], {
    cwd: root,
    encoding: 'utf8',
    env: {
      ...process.env,
      PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
      PRISMA_HIDE_UPDATE_MESSAGE: '1',
      CHECKPOINT_DISABLE: '1',
    },
  });
  if (status !== 0) {
    process.stderr.write(`${stdout}${stderr}`);
    process.exit(status ?? 1);
  }
  writeFileSync(stamp, madeFrom);
}

/** @param {string} file */
function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
