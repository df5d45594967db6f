import express from 'express';
import { InvalidInput } from './input.js';
import { readEnvironment } from './settings.js';
import { health, listen, startSimulator } from './simulator.js';

const STOP_DEADLINE_MS = 8000;

/** Runs the simulator until SIGTERM or SIGINT. */
async function run(): Promise<void> {
  const { metricsPort, metricsHost, ...options } = readEnvironment(process.env);
  const simulator = await startSimulator(options);
  let stopping = false;
  const metrics =
    metricsPort === null
      ? null
      : await listen(express().use(health(() => !stopping)), metricsPort, metricsHost);

  const stop = () => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(1), STOP_DEADLINE_MS).unref();
    void Promise.all([simulator.close(), metrics?.close()]).then(() => process.exit(0));
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  console.log(`simulator ready: ${simulator.url}${metrics ? `, health: ${metrics.url}` : ''}`);
}

/** Returns one line for each reason why the process cannot start. */
function explain(error: unknown): readonly string[] {
  if (error instanceof InvalidInput) return error.faults;
  const { code, message, port, address } = error as NodeJS.ErrnoException & {
    port?: number;
    address?: string;
  };
  if (code === 'EADDRNOTAVAIL') return [`this machine has no address ${address}`];
  return [code === 'EADDRINUSE' ? `port ${port} is in use` : message];
}

try {
  await run();
} catch (error) {
  for (const line of explain(error)) console.error(`simulator: ${line}`);
  process.exit(1);
}
