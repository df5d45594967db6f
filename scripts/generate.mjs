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
 * Writes the Prisma client from prisma/schema.prisma, unless it exists for the same schema and version of Prisma. This needs no schema
 * engine, but Prisma's command downloads one unless a variable names an existing file.
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
 * Writes apps/api/openapi.yaml for the API: the document as JSON, and the validators of request bodies as code.
 * Reading YAML and compiling schemas would take longer than the rest of the API's start.
 */
function generateContract() {
  const target = join(root, 'apps/api/src/generated/contract.ts');
  const document = parse(readFileSync(join(root, 'apps/api/openapi.yaml'), 'utf8'));
  const ajv = new Ajv2020({
    allErrors: true,
    messages: false,
    code: { source: true, esm: true, lines: true },
  });
  // Strict mode must know the names of the document's parts around the schemas.
  ajv.addVocabulary(Object.keys(document));
  ajv.addSchema(document, 'openapi');
  const made = [
    '// Made from openapi.yaml by scripts/generate.mjs.',
    '// @ts-nocheck',
    standalone.default(ajv, BODIES),
    `export const DOCUMENT = ${JSON.stringify(JSON.stringify(document))};`,
    '',
  ].join('\n');
  // Unchanged files are not rewritten, because the compiler would treat them as changed.
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
 * Returns a file's text; null if it does not exist.
 * @param {string} file
 */
function readIfAny(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
