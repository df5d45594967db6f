#!/usr/bin/env node
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { startOnecode } from './index.js';
import { checkOutcomes } from './outcomes.js';
import type { OnecodeServer } from './types.js';

const USAGE = `Usage: onecode-double [--host HOST] [--port PORT] [--control-port PORT] [--live-key KEY] [--test-key KEY]

Starts the test double for programs in any language: the service at --port (4001), and what scripts it at --control-port (4002).
It listens at 127.0.0.1; --host 0.0.0.0 lets other machines and containers reach it. Keys are random unless given.`;

/** The fields of a request to the control port. */
interface Ask {
  to: string;
  outcomes: unknown;
  seconds: number;
}

/** Returns what each path of the control port does, with the body of its POST. */
const controlsOf = (double: OnecodeServer): Readonly<Record<string, (ask: Ask) => unknown>> => ({
  '/keys': () => double.keys,
  '/script': ({ to, outcomes }) => double.script(to, ...checkOutcomes(outcomes)),
  '/advance': ({ seconds }) => double.advance(seconds),
  '/code': ({ to }) => double.lastCode(to),
  '/sends': () => double.sends,
});

function createControlServer(double: OnecodeServer): Server {
  const controls = controlsOf(double);
  return createServer((request, response) => {
    const { method, url = '' } = request;
    const control = Object.hasOwn(controls, url) ? controls[url] : undefined;
    if (method !== 'POST' || control === undefined)
      return void response
        .writeHead(404)
        .end(`POST to one of ${Object.keys(controls).join(', ')} is expected.\n`);
    readJson(request)
      .then((ask) => response.end(`${JSON.stringify(control(ask) ?? null)}\n`))
      .catch((error: unknown) => response.writeHead(400).end(`${String(error)}\n`));
  });
}

/** Parses the JSON of a body; an empty body is an empty object. */
async function readJson(request: IncomingMessage): Promise<Ask> {
  let text = '';
  for await (const part of request.setEncoding('utf8')) text += part as string;
  return JSON.parse(text || '{}') as Ask;
}

async function main(): Promise<void> {
  const { host, port, controlPort, keys } = readArguments();
  const double = await startOnecode({ host, port, keys });
  const control = createControlServer(double);
  await new Promise<void>((resolve, reject) => {
    control.once('error', reject).listen(controlPort, host, resolve);
  });
  const { port: listening } = control.address() as AddressInfo;
  console.log(`The test double is ready at ${double.baseUrl}, its control port is ${listening}.`);
  // As the first process of a container, Node does not exit on a signal by default.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(0));
}

interface Arguments {
  host: string;
  port: number;
  controlPort: number;
  keys: { live?: string; test?: string };
}

function readArguments(): Arguments {
  const { values } = parseArgs({
    options: {
      host: { type: 'string', default: '127.0.0.1' },
      port: { type: 'string', default: '4001' },
      'control-port': { type: 'string', default: '4002' },
      'live-key': { type: 'string' },
      'test-key': { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    process.exit(0);
  }
  const [port, controlPort] = [values.port, values['control-port']].map(portOf) as [number, number];
  const { 'live-key': live, 'test-key': test } = values;
  return { host: values.host, port, controlPort, keys: { ...(live && { live }), ...(test && { test }) } };
}

function portOf(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new RangeError(`${text} is not a port.`);
  return Number(text);
}

main().catch((error: unknown) => {
  console.error(`onecode-double: ${(error as Error).message}\n\n${USAGE}`);
  process.exit(1);
});
