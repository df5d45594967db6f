import { fileURLToPath } from 'node:url';
import { generateContract } from './generate/contract.mjs';
import { generatePrismaClient } from './generate/prisma.mjs';

/** Writes the sources that are made from others and not kept in git: before the compiler, the tests and the lint. */
const root = fileURLToPath(new URL('..', import.meta.url));

generatePrismaClient(root);
generateContract(root);
