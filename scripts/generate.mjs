import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import standalone from 'ajv/dist/standalone/index.js';
import { parse } from 'yaml';

/**
 * `npm run generate`: writes the sources that are made from others and that git ignores. The compiler, the tests and the lint
 * need them.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const prismaCli = createRequire(import.meta.url).resolve('prisma/build/index.js');

/** The request bodies of openapi.yaml, by the names of their validators. */
const BODIES = {
  validateCreateSend: 'openapi#/components/schemas/CreateSend',
  validateVerifyCode: 'openapi#/components/schemas/VerifyCode',
};

generatePrismaClient();
generateContract();
writeCommit();

/**
 * Writes the Prisma client from prisma/schema.prisma, unless it is there already for the same schema and Prisma.
 * Generating needs no schema engine, but Prisma's command downloads one unless this variable names a file that exists.
 */
function generatePrismaClient() {
  const stamp = join(root, 'packages/store/src/generated/prisma/.made-from');
  const madeFrom = createHash('sha256')
    .update(readFileSync(join(root, 'prisma/schema.prisma')))
    .update(readFileSync(join(prismaCli, '../../package.json')))
    .digest('hex');
  if (readIfAny(stamp) === madeFrom) return;

  const { status, stdout, stderr } = spawnSync(process.execPath, [prismaCli, 'generate'], {
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

/**
 * Writes what the API needs of apps/api/openapi.yaml: the document as JSON, and the validators of request bodies as code.
 * Reading YAML and compiling schemas would take the API longer than all the rest of its start.
 */
function generateContract() {
  const target = join(root, 'apps/api/src/generated/contract.ts');
  const document = parse(readFileSync(join(root, 'apps/api/openapi.yaml'), 'utf8'));
  const ajv = new Ajv2020({
    allErrors: true,
    messages: false,
    code: { source: true, esm: true, lines: true },
  });
  // The document around its schemas: strict mode has to know the names of its parts.
  ajv.addVocabulary(Object.keys(document));
  ajv.addSchema(document, 'openapi');
  const made = [
    '// Made from openapi.yaml by scripts/generate.mjs.',
    '// @ts-nocheck',
    standalone.default(ajv, BODIES),
    `export const DOCUMENT = ${JSON.stringify(JSON.stringify(document))};`,
    '',
  ].join('\n');
  // The compiler takes a file that was written anew for a changed one.
  if (readIfAny(target) === made) return;
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, made);
}

/** Processes report the commit that they were built from. An image is built without a history, so its build gets the commit as a variable. */
function writeCommit() {
  const { stdout } = spawnSync('git', ['rev-parse', '--short=12', 'HEAD'], { cwd: root, encoding: 'utf8' });
  mkdirSync(join(root, 'packages/runtime/dist'), { recursive: true });
  writeFileSync(join(root, 'packages/runtime/dist/commit'), process.env['COMMIT'] || (stdout ?? '').trim());
}

/**
 * A file's text; null when there is no such file.
 * @param {string} file
 */
function readIfAny(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
