import { randomInt } from 'node:crypto';
import { PrismaPg } from '@prisma/adapter-pg';
import { Queue } from 'bullmq';
import express from 'express';
import { Redis } from 'ioredis';
import { encrypt, hashCode, newId, sha256 } from '../baseline/primitives.mjs';

/**
 * The creation of a send as most services write it: Express, and Prisma's interactive transaction with a statement for each step. It has no
 * limits, because such a service keeps them in Redis. It takes PORT, DATABASE_URL, REDIS_URL and CLIENT, the file of the Prisma client.
 */
const { PORT, DATABASE_URL = '', REDIS_URL = '', CLIENT = '' } = process.env;
const { PrismaClient } = await import(CLIENT);
const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: DATABASE_URL, max: 20 }) });
const queue = new Queue('express-prisma', { connection: new Redis(REDIS_URL, { maxRetriesPerRequest: 1 }) });

const app = express();
app.use(express.json());
app.post('/v1/send', async (request, response) => {
  const { to } = request.body;
  if (!/^\+[1-9]\d{4,14}$/.test(to)) return void response.status(422).json({ code: 'invalid_recipient' });
  const hash = sha256(String(request.headers.authorization).slice('Bearer '.length));
  const idempotencyKey = request.headers['idempotency-key'] ?? null;
  const id = newId();
  const code = String(randomInt(1e6)).padStart(6, '0');
  const send = await prisma.$transaction(async (/** @type {any} */ tx) => {
    const key = await tx.apiKey.findUnique({ where: { hash } });
    if (key === null) return null;
    const { accountId } = key;
    if (idempotencyKey !== null) {
      const where = { accountId_idempotencyKey: { accountId, idempotencyKey } };
      const existing = await tx.send.findUnique({ where });
      if (existing !== null) return existing;
    }
    const charge = { where: { id: accountId, credits: { gt: 0 } }, data: { credits: { decrement: 1 } } };
    if ((await tx.account.updateMany(charge)).count === 0) return null;
    const created = await tx.send.create({
      data: {
        id,
        accountId,
        idempotencyKey,
        recipient: to,
        bodyHash: sha256(JSON.stringify(request.body)),
        codeHash: hashCode(id, code),
        encryptedCode: encrypt(id, code),
        expiresAt: new Date(Date.now() + 600_000),
      },
    });
    await tx.ledgerEntry.create({ data: { accountId, sendId: id, kind: 'reserved', units: 1 } });
    return created;
  });
  if (send === null) return void response.status(402).json({ code: 'refused' });
  await queue.add('deliver', { sendId: send.id }, { removeOnComplete: 1000 });
  const { status, createdAt, expiresAt } = send;
  response
    .status(202)
    .json({ id: send.id, status, verification: 'pending', created_at: createdAt, expires_at: expiresAt });
});
app.get('/readyz', (_request, response) => void response.send('ok'));
app.listen(Number(PORT), '127.0.0.1');
