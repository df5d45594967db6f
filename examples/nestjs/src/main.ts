import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from './app.module.js';

const { PORT = '8000' } = process.env;

const app = await NestFactory.create<NestExpressApplication>(AppModule, {
  bodyParser: false,
  logger: ['error', 'warn'],
});
app.useBodyParser('urlencoded', { extended: false, limit: '4kb' });
await app.listen(Number(PORT), '127.0.0.1');
console.log(`http://127.0.0.1:${PORT}`);
