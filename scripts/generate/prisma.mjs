import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { readIfAny } from './file.mjs';

const cli = createRequire(import.meta.url).resolve('prisma/build/index.js');

/**
 * Writes the Prisma client from prisma/schema.prisma, unless it is there already for the same schema and Prisma.
 * Generating needs no schema engine, but Prisma's command downloads one unless this variable names a file that exists.
 * @param {string} root the folder that holds package.json
 */
export function generatePrismaClient(root) {
  const stamp = join(root, 'packages/store/src/generated/prisma/.made-from');
  const madeFrom = createHash('sha256')
    .update(readFileSync(join(root, 'prisma/schema.prisma')))
    .update(readFileSync(join(cli, '../../package.json')))
    .digest('hex');
  if (readIfAny(stamp) === madeFrom) return;

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
